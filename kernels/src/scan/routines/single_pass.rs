//! `single_pass`: tiles that look back. Every element is read once and written once (2n memory traffic).
//!
//! ```text
//! cube:   its tile → load it  → scan registers → scan totals ─→ publish aggregate → look back → store tile
//!                                                              └ missing tile: load *it*, reduce, publish its fallback
//! ```
//!
//! Needs 32-bit atomic load, store and add, but no forward progress between cubes. See
//! [`lookback`](crate::scan::components::lookback).

use super::{Routine, unless_rows, unless_words};
use crate::monoid::{Monoid, Operator, State, StateOf, join};
use crate::scan::call::Call;
use crate::scan::components::{
    args::{Operands, ScanArgs},
    lookback::{Lookback, tile_of_cube},
    rows::RowsView,
    tensors::begin_of_line,
    tile::{TileConfig, UnitTile, total_of},
    tile_state::{LookbackConfig, TileWords},
};
use crate::scan::grid::cube_count;
use crate::scan::scratch;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn single_pass_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
    R: ScanArgs,
>(
    tensors: &mut R::Tensors<T, N, B, P>,
    state: &[Atomic<u32>],
    rows: &RowsView,
    words: TileWords,
    seed: InputScalar,
    #[comptime] config: TileConfig,
    #[comptime] lookback: LookbackConfig,
    #[comptime] op: O::Config,
    #[define(T, A, B, P)] _types: [ElemType; 4],
) {
    let (reads, mut writes) = R::open::<T, N, B, P>(tensors);
    let tile = tile_of_cube(state, CUBE_COUNT as u32, lookback.cubes_in_order);
    if tile < words.tiles {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        let mut totals = StateOf::<O, A>::allocate(comptime!(config.shared_states()));
        let row_index = tile / words.per_row;
        let row_first = row_index * words.per_row;
        let row = rows.row(row_index);
        let vectors_per_tile = comptime!(config.units * config.vectors).runtime();

        let first = (tile - row_first) * vectors_per_tile;
        let unit = UnitTile::<T, N, StateOf<O, A>>::load::<A, B, O::Monoid<A>>(
            &reads,
            &row,
            first,
            &identity,
            &mut totals,
            config,
            op,
        );

        let begin = begin_of_line::<T, A, O::Monoid<A>>(&reads.initial, row_index, &identity, op);
        let mut search = Lookback::<StateOf<O, A>>::new(tile, words, &begin, lookback);
        search.publish_aggregate(state, &unit.totals.aggregate);
        while search.advance::<A, O::Monoid<A>>(state, &unit.totals.aggregate, op) {
            let first = search.missing * vectors_per_tile;
            let other = total_of::<T, A, N, B, O::Monoid<A>>(
                &reads,
                &row,
                first,
                &identity,
                &mut totals,
                config,
                op,
            );
            search.publish_fallback(state, &other);
        }
        let prefix = join::<A, O::Monoid<A>>(&search.before(), &unit.totals.exclusive, op);
        unit.store::<A, P, O::Monoid<A>>(&mut writes, &row, first, &prefix, &identity, config, op);
    }
}

use single_pass_kernel as kernel;

pub(crate) struct SinglePass;

impl Routine for SinglePass {
    fn refusal<O: Operator>(call: &Call<O>) -> Option<String> {
        unless_rows(call).or_else(|| unless_words(call))
    }

    fn launch<O: Operator, D: Operands>(call: Call<O>, operands: &D) {
        let call = call.in_tiles();
        let tiles_per_row = call.tiles_per_row();
        let tiles = tiles_per_row * call.rows();
        let lookback = call.tuning.lookback;
        let shape = [call.rows(), tiles_per_row];
        let words = lookback.words(shape, call.state_words());
        let (state, words) = scratch::take(call.client, words, shape, call.tuning.spin_limit);
        // SAFETY: the state holds an aggregate and a fallback per tile and a prefix per block; the view addresses exactly
        // the tensors' rows, and tiles guard each vector by the length of its row.
        unsafe {
            single_pass_kernel::launch_unchecked::<O, D::Args>(
                call.client,
                cube_count(call.client, tiles),
                CubeDim::new_1d(call.tuning.units as u32),
                call.address_type,
                call.lanes,
                operands.tensors::<kernel::T, kernel::N, kernel::B, kernel::P>(call.access()),
                state,
                call.rows_arg(),
                words,
                call.seed(),
                call.tile_config(),
                lookback,
                call.op,
                call.types,
            );
        }
    }
}
