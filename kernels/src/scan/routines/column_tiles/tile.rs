//! The scan of a tile of columns.

use super::before::look_back;
use super::place::TilePlace;
use super::shape::ColumnTileConfig;
use crate::monoid::{Monoid, State, join};
use crate::scan::components::args::{Reads, Writes};
use crate::scan::components::columns::{ColumnsView, fold_rows, load_prefetched, scan_row, splat};
use crate::scan::components::tile::{elements, stage, staged_vectors};
use crate::scan::components::tile_state::TileWords;
use cubecl::prelude::*;

/// Scans one tile: loads the rows of units, folds their totals, looks back, and writes.
#[cube]
pub(crate) fn scan_tile<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    state: &[Atomic<u32>],
    view: &ColumnsView,
    place: TilePlace,
    words: TileWords,
    seed: A,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let columns = config.strip.columns;
    let x = UNIT_POS as usize % config.width;
    let y = UNIT_POS as usize / config.width;
    let identity = M::identity(seed, op);
    let column = place.column(view, place.own.tile, x, y, config);
    let room = comptime!(staged_vectors(reads.inputs, config.wait));
    let mut waiting = Shared::<[Vector<T, N>]>::new_slice(room);
    let loaded = load_prefetched::<T, N, B>(reads, view, &column, column.first, config.rows);
    #[unroll]
    for k in 0..config.wait.staged {
        stage::<T, N>(&mut waiting, &loaded[k], k, config.wait);
    }
    let mut total = splat::<M::State>(&identity, lanes);
    let whole = comptime!(config.whole());
    fold_rows::<T, A, N, M>(&mut total, &loaded, &column, column.first, whole, op);

    let mut shared = M::State::allocate(comptime!(config.height * columns));
    #[unroll]
    for lane in 0..lanes {
        let at = y * columns + comptime!(lane * config.width) + x;
        M::State::set(&mut shared, at, &total[lane]);
    }
    sync_cube();

    // A unit for each column of the strip. What precedes the tile takes the place of the last row's total, which no
    // other unit reads.
    let last = comptime!((config.height - 1) * columns);
    let mut of_strip = UNIT_POS as usize;
    while of_strip < columns {
        let mut aggregate = M::State::copy(&identity);
        for row in 0..comptime!(config.height) {
            let state = M::State::get(&shared, row * columns + of_strip);
            aggregate = join::<A, M>(&aggregate, &state, op);
        }
        let before = look_back::<T, A, N, B, M>(
            reads, state, view, place, of_strip, &aggregate, words, &identity, config, op,
        );
        M::State::set(&mut shared, last + of_strip, &before);
        of_strip += comptime!(config.width * config.height);
    }
    let earlier = earlier_rows::<A, M>(&shared, x, y, &identity, lanes, columns, config, op);
    sync_cube();
    let mut running = splat::<M::State>(&identity, lanes);
    #[unroll]
    for lane in 0..lanes {
        let at = comptime!(last + lane * config.width) + x;
        let before = M::State::get(&shared, at);
        running[lane] = join::<A, M>(&before, &earlier[lane], op);
    }
    if place.first + x < view.width {
        #[unroll]
        for k in 0..config.rows.prefetch_depth {
            let row = elements::<T, N>(&loaded[k], &waiting, k, config.wait);
            let at = column.first + k;
            scan_row::<T, A, N, P, M>(
                writes,
                &mut running,
                &row,
                view,
                &column,
                at,
                &identity,
                config.rows,
                op,
            );
        }
    }
}

/// The total of the rows of units before row `y`, in each lane of the `x`-th units.
#[cube]
fn earlier_rows<A: Numeric, M: Monoid<A>>(
    shared: &<M::State as State>::Shared,
    x: usize,
    y: usize,
    identity: &M::State,
    #[comptime] lanes: usize,
    #[comptime] columns: usize,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) -> Sequence<M::State> {
    let mut earlier = splat::<M::State>(identity, lanes);
    #[unroll]
    for lane in 0..lanes {
        let own = comptime!(lane * config.width) + x;
        for row in 0..y {
            let state = M::State::get(shared, row * columns + own);
            earlier[lane] = join::<A, M>(&earlier[lane], &state, op);
        }
    }
    earlier
}
