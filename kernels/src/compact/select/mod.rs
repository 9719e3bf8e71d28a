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

mod tile;

use super::emit::Emit;
use super::mask_tile::{MaskConfig, MaskRow, MaskTile};
use super::plan::{Plan, bindable, view};
use super::selection::Selection;
use crate::scan::components::{lookback::tile_of_cube, tile_state::TileWords};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;
use tile::{load_survivors, stage_survivors, write_positions, write_staged};

#[cube(launch_unchecked, address_type = "dynamic")]
fn compact_kernel<V: Numeric, M: Numeric, I: Numeric, N: Size>(
    values: LinearView<'_, Vector<V, N>>,
    mask: LinearView<'_, Vector<M, N>>,
    output: &mut [V],
    positions: &mut Sequence<&'static mut [I]>,
    counts: &mut [I],
    state: &[Atomic<u32>],
    vectors: usize,
    words: TileWords,
    #[comptime] emit: Emit,
    #[comptime] config: MaskConfig,
    #[define(V)] _value_type: ElemType,
    #[define(M)] _mask_type: ElemType,
    #[define(I)] _index_type: ElemType,
) {
    let tile = tile_of_cube(state, CUBE_COUNT as u32, config.lookback.cubes_in_order);
    if tile < words.tiles {
        let row = MaskRow::of_tile(tile, vectors, words, config);
        let mut tile_mask = MaskTile::load::<M, N>(&mask, row, config);
        let loaded = load_survivors::<V, N>(&tile_mask, &values, row, emit, config);
        let mut own = tile_mask.publish(state, tile, words, config);
        let lanes = N::value().comptime();
        let mut stage =
            Shared::<[V]>::new_slice(comptime!(config.tile.vectors * config.tile.units * lanes));
        stage_survivors::<V, N>(&mut stage, &tile_mask, &loaded, own.unit);
        // This includes a barrier: all survivors are staged before any is written.
        let before = own.seek::<M, N>(&mut tile_mask, &mask, state, row, config);
        let rank = before + own.unit;
        let (front, survivors) = (before as usize, own.survivors as usize);
        write_staged::<V, N>(&stage, output, row, front, survivors, emit, config);
        write_positions::<I>(&tile_mask, positions, row, rank, lanes, config);
        if (tile + 1) % words.per_row == 0 && UNIT_POS == 0 {
            counts[row.index] = I::cast_from(before + own.survivors);
        }
    }
}

/// One launch, after all checks. `positions` receives those of survivors, if they are asked for.
pub(super) fn launch(
    client: &Client,
    plan: &Plan,
    selection: Selection,
    positions: Option<TensorBinding>,
) {
    let (state, words) = plan.words(client);
    let positions = positions.map(TensorBinding::into_buffer_arg);
    // SAFETY: mask, values and output hold the same number of elements, and the kernel guards each vector by its row; a
    // rank is below the number of trues, and the tail begins after them; the state holds an aggregate and a fallback
    // for each tile, and a prefix for each block; there is a count for each row.
    unsafe {
        compact_kernel::launch_unchecked(
            client,
            plan.cube_count.clone(),
            plan.cube_dim,
            plan.address_type,
            plan.lanes,
            view(client, selection.values.0),
            view(client, selection.mask.0),
            bindable(client, selection.output).into_buffer_arg(),
            positions.into_iter().collect(),
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
