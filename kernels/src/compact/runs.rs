//! Compaction without a barrier: each unit has a run of the mask of its own.
//!
//! ```text
//! launch 1   unit: count the trues of its run           → counts, one per unit
//! launch 2   their exclusive scan, in place             → the rank of each run's first true
//! launch 3   unit: walk its run again and write
//! ```
//!
//! The mask is read twice, where [`select`](super::select) reads it once. On software adapters that is the better bargain: they run a cube as
//! one coroutine per few units, which every barrier parks and wakes, and they run both sides of every branch.

use super::mask_tile::lane_bits;
use super::plan::{Plan, Typed, bindable, view};
use super::select::{Emit, emitted, write_vector};
use crate::ScanOp;
use crate::monoid::{Fold, write_state};
use crate::scan::cube_count;
use crate::scan::parts::{Cut, Parts, Split, before_part};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

/// Units of a cube.
const UNITS: usize = 64;

#[cube(launch_unchecked, address_type = "dynamic")]
fn count_runs_kernel<M: Numeric, N: Size>(
    mask: LinearView<'_, Vector<M, N>>,
    counts: &mut [u32],
    vectors: usize,
    run: usize,
    runs: usize,
    #[define(M)] _mask_type: ElemType,
) {
    if ABSOLUTE_POS < runs {
        let first = ABSOLUTE_POS * run;
        let mut count = 0u32;
        for at in first..min(first + run, vectors) {
            count += lane_bits::<M, N>(mask.read(at)).count_ones();
        }
        write_state::<u32>(counts, ABSOLUTE_POS, &count);
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn write_runs_kernel<V: Numeric, M: Numeric, I: Numeric, N: Size>(
    values: LinearView<'_, Vector<V, N>>,
    mask: LinearView<'_, Vector<M, N>>,
    counts: &[u32],
    output: &mut [V],
    count: &mut [I],
    vectors: usize,
    run: usize,
    runs: usize,
    #[comptime] cut: Cut,
    #[comptime] emit: Emit,
    #[define(V)] _value_type: ElemType,
    #[define(M)] _mask_type: ElemType,
    #[define(I)] _index_type: ElemType,
) {
    if ABSOLUTE_POS < runs {
        let first = ABSOLUTE_POS * run;
        let sum = comptime!(ScanOp::Sum);
        let none = 0u32.runtime();
        let mut rank = before_part::<u32, Fold>(counts, 0, 1, ABSOLUTE_POS, &none, cut, sum);
        for at in first..min(first + run, vectors) {
            let flags = lane_bits::<M, N>(mask.read(at));
            let value = emitted::<V, N>(&values, at, emit);
            write_vector::<V, N>(output, value, flags, rank, at, vectors);
            rank += flags.count_ones();
        }
        if ABSOLUTE_POS + 1 == runs {
            count[0] = I::cast_from(rank);
        }
    }
}

/// [`compact`](super::compact()) of a mask with elements, after all checks.
pub(super) fn compact(
    client: &Client,
    plan: Plan,
    values: Typed,
    mask: Typed,
    (output, count, index): (TensorBinding, TensorBinding, ElemType),
    emit: Emit,
) {
    let split = Split::rows(client, 1, plan.vectors);
    let parts = Parts {
        outer: 1,
        parts: split.parts,
        inner: 1,
    };
    let cubes = || cube_count(client, split.parts.div_ceil(UNITS));
    let cube_dim = CubeDim::new_1d(UNITS as u32);
    let address_type = plan
        .address_type
        .max(output.required_address_type(values.1.size()));
    // SAFETY: one count per run; a run ends with the mask.
    let totals = |counts| unsafe {
        count_runs_kernel::launch_unchecked(
            client,
            cubes(),
            cube_dim,
            address_type,
            plan.lanes,
            view(client, mask.0.clone()),
            counts,
            plan.vectors,
            split.len,
            split.parts,
            mask.1,
        );
    };
    // SAFETY: mask, values and output hold the same number of elements, and a run ends with the mask; a rank is below the number of
    // trues, and the tail begins behind them.
    let write = |counts| unsafe {
        write_runs_kernel::launch_unchecked(
            client,
            cubes(),
            cube_dim,
            address_type,
            plan.lanes,
            view(client, values.0),
            view(client, mask.0.clone()),
            counts,
            bindable(client, output).into_buffer_arg(),
            count.into_buffer_arg(),
            plan.vectors,
            split.len,
            split.parts,
            parts.cut(),
            emit,
            values.1,
            mask.1,
            index,
        );
    };
    let word = u32::elem_type_native();
    parts.launch::<Fold>(client, [word, word], ScanOp::Sum, totals, write);
}
