//! The total of each segment.

use super::parts::{Parts, end_of, locate, parts_of};
use crate::monoid::{Element, Monoid, Operator, State, join, read_state, write_state};
use crate::operator::accumulator_of;
use crate::scan::problem::elements_before;
use crate::scan::{ELEMENTWISE_UNITS, cube_count, scratch};
use crate::segments::bounds::{Typed, bounded};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The state of an element.
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

/// What the operator writes of a state.
#[cube]
fn value_of<T: Numeric, A: Numeric, M: Monoid<A>>(
    state: &M::State,
    #[comptime] op: M::Config,
) -> T {
    let written = M::write(state, op);
    T::cast_from(written.values[0])
}

/// Writes the identity as the total of every segment.
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

/// Writes the totals of the segments that begin and end in a part. The total of the head of the part, which belongs to
/// an earlier segment, goes into `heads`.
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
    // Whether the part begins with elements of an earlier segment, or of none.
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

/// Combines the total of a segment that ends in another part than it begins in.
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

/// [`segment_reduce`](crate::segments::segment_reduce) of single elements, after all checks. There are elements and
/// segments.
pub(in crate::segments) fn reduce<O: Operator>(
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
    let cubes = |units: usize| cube_count(client, units.div_ceil(ELEMENTWISE_UNITS));
    let dim = CubeDim::new_1d(ELEMENTWISE_UNITS as u32);
    set_identities::<O>(client, totals.clone(), segments, address_type, dtype, op);
    // SAFETY: parts end with the values, offsets are read up to the last, and a segment's number is checked before its
    // total is written.
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
    // SAFETY: units beyond the segments do nothing; offsets are bounded by the number of values, and so are parts by
    // theirs.
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

/// The first launch: an empty segment keeps what it writes.
fn set_identities<O: Operator>(
    client: &Client,
    totals: TensorBinding,
    segments: usize,
    address_type: AddressType,
    dtype: ElemType,
    op: O::Config,
) {
    let accumulator = accumulator_of(dtype);
    // SAFETY: units beyond the segments do nothing.
    unsafe {
        identities_kernel::launch_unchecked::<O>(
            client,
            cube_count(client, segments.div_ceil(ELEMENTWISE_UNITS)),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            totals.into_buffer_arg(),
            segments,
            O::seed(op, dtype, accumulator),
            op,
            dtype,
            accumulator,
        );
    }
}
