//! Segments by units that each walk a part of the elements, for devices whose units best do so: software adapters.
//!
//! ```text
//! parts      |     0     |     1     |     2     |
//! segments    aaaa bbb ccccccccccccccccccccccc dd
//! written by  0    0   └ tail of 0 ⊕ heads of 1 and 2 ┘ 2
//! ```
//!
//! A unit finds the segment of its first element by bisection, and then the next ones as it meets them. It reads each element once, where
//! marks and a scan read and write it several times over.

#![allow(
    clippy::needless_range_loop,
    reason = "kernels have no iterators over slices"
)]

use super::offsets::{Typed, UNITS, bounded};
use crate::monoid::{Element, Monoid, Operator, State, join, read_state, write_state};
use crate::operator::accumulator_of;
use crate::scan::problem::{elements_before, widest_vector};
use crate::scan::{cube_count, scratch};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Elements of a part, and the most parts there are: no loop may come near the 65,535 rounds after which some drivers end it.
const PART: usize = 1024;
const MOST_PARTS: usize = 1 << 14;

/// Where a segment ends; `len` behind the last, where nothing ends.
#[cube]
fn end_of<I: Numeric>(offsets: &[I], segments: usize, segment: usize, len: usize) -> usize {
    let end = bounded::<I>(offsets[min(segment + 1, segments)], len);
    select(segment < segments, end, len)
}

/// The segment of an element, the number of segments behind the last. `guess` is looked at first.
#[cube]
fn locate<I: Numeric>(
    offsets: &[I],
    segments: usize,
    at: usize,
    guess: usize,
    len: usize,
) -> usize {
    let mut low = 0usize;
    let mut high = segments;
    let guess = min(guess, segments);
    let before = bounded::<I>(offsets[guess], len);
    if before <= at && at < end_of::<I>(offsets, segments, guess, len) {
        low = guess;
        high = guess;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if end_of::<I>(offsets, segments, middle, len) <= at {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Parts of so many elements, in vectors.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Parts {
    count: usize,
    /// Vectors of a part, and of all.
    len: usize,
    vectors: usize,
    segments: usize,
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn ids_kernel<I: Numeric, N: Size>(
    offsets: &[I],
    ids: &mut [Vector<I, N>],
    parts: Parts,
    #[define(I)] _index: ElemType,
) {
    let part = ABSOLUTE_POS;
    if part < parts.count {
        let lanes = N::value().comptime();
        let len = parts.vectors * lanes;
        let first = part * parts.len;
        let mut segment = locate::<I>(offsets, parts.segments, first * lanes, 0usize, len);
        let mut until = end_of::<I>(offsets, parts.segments, segment, len);
        for vector in first..min(first + parts.len, parts.vectors) {
            let mut of_vector = Vector::<I, N>::new(I::from_int(0));
            #[unroll]
            for lane in 0..lanes {
                let at = vector * lanes + lane;
                if at >= until {
                    segment = locate::<I>(offsets, parts.segments, at, segment + 1, len);
                    until = end_of::<I>(offsets, parts.segments, segment, len);
                }
                of_vector.insert(lane, I::cast_from(segment));
            }
            ids[vector] = of_vector;
        }
    }
}

/// The value of a segment, 0 behind the last.
#[cube]
fn value_at<T: Numeric>(values: &[T], segment: usize, segments: usize) -> T {
    // Read whether it is used or not: a read that is not there to be skipped cannot be mispredicted.
    let value = values[min(segment, max(segments, 1usize) - 1)];
    select(segment < segments, value, T::from_int(0))
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn repeat_kernel<T: Numeric, I: Numeric, N: Size>(
    values: &[T],
    offsets: &[I],
    output: &mut [Vector<T, N>],
    parts: Parts,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let part = ABSOLUTE_POS;
    if part < parts.count {
        let lanes = N::value().comptime();
        let len = parts.vectors * lanes;
        let first = part * parts.len;
        let mut segment = locate::<I>(offsets, parts.segments, first * lanes, 0usize, len);
        let mut until = end_of::<I>(offsets, parts.segments, segment, len);
        let mut value = value_at::<T>(values, segment, parts.segments);
        for vector in first..min(first + parts.len, parts.vectors) {
            let mut result = Vector::<T, N>::new(T::from_int(0));
            #[unroll]
            for lane in 0..lanes {
                let at = vector * lanes + lane;
                if at >= until {
                    segment = locate::<I>(offsets, parts.segments, at, segment + 1, len);
                    until = end_of::<I>(offsets, parts.segments, segment, len);
                    value = value_at::<T>(values, segment, parts.segments);
                }
                result.insert(lane, value);
            }
            output[vector] = result;
        }
    }
}

/// What an element is read as.
#[cube]
fn read<A: Numeric, M: Monoid<A>>(
    value: A,
    position: usize,
    #[comptime] op: M::Config,
) -> M::State {
    let mut values = Sequence::<A>::new();
    values.push(value);
    let element = Element::<A> {
        values,
        starts: false.runtime(),
        ends: false.runtime(),
        position,
    };
    M::read(&element, op)
}

/// What is written of a state.
#[cube]
fn value_of<T: Numeric, A: Numeric, M: Monoid<A>>(
    state: &M::State,
    #[comptime] op: M::Config,
) -> T {
    let written = M::write(state, op);
    T::cast_from(written.values[0])
}

/// The identity of every segment.
#[cube(launch_unchecked, address_type = "dynamic")]
fn identities_kernel<T: Numeric, A: Numeric, O: Operator>(
    totals: &mut [T],
    segments: usize,
    seed: InputScalar,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if ABSOLUTE_POS < segments {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        totals[ABSOLUTE_POS] = value_of::<T, A, O::Monoid<A>>(&identity, op);
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn parts_kernel<T: Numeric, A: Numeric, I: Numeric, N: Size, O: Operator>(
    values: &[Vector<T, N>],
    offsets: &[I],
    totals: &mut [T],
    heads: &mut [u32],
    parts: Parts,
    seed: InputScalar,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < parts.count {
        let seed = seed.get::<A>();
        walk_part::<T, A, I, N, O::Monoid<A>>(values, offsets, totals, heads, parts, seed, op);
    }
}

/// Writes the totals of the segments that begin and end in a part, and keeps what it holds of an earlier one.
#[cube]
fn walk_part<T: Numeric, A: Numeric, I: Numeric, N: Size, M: Monoid<A>>(
    values: &[Vector<T, N>],
    offsets: &[I],
    totals: &mut [T],
    heads: &mut [u32],
    parts: Parts,
    seed: A,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let len = parts.vectors * lanes;
    let first = ABSOLUTE_POS * parts.len;
    let end = min(first + parts.len, parts.vectors);
    let identity = M::identity(seed, op);
    let mut running = M::State::copy(&identity);
    let mut segment = locate::<I>(offsets, parts.segments, first * lanes, 0usize, len);
    let mut until = end_of::<I>(offsets, parts.segments, segment, len);
    // Of a segment that begins before the part, or of none.
    let begin = bounded::<I>(offsets[min(segment, parts.segments)], len);
    let mut is_head = begin != first * lanes;
    if begin > first * lanes {
        until = begin;
    }
    for vector in first..end {
        let loaded = values[vector];
        #[unroll]
        for lane in 0..lanes {
            let at = vector * lanes + lane;
            if at >= until {
                if is_head {
                    write_state::<M::State>(heads, ABSOLUTE_POS, &running);
                } else if segment < parts.segments {
                    totals[segment] = value_of::<T, A, M>(&running, op);
                }
                segment = locate::<I>(offsets, parts.segments, at, segment + 1, len);
                until = end_of::<I>(offsets, parts.segments, segment, len);
                running = M::State::copy(&identity);
                is_head = false;
            }
            let element = read::<A, M>(A::cast_from(loaded.extract(lane)), at, op);
            running = join::<A, M>(&running, &element, op);
        }
    }
    if is_head {
        write_state::<M::State>(heads, ABSOLUTE_POS, &running);
    } else if segment < parts.segments && until <= end * lanes {
        totals[segment] = value_of::<T, A, M>(&running, op);
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn crossing_kernel<T: Numeric, A: Numeric, I: Numeric, O: Operator>(
    values: &[T],
    offsets: &[I],
    totals: &mut [T],
    heads: &[u32],
    segments: usize,
    part_len: usize,
    len: usize,
    seed: InputScalar,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < segments {
        let seed = seed.get::<A>();
        cross::<T, A, I, O::Monoid<A>>(values, offsets, totals, heads, part_len, len, seed, op);
    }
}

/// Puts a segment together that ends in another part than it begins in.
#[cube]
fn cross<T: Numeric, A: Numeric, I: Numeric, M: Monoid<A>>(
    values: &[T],
    offsets: &[I],
    totals: &mut [T],
    heads: &[u32],
    part_len: usize,
    len: usize,
    seed: A,
    #[comptime] op: M::Config,
) {
    let begin = bounded::<I>(offsets[ABSOLUTE_POS], len);
    let end = bounded::<I>(offsets[ABSOLUTE_POS + 1], len);
    let (first, last) = (begin / part_len, (max(end, 1usize) - 1) / part_len);
    if begin < end && first < last {
        let mut running = M::identity(seed, op);
        for at in begin..(first + 1) * part_len {
            let element = read::<A, M>(A::cast_from(values[at]), at, op);
            running = join::<A, M>(&running, &element, op);
        }
        for part in first + 1..last + 1 {
            let head = read_state::<M::State>(heads, part);
            running = join::<A, M>(&running, &head, op);
        }
        totals[ABSOLUTE_POS] = value_of::<T, A, M>(&running, op);
    }
}

/// The parts of `len` elements beside which a tensor begins at element `begin`: the launch argument, the lanes of a vector, and the elements of a part.
fn parts_of(
    client: &Client,
    len: usize,
    (begin, size): (usize, usize),
    segments: usize,
) -> (PartsLaunch, usize, usize) {
    let lanes = widest_vector(client.io_optimized_vector_sizes(size), len | begin);
    let part = PART.max(len.div_ceil(MOST_PARTS)).next_multiple_of(lanes);
    let (vectors, of_part) = (len / lanes, part / lanes);
    let parts = PartsLaunch::new(vectors.div_ceil(of_part), of_part, vectors, segments);
    (parts, lanes, part)
}

/// [`segment_ids`](super::segment_ids), after all checks; `len` is not 0.
pub(super) fn ids(client: &Client, offsets: Typed, ids: TensorBinding, len: usize) {
    let (offsets, index) = offsets;
    let segments = offsets.shape.iter().product::<usize>() - 1;
    let begin = elements_before(ids.handle.offset_start, index.size());
    let (parts, lanes, part) = parts_of(client, len, (begin, index.size()), segments);
    let address_type = ids
        .required_address_type(index.size())
        .max(offsets.required_address_type(index.size()));
    // SAFETY: parts end with the ids, and offsets are read up to the last.
    unsafe {
        ids_kernel::launch_unchecked(
            client,
            cube_count(client, len.div_ceil(part).div_ceil(UNITS)),
            CubeDim::new_1d(UNITS as u32),
            address_type,
            lanes,
            offsets.into_buffer_arg(),
            ids.into_buffer_arg(),
            parts,
            index,
        );
    }
}

/// [`repeat`](super::repeat) of single elements, after all checks; there are values, and `total` is not 0.
pub(super) fn repeat(
    client: &Client,
    values: TensorBinding,
    offsets: Typed,
    output: TensorBinding,
    total: usize,
    dtype: ElemType,
) {
    let (offsets, index) = offsets;
    let segments = offsets.shape.iter().product::<usize>() - 1;
    let begin = elements_before(output.handle.offset_start, dtype.size());
    let (parts, lanes, part) = parts_of(client, total, (begin, dtype.size()), segments);
    let address_type = output
        .required_address_type(dtype.size())
        .max(offsets.required_address_type(index.size()))
        .max(values.required_address_type(dtype.size()));
    // SAFETY: parts end with the output, offsets are read up to the last, and values up to the one before.
    unsafe {
        repeat_kernel::launch_unchecked(
            client,
            cube_count(client, total.div_ceil(part).div_ceil(UNITS)),
            CubeDim::new_1d(UNITS as u32),
            address_type,
            lanes,
            values.into_buffer_arg(),
            offsets.into_buffer_arg(),
            output.into_buffer_arg(),
            parts,
            dtype,
            index,
        );
    }
}

/// [`segment_reduce`](super::segment_reduce) of single elements, after all checks; there are elements, and segments.
pub(super) fn reduce<O: Operator>(
    client: &Client,
    values: TensorBinding,
    offsets: Typed,
    totals: TensorBinding,
    len: usize,
    dtype: ElemType,
    op: O::Config,
) {
    let (offsets, index) = offsets;
    let segments = offsets.shape.iter().product::<usize>() - 1;
    let accumulator = accumulator_of(dtype);
    let begin = elements_before(values.handle.offset_start, dtype.size());
    let (parts, lanes, part) = parts_of(client, len, (begin, dtype.size()), segments);
    let count = len.div_ceil(part);
    let words = count * O::state_size(accumulator).div_ceil(size_of::<u32>());
    let heads = scratch::temporary(client, words * size_of::<u32>());
    // SAFETY: there is a state for each part.
    let heads = || unsafe { BufferArg::from_raw_parts(heads.clone(), words) };
    let address_type = values
        .required_address_type(dtype.size())
        .max(offsets.required_address_type(index.size()))
        .max(totals.required_address_type(dtype.size()));
    let cubes = |units: usize| cube_count(client, units.div_ceil(UNITS));
    let dim = CubeDim::new_1d(UNITS as u32);
    // SAFETY: units beyond the segments do nothing.
    unsafe {
        identities_kernel::launch_unchecked::<O>(
            client,
            cubes(segments),
            dim,
            address_type,
            totals.clone().into_buffer_arg(),
            segments,
            O::seed(op, dtype, accumulator),
            op,
            dtype,
            accumulator,
        );
    }
    // SAFETY: parts end with the values, offsets are read up to the last, and a segment is one of them before its total is written.
    unsafe {
        parts_kernel::launch_unchecked::<O>(
            client,
            cubes(count),
            dim,
            address_type,
            lanes,
            values.clone().into_buffer_arg(),
            offsets.clone().into_buffer_arg(),
            totals.clone().into_buffer_arg(),
            heads(),
            parts,
            O::seed(op, dtype, accumulator),
            op,
            dtype,
            accumulator,
            index,
        );
    }
    // SAFETY: units beyond the segments do nothing; offsets are bounded by the number of values, and so are parts by theirs.
    unsafe {
        crossing_kernel::launch_unchecked::<O>(
            client,
            cubes(segments),
            dim,
            address_type,
            values.into_buffer_arg(),
            offsets.into_buffer_arg(),
            totals.into_buffer_arg(),
            heads(),
            segments,
            part,
            len,
            O::seed(op, dtype, accumulator),
            op,
            dtype,
            accumulator,
            index,
        );
    }
}
