//! Run-length encoding on software adapters: each unit walks a part of the elements.
//!
//! ```text
//! launch 1   unit: how many runs begin in its part, and where the last of them begins
//! launch 2   the exclusive scan of these pairs, in place
//! launch 3   unit: walk its part again; where a run begins, write its value and the length of the run before it
//! launch 4   zeros behind the runs, if they are asked for
//! ```
//!
//! Except for the states of parts, nothing is written that is read again. Without zeros nothing is written but the
//! runs.

use super::emit::Emit;
use super::mask_tile::{Mark, element_before, last_of, marks_behind};
use super::plan::{Plan, Typed, view};
use crate::monoid::{Heads, Pair, write_state};
use crate::scan::cube_count;
use crate::scan::parts::{CarryIn, Parts, Split, before_part};
use crate::scan::problem::{elements_before, widest_vector};
use cubecl::client::Client;
use cubecl::ir::{ElemType, UIntKind};
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

/// Units of a cube.
const UNITS: usize = 64;

/// Vectors of a unit that writes zeros. On lavapipe, one or 32 take 1.6 times as long.
const TAIL: usize = 8;

/// What is read and written. `lengths` and `count` have the type `index`.
pub(super) struct Runs {
    pub values: Typed,
    pub output: TensorBinding,
    pub lengths: TensorBinding,
    pub count: TensorBinding,
    pub index: ElemType,
    pub emit: Emit,
}

/// The elements, in vectors, split into parts.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Walk {
    vectors: usize,
    /// Vectors of a part.
    len: usize,
    parts: usize,
}

/// Elements whose marks a unit holds in one word. It then loops over the marks, and neighbouring units loop as often as
/// the unit with the most marks. On lavapipe, 2^22 elements in runs of four take 1.7 times as long element by element.
const CHUNK: usize = 32;

/// The marks of a chunk that begins with vector `first`, without those at `end` and behind it.
#[cube]
fn marks_of_chunk<V: Numeric, N: Size>(
    values: &LinearView<'_, Vector<V, N>>,
    first: usize,
    end: usize,
) -> u32 {
    let lanes = N::value().comptime();
    let mut before = element_before::<V, N>(values, first, Mark::Head);
    let mut marks = 0u32;
    #[unroll]
    for k in 0..comptime!(CHUNK / lanes) {
        let at = first + k;
        let own = values.read(min(at, end - 1));
        let of_vector = marks_behind::<V, N>(own, before, at == 0, Mark::Head);
        before = last_of::<V, N>(own);
        marks |= select(at < end, of_vector << comptime!((k * lanes) as u32), 0u32);
    }
    marks
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn heads_kernel<V: Numeric, N: Size>(
    values: LinearView<'_, Vector<V, N>>,
    states: &mut [u32],
    walk: Walk,
    #[define(V)] _dtype: ElemType,
) {
    let part = ABSOLUTE_POS;
    if part < walk.parts {
        let lanes = N::value().comptime();
        let first = part * walk.len;
        let end = min(first + walk.len, walk.vectors);
        let mut runs = 0u32;
        let mut head = 0u32;
        for at in range_stepped(first, end, comptime!(CHUNK / lanes)) {
            let marks = marks_of_chunk::<V, N>(&values, at, end);
            let last = u32::cast_from(at * lanes) + 31u32 - marks.leading_zeros();
            head = select(marks != 0u32, last, head);
            runs += marks.count_ones();
        }
        write_state::<Pair<u32, u32>>(states, part, &Pair::<u32, u32>::new(runs, head));
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn runs_kernel<V: Numeric, I: Numeric, N: Size>(
    values: LinearView<'_, Vector<V, N>>,
    states: &[u32],
    output: &mut [V],
    lengths: &mut [I],
    count: &mut [I],
    walk: Walk,
    #[comptime] carry_in: CarryIn,
    #[comptime] zeros: usize,
    #[define(V)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let part = ABSOLUTE_POS;
    if part < walk.parts {
        let lanes = N::value().comptime();
        let first = part * walk.len;
        let end = min(first + walk.len, walk.vectors);
        let none = Pair::<u32, u32>::new(0u32.runtime(), 0u32.runtime());
        let known = before_part::<u32, Heads>(states, 0usize, 1usize, part, &none, carry_in, ());
        let mut runs = known.first;
        let mut head = known.second;
        for at in range_stepped(first, end, comptime!(CHUNK / lanes)) {
            let mut marks = marks_of_chunk::<V, N>(&values, at, end);
            while marks != 0u32 {
                let position = u32::cast_from(at * lanes) + marks.trailing_zeros();
                output[runs as usize] = element_at::<V, N>(&values, position as usize);
                if runs > 0u32 {
                    lengths[runs as usize - 1] = I::cast_from(position - head);
                }
                head = position;
                runs += 1u32;
                marks &= marks - 1u32;
            }
        }
        if part + 1 == walk.parts {
            // There is an element, so there is a run.
            let elements = walk.vectors * lanes;
            let runs = runs as usize;
            lengths[runs - 1] = I::cast_from(u32::cast_from(elements) - head);
            count[0] = I::cast_from(runs);
            // Up to the first whole vector behind the runs.
            for at in runs..min(runs + zeros, elements) {
                output[at] = V::from_int(0);
                lengths[at] = I::from_int(0);
            }
        }
    }
}

/// One element of a tensor that is read by vectors.
#[cube]
fn element_at<V: Numeric, N: Size>(values: &LinearView<'_, Vector<V, N>>, at: usize) -> V {
    let lanes = N::value().comptime();
    let vector = values.read(at / lanes);
    let mut element = vector.extract(0usize);
    #[unroll]
    for lane in 1..lanes {
        element = select(at % lanes == lane, vector.extract(lane), element);
    }
    element
}

/// Zeros in the whole vectors behind the first `count` elements.
#[cube(launch_unchecked, address_type = "dynamic")]
fn tail_kernel<T: Numeric, I: Numeric, N: Size>(
    count: &[I],
    output: &mut [Vector<T, N>],
    vectors: usize,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let first = ABSOLUTE_POS * TAIL;
    let lanes = N::value().comptime();
    let count = usize::cast_from(count[0]).div_ceil(lanes);
    #[unroll]
    for k in 0..TAIL {
        let at = first + k;
        if at >= count && at < vectors {
            output[at] = Vector::<T, N>::new(T::from_int(0));
        }
    }
}

/// Encodes at least one element, after all checks.
pub(super) fn launch(client: &Client, plan: &Plan, runs: Runs) {
    let split = Split::rows(client, 1, plan.vectors);
    let parts = Parts {
        outer: 1,
        parts: split.parts,
        inner: 1,
    };
    let cubes = || cube_count(client, split.parts.div_ceil(UNITS));
    let units = CubeDim::new_1d(UNITS as u32);
    let walk = || WalkLaunch::new(plan.vectors, split.len, split.parts);
    let (values, dtype) = runs.values;
    let address_type = plan
        .address_type
        .max(runs.lengths.required_address_type(runs.index.size()));
    let lanes = [
        lanes_of(client, &runs.output, dtype),
        lanes_of(client, &runs.lengths, runs.index),
    ];
    let zeros = match runs.emit.fills() {
        true => lanes[0].max(lanes[1]) - 1,
        false => 0,
    };
    // SAFETY: a state per part, and a part ends with the elements.
    let totals = |states| unsafe {
        heads_kernel::launch_unchecked(
            client,
            cubes(),
            units,
            address_type,
            plan.lanes,
            view(client, values.clone()),
            states,
            walk(),
            dtype,
        );
    };
    // SAFETY: output and lengths hold as many as there are elements, and there are no more runs than that; one count.
    let write = |states| unsafe {
        runs_kernel::launch_unchecked(
            client,
            cubes(),
            units,
            address_type,
            plan.lanes,
            view(client, values.clone()),
            states,
            runs.output.clone().into_buffer_arg(),
            runs.lengths.clone().into_buffer_arg(),
            runs.count.clone().into_buffer_arg(),
            walk(),
            parts.carry_in(),
            zeros,
            dtype,
            runs.index,
        );
    };
    let word = ElemType::UInt(UIntKind::U32);
    parts.launch::<Heads>(client, [word, word], (), totals, write);
    if runs.emit.fills() {
        let [of_output, of_lengths] = lanes;
        fill_behind(
            client,
            &runs.count,
            (runs.output, dtype),
            of_output,
            runs.index,
        );
        fill_behind(
            client,
            &runs.count,
            (runs.lengths, runs.index),
            of_lengths,
            runs.index,
        );
    }
}

/// The lanes by which a contiguous tensor is filled.
fn lanes_of(client: &Client, output: &TensorBinding, dtype: ElemType) -> usize {
    let begin = elements_before(output.handle.offset_start, dtype.size());
    let len: usize = output.shape.iter().product();
    widest_vector(client.io_optimized_vector_sizes(dtype.size()), len | begin)
}

/// Fills a contiguous tensor with zeros from the first whole vector behind `count` elements on.
fn fill_behind(
    client: &Client,
    count: &TensorBinding,
    (output, dtype): Typed,
    lanes: usize,
    index: ElemType,
) {
    let vectors = output.shape.iter().product::<usize>() / lanes;
    // SAFETY: no unit beyond the vectors does anything.
    unsafe {
        tail_kernel::launch_unchecked(
            client,
            cube_count(client, vectors.div_ceil(UNITS * TAIL)),
            CubeDim::new_1d(UNITS as u32),
            output.required_address_type(dtype.size()),
            lanes,
            count.clone().into_buffer_arg(),
            output.into_buffer_arg(),
            vectors,
            dtype,
            index,
        );
    }
}
