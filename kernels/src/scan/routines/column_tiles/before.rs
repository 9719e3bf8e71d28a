//! What precedes a tile: the lookback of each column, and the fallback of a missing tile.

use super::place::TilePlace;
use super::shape::ColumnTileConfig;
use crate::monoid::{Monoid, State, join};
use crate::scan::components::args::Reads;
use crate::scan::components::column_lookback::StripLookback;
use crate::scan::components::columns::{ColumnsView, fold_rows, load_prefetched, splat};
use crate::scan::components::tensors::begin_of_line;
use crate::scan::components::tile_state::TileWords;
use cubecl::prelude::*;

/// What precedes the tile in a column of the strip.
#[cube]
pub(crate) fn look_back<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    state: &[Atomic<u32>],
    view: &ColumnsView,
    place: TilePlace,
    column: usize,
    aggregate: &M::State,
    words: TileWords,
    identity: &M::State,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let lanes = N::value().comptime();
    let lane = column / config.width;
    let x = column % config.width;
    let line = (place.outer * view.width + place.vector(view, x)) * lanes + lane;
    let first = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
    let strip = config.strip;
    let mut search = StripLookback::<M::State>::new(place.own, column, &first, words, strip);
    search.publish_aggregate(state, aggregate);
    while search.advance::<A, M>(state, op) {
        let missing = search.missing();
        let other = total_of_tile::<T, A, N, B, M>(
            reads, view, place, missing, x, lane, identity, config, op,
        );
        search.publish_fallback::<A, M>(state, &other, op);
    }
    search.publish_prefix::<A, M>(state, aggregate, op);
    search.before::<A, M>(op)
}

/// The aggregate of another tile of the strip, in one lane of the `x`-th units. It is combined in the same order as by
/// these units.
#[cube]
fn total_of_tile<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    place: TilePlace,
    tile: usize,
    x: usize,
    lane: usize,
    identity: &M::State,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let lanes = N::value().comptime();
    let reads = reads.again();
    let one = comptime!(config.a_row());
    let mut total = M::State::copy(identity);
    let mut rows = splat::<M::State>(identity, lanes);
    let column = place.column(view, tile, x, 0usize, config);
    let end = column.first + comptime!(config.height * config.rows.prefetch_depth);
    let mut at = column.first;
    while at < end {
        let loaded = load_prefetched::<T, N, B>(&reads, view, &column, at, one);
        fold_rows::<T, A, N, M>(&mut rows, &loaded, &column, at, one, op);
        at += 1;
        if at % config.rows.prefetch_depth == 0 {
            let mut own = M::State::copy(identity);
            #[unroll]
            for other in 0..lanes {
                own = M::State::select(lane == other, &rows[other], &own);
                rows[other] = M::State::copy(identity);
            }
            total = join::<A, M>(&total, &own, op);
        }
    }
    total
}
