//! Run-length encoding: a compaction of the elements at which runs begin, with their positions. A run ends where the
//! next one begins.
//!
//! ```text
//! values     a a b b b a
//! heads      1 0 1 0 0 1        never stored: each unit compares the elements that it has loaded
//! runs       a b a · · ·        positions   0 2 5 · · ·
//! lengths    2 3 1 0 0 0
//! ```

use super::emit::Emit;
use super::mask_tile::Mark;
use super::plan::{MaskLines, bindable, same_elements};
use super::selection::Selection;
use crate::ScanError;
use crate::scan::problem::lanes_of;
use crate::scan::scratch::temporary_tensor;
use crate::scan::{ELEMENTWISE_UNITS, LaunchOptions, cube_count};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Units that write lengths, as a multiple of those that saturate the device. On an H200 (2026-11-27, NVRTC 13.0) the
/// lengths of 2^24 i32 take 62 µs, and 79 where each vector of elements has a unit.
const UNITS_OF_LENGTHS: usize = 4;

/// Writes the lengths of runs from the positions at which they begin, and then zeros if `fills`. A unit takes vectors of
/// runs, as far apart as there are units.
#[cube(launch_unchecked, address_type = "dynamic")]
fn lengths_kernel<I: Numeric, N: Size>(
    heads: &[Vector<I, N>],
    count: &[I],
    lengths: &mut [Vector<I, N>],
    vectors: usize,
    elements: usize,
    #[comptime] fills: bool,
    #[define(I)] _index: ElemType,
) {
    let lanes = N::value().comptime();
    let count = usize::cast_from(count[0]);
    let mut end = vectors;
    if comptime!(!fills) {
        end = min(count.div_ceil(lanes), vectors);
    }
    let mut at = ABSOLUTE_POS;
    while at < end {
        let mut result = Vector::<I, N>::new(I::from_int(0));
        if at * lanes < count {
            let own = heads[at];
            let next_head = heads[min(at + 1, vectors - 1)].extract(0usize);
            #[unroll]
            for lane in 0..lanes {
                let run = at * lanes + lane;
                let next = if comptime!(lane + 1 < lanes) {
                    own.extract(comptime!(lane + 1))
                } else {
                    next_head
                };
                let end = select(run + 1 < count, next, I::cast_from(elements));
                let length = end - own.extract(lane);
                result.insert(lane, select(run < count, length, I::from_int(0)));
            }
        }
        lengths[at] = result;
        at += CUBE_COUNT * CUBE_DIM as usize;
    }
}

/// Finds the runs of equal elements. Writes the value of each into `output`, its length into `lengths`, and the number
/// of runs into `count`. After them [`Emit::Values`] writes zeros; with [`Emit::ValuesUnpadded`] the rest is
/// unspecified. NaN equals nothing, and is a run of one element.
///
/// `values` may have any strides, and are read in place and in row-major order. `output` and `lengths` are contiguous
/// and have the same length. Lengths and count have the type `index`. Two launches. Nothing waits for the device.
///
/// # Errors
///
/// As [`compact`](super::compact()).
///
/// # Panics
///
/// If `count` is empty, or `emit` does not ask for values.
#[expect(
    clippy::too_many_arguments,
    reason = "a tensor operation's arguments, then the launch options"
)]
pub fn run_lengths(
    client: &Client,
    values: (TensorBinding, ElemType),
    output: TensorBinding,
    lengths: TensorBinding,
    count: TensorBinding,
    index: ElemType,
    emit: Emit,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    assert!(emit.values(), "runs have values, not {emit:?}");
    same_elements("output", &output, &values.0)?;
    same_elements("lengths", &lengths, &values.0)?;
    let lines = MaskLines::flat(&values.0);
    let selection = Selection {
        mask: values.clone(),
        values,
        output,
        counts: count,
        index,
        emit,
    };
    let others = [("lengths", &lengths, index.size(), 0)];
    let plan = selection.plan(client, lines, Mark::Head, &others, launch)?;
    let len = lines.len;
    let heads = temporary_tensor(client, [len], index);
    let positions = Some(bindable(client, heads.clone()));
    let count = selection.counts.clone();
    super::select::launch(client, &plan, selection, positions);
    if len == 0 {
        return Ok(());
    }
    let lanes = lanes_of(client, len, &[(&lengths, index.size())]);
    let vectors = len / lanes;
    // The host does not know how many runs there are.
    let units = vectors.min(UNITS_OF_LENGTHS * plan.tuning.units_to_saturate);
    // SAFETY: there are as many lengths and positions as elements; units past them do nothing.
    unsafe {
        lengths_kernel::launch_unchecked(
            client,
            cube_count(client, units.div_ceil(ELEMENTWISE_UNITS)),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            plan.address_type,
            lanes,
            heads.into_buffer_arg(),
            count.into_buffer_arg(),
            lengths.into_buffer_arg(),
            vectors,
            len,
            emit.fills(),
            index,
        );
    }
    Ok(())
}
