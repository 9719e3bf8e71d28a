//! Compaction in a single pass.
//!
//! ```text
//! cube:   ticket → load mask tile → count per unit → scan counts ─→ publish count → look back → write
//!                  └ load values of units with survivors            └ stage survivors
//! ```
//!
//! The scan of the mask stays in registers. Survivors go to the front in order. Other elements fill the tail: the
//! `f`-th `false` of the input writes the zero at `n − 1 − f`. So every element of the output is written exactly once,
//! and no unit needs the total first.
//!
//! The survivors of a tile are staged in shared memory before the tile looks back. Then neighbouring units write
//! neighbouring elements:
//!
//! ```text
//! tile     a · b c · · d ·        shared   a b c d        output   … │ a b c d │ …     (zeros at the tail likewise)
//! ```
//!
//! Lookback, fallback and their guarantees are as in the scan: see [`lookback`](crate::scan::components::lookback).

mod kernel;
mod tile;

use super::plan::{Plan, bindable, view};
use super::selection::Selection;
use cubecl::client::Client;
use cubecl::prelude::*;
use kernel::compact_kernel;

/// One launch, after all checks.
pub(super) fn launch(client: &Client, plan: &Plan, selection: Selection) {
    let (state, words) = plan.words(client);
    let address_type = selection.address_type(plan);
    let mut positions = SequenceArg::new();
    if let Some(room) = selection.positions {
        positions.push(room.into_buffer_arg());
    }
    // SAFETY: mask, values and output hold the same number of elements, and the kernel guards each vector by its
    // row; a rank is below the number of trues, and the tail begins behind them; the state holds an aggregate and a
    // fallback for each tile, and a prefix for each block; there is a count for each row.
    unsafe {
        compact_kernel::launch_unchecked(
            client,
            plan.cube_count.clone(),
            plan.cube_dim,
            address_type,
            plan.lanes,
            view(client, selection.values.0),
            view(client, selection.mask.0),
            bindable(client, selection.output).into_buffer_arg(),
            positions,
            bindable(client, selection.counts).into_buffer_arg(),
            state,
            plan.vectors,
            words,
            selection.emit,
            plan.config,
            selection.values.1,
            selection.mask.1,
            selection.index,
        );
    }
}
