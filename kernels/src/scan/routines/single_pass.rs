//! `single_pass`: every element read once and written once (2n), tiles chained by lookback.
//!
//! ```text
//! cube:   ticket → load tile → scan registers → scan totals ─→ publish aggregate → look back → store tile
//!                                                              └ missing predecessor: load *its* tile, reduce, publish
//! ```
//!
//! Needs 32-bit atomic load, store and add; no forward progress between cubes. See
//! [`lookback`](crate::scan::components::lookback).

use crate::operator::combine;
use crate::scan::components::{
    chain::{Chain, ChainConfig},
    cube_totals::scan_totals,
    lookback::{Walk, take_ticket},
    rows::RowsView,
    tile::{TileConfig, UnitTile},
};
use crate::scan::launch::{Call, cube_count};
use crate::scan::scratch;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn single_pass_kernel<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    output: &mut [Vector<T, N>],
    state: &[Atomic<u32>],
    rows: &RowsView,
    tiles_per_row: usize,
    tiles: usize,
    identity: InputScalar,
    tag: u32,
    polls: u32,
    #[comptime] config: TileConfig,
    #[comptime] chain_config: ChainConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    let tile = take_ticket(state, CUBE_COUNT as u32);
    if tile < tiles {
        let identity = identity.get::<A>();
        let mut totals = Shared::<[A]>::new_slice(comptime!(config.totals() + 1));
        let row_index = tile / tiles_per_row;
        let row_first = row_index * tiles_per_row;
        let row = rows.row(row_index);
        let vectors_per_tile = comptime!(config.units * config.vectors).runtime();

        let first = (tile - row_first) * vectors_per_tile;
        let unit = UnitTile::<A, N>::load::<T>(input, row, first, identity, config);
        let own = scan_totals::<A>(unit.total, identity, &mut totals, config);

        let chain = Chain { tiles, tag, polls };
        let mut walk = Walk::<A>::new(tile, row_first, chain_config);
        walk.announce(state, chain, own.aggregate, chain_config);
        walk.begin(state, chain, identity, chain_config);
        while walk.advance(state, chain, chain_config) {
            let first = (walk.missing() - row_first) * vectors_per_tile;
            let other = UnitTile::<A, N>::total_of::<T>(input, row, first, identity, config);
            let other = scan_totals::<A>(other, identity, &mut totals, config);
            walk.supply(state, chain, other.aggregate, chain_config);
        }
        let before = walk.finish(state, chain, own.aggregate, chain_config);
        let prefix = combine::<A>(before, own.exclusive, config.op);
        unit.store::<T>(output, row, first, prefix, config);
    }
}

pub(crate) fn launch(call: Call) {
    let problem = &call.problem;
    let tiles_per_row = problem.len().div_ceil(call.tile_elements());
    let tiles = tiles_per_row * problem.outer_count();
    let accumulator = problem.accumulator();
    let chain = ChainConfig::new(problem.op, accumulator, call.tuning.units, call.launch.mute);
    let (state, tag) = scratch::take(call.client, chain.state_words(tiles));
    // SAFETY: the state holds an aggregate and a prefix per tile; the view addresses exactly the tensors' rows, and
    // tiles guard each vector by the length of its row.
    unsafe {
        single_pass_kernel::launch_unchecked(
            call.client,
            cube_count(call.client, tiles),
            CubeDim::new_1d(call.tuning.units as u32),
            call.address_type,
            call.vector_size,
            call.input.clone().into_buffer_arg(),
            call.output.clone().into_buffer_arg(),
            state,
            call.rows_arg(),
            tiles_per_row,
            tiles,
            problem.op.identity(problem.dtype, accumulator),
            tag,
            call.tuning.polls,
            call.tile_config(),
            chain,
            problem.dtype,
            accumulator,
        );
    }
}
