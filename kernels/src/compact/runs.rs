//! Compaction without a barrier: each unit has a run of the mask of its own.
//!
//! ```text
//! launch 1   unit: count the trues of its run           → counts, one per unit
//! scan       exclusive                                  → the rank of each run's first true
//! launch 2   unit: walk its run again and write
//! ```
//!
//! The mask is read twice, where [`select`](super::select) reads it once. On software adapters that is the better bargain: they run a cube as
//! one coroutine per few units, which every barrier parks and wakes, and they run both sides of every branch.

use super::mask_tile::lane_bits;
use super::plan::{Plan, Typed, begins_of, bindable, view};
use super::select::{Emit, emitted, write_vector};
use crate::ScanError;
use crate::scan::{cube_count, scratch};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

/// Vectors of a run. 2^22 elements make 4,096 runs, whose counts one cube scans; and no loop comes near the 65,535 rounds after which
/// some drivers end it.
const RUN: usize = 256;

const UNITS: usize = 64;

#[cube(launch_unchecked, address_type = "dynamic")]
fn count_runs_kernel<M: Numeric, N: Size>(
    mask: LinearView<'_, Vector<M, N>>,
    counts: &mut [u32],
    vectors: usize,
    runs: usize,
    #[define(M)] _mask_type: ElemType,
) {
    if ABSOLUTE_POS < runs {
        let first = ABSOLUTE_POS * RUN;
        let mut count = 0u32;
        for at in first..min(first + RUN, vectors) {
            count += lane_bits::<M, N>(mask.read(at)).count_ones();
        }
        counts[ABSOLUTE_POS] = count;
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn write_runs_kernel<V: Numeric, M: Numeric, I: Numeric, N: Size>(
    values: LinearView<'_, Vector<V, N>>,
    mask: LinearView<'_, Vector<M, N>>,
    begins: &[u32],
    output: &mut [V],
    count: &mut [I],
    vectors: usize,
    runs: usize,
    #[comptime] emit: Emit,
    #[define(V)] _value_type: ElemType,
    #[define(M)] _mask_type: ElemType,
    #[define(I)] _index_type: ElemType,
) {
    if ABSOLUTE_POS < runs {
        let first = ABSOLUTE_POS * RUN;
        let mut rank = begins[ABSOLUTE_POS];
        for at in first..min(first + RUN, vectors) {
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
) -> Result<(), ScanError> {
    let runs = plan.vectors.div_ceil(RUN);
    let cubes = || cube_count(client, runs.div_ceil(UNITS));
    let cube_dim = CubeDim::new_1d(UNITS as u32);
    let words = || scratch::temporary(client, runs * size_of::<u32>());
    let (counts, begins) = (words(), words());
    let address_type = plan
        .address_type
        .max(output.required_address_type(values.1.size()));
    // SAFETY: one count per run; a run ends with the mask.
    unsafe {
        count_runs_kernel::launch_unchecked(
            client,
            cubes(),
            cube_dim,
            address_type,
            plan.lanes,
            view(client, mask.0.clone()),
            BufferArg::from_raw_parts(counts.clone(), runs),
            plan.vectors,
            runs,
            mask.1,
        );
    }
    begins_of(client, &counts, &begins, runs)?;
    // SAFETY: mask, values and output hold the same number of elements, and a run ends with the mask; a rank is below the number of
    // trues, and the tail begins behind them.
    unsafe {
        write_runs_kernel::launch_unchecked(
            client,
            cubes(),
            cube_dim,
            address_type,
            plan.lanes,
            view(client, values.0),
            view(client, mask.0),
            BufferArg::from_raw_parts(begins, runs),
            bindable(client, output).into_buffer_arg(),
            count.into_buffer_arg(),
            plan.vectors,
            runs,
            emit,
            values.1,
            mask.1,
            index,
        );
    }
    Ok(())
}
