//! A tile of columns: where it lies, and the scan of its rows.

use super::before::look_back;
use super::shape::{ColumnTileConfig, columns_of};
use crate::monoid::{Monoid, State, join};
use crate::scan::components::column_exchange::{
    NarrowTile, leave_row, load_tile, own_row, store_tile,
};
use crate::scan::components::column_lookback::StripTile;
use crate::scan::components::columns::{
    Column, ColumnsView, fold_rows, load_prefetched, results_of_row, scan_row, splat,
};
use crate::scan::components::tensors::{Loaded, Reads, Writes, vectors_of};
use crate::scan::components::tile::{elements, park};
use crate::scan::components::tile_state::TileWords;
use cubecl::prelude::*;

/// Where one tile's units and columns lie.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct Place {
    pub own: StripTile,
    /// Groups of columns before this one, and the first vector of columns of the strip in its group.
    pub outer: usize,
    pub first: usize,
    /// Tiles of a strip.
    pub tiles: usize,
}

#[cube]
impl Place {
    /// The vector of columns of the `x`-th units; beyond the last, that again.
    pub fn vector(&self, view: &ColumnsView, x: usize) -> usize {
        min(self.first + x, view.width - 1)
    }

    /// The tile where it has whole rows.
    fn narrow(&self, view: &ColumnsView, #[comptime] config: ColumnTileConfig) -> NarrowTile {
        let rows = comptime!(config.height * config.rows.prefetch_depth);
        NarrowTile {
            first: self.own.tile * rows,
            vectors: rows * view.width,
        }
    }

    /// What the `x`-th unit of row `y` walks in the strip's tile `tile`.
    pub fn column(
        &self,
        view: &ColumnsView,
        tile: usize,
        x: usize,
        y: usize,
        #[comptime] config: ColumnTileConfig,
    ) -> Column {
        let chunk = (self.outer * self.tiles + tile) * config.height + y;
        view.column(chunk * view.width + self.vector(view, x), false)
    }
}
#[cube]
pub(crate) fn scan_tile<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    state: &[Atomic<u32>],
    view: &ColumnsView,
    place: Place,
    words: TileWords,
    seed: A,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let columns = comptime!(columns_of(lanes, config));
    let x = UNIT_POS as usize % config.width;
    let y = UNIT_POS as usize / config.width;
    let identity = M::identity(seed, op);
    let column = place.column(view, place.own.tile, x, y, config);
    let inputs = reads.inputs.len().comptime();
    let outputs = writes.outputs.len().comptime();
    let room = comptime!(config.waiting_room(inputs, outputs));
    let mut waiting = Shared::<[Vector<T, N>]>::new_slice(room);
    let tile = place.narrow(view, config);
    let loaded = load_rows::<T, N, B>(&mut waiting, reads, view, &column, tile, y, config);
    let mut total = splat::<M::State>(&identity, lanes);
    let whole = comptime!(config.whole());
    fold_rows::<T, A, N, M>(
        &mut total,
        0usize,
        &loaded,
        &column,
        column.first,
        whole,
        op,
    );

    // Of each row of units, and of each group. What precedes the tile takes the place of the last group, which nobody else reads.
    let totals = comptime!((config.first_group() + config.groups()) * columns);
    let mut shared = M::State::allocate(totals);
    let groups = comptime!(config.first_group() * columns);
    let last = comptime!(groups + (config.groups() - 1) * columns);
    #[unroll]
    for lane in 0..lanes {
        let at = y * columns + comptime!(lane * config.width) + x;
        M::State::set(&mut shared, at, &total[lane]);
    }
    sync_cube();
    if comptime!(config.group > 1) {
        fold_groups::<A, M>(&mut shared, &identity, columns, config, op);
        sync_cube();
    }
    let mut column_of_strip = UNIT_POS as usize;
    while column_of_strip < columns {
        let mut aggregate = M::State::copy(&identity);
        for group in 0..comptime!(config.groups()) {
            let state = M::State::get(&shared, groups + group * columns + column_of_strip);
            aggregate = join::<A, M>(&aggregate, &state, op);
        }
        let before = look_back::<T, A, N, B, M>(
            reads,
            state,
            view,
            place,
            column_of_strip,
            &aggregate,
            words,
            &identity,
            config,
            op,
        );
        M::State::set(&mut shared, last + column_of_strip, &before);
        column_of_strip += comptime!(config.width * config.height);
    }
    let mut earlier = splat::<M::State>(&identity, lanes);
    let group = y / config.group;
    #[unroll]
    for lane in 0..lanes {
        let own = comptime!(lane * config.width) + x;
        for other in 0..group {
            let state = M::State::get(&shared, groups + other * columns + own);
            earlier[lane] = join::<A, M>(&earlier[lane], &state, op);
        }
        if comptime!(config.group > 1) {
            let mut of_group = M::State::copy(&identity);
            for row in group * config.group..y {
                let state = M::State::get(&shared, row * columns + own);
                of_group = join::<A, M>(&of_group, &state, op);
            }
            earlier[lane] = join::<A, M>(&earlier[lane], &of_group, op);
        }
    }
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
            if comptime!(config.narrow) {
                let exchange = comptime!(config.exchange);
                let row = own_row::<T, N>(&waiting, view, &column, y, k, inputs, exchange);
                let results = results_of_row::<T, A, N, M>(
                    &mut running,
                    0usize,
                    &row,
                    &identity,
                    config.rows,
                    op,
                );
                let vectors = vectors_of::<T, A, N, M>(&results, outputs, op);
                leave_row::<T, N>(&mut waiting, &vectors, view, &column, y, k, exchange);
            } else {
                let row = elements::<T, N>(&loaded[k], &waiting, k, config.wait);
                scan_row::<T, A, N, P, M>(
                    writes,
                    &mut running,
                    0usize,
                    &row,
                    view,
                    &column,
                    column.first + k,
                    &identity,
                    config.rows,
                    op,
                );
            }
        }
    }
    if comptime!(config.narrow) {
        sync_cube();
        let exchange = comptime!(config.exchange);
        store_tile::<T, N, P>(&waiting, writes, view, &column, tile, exchange);
    }
}

/// The unit's rows, which wait in shared memory, too, where they are exchanged or parked there.
#[cube]
fn load_rows<T: Numeric, N: Size, B: Numeric>(
    waiting: &mut Shared<[Vector<T, N>]>,
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    column: &Column,
    tile: NarrowTile,
    y: usize,
    #[comptime] config: ColumnTileConfig,
) -> Sequence<Loaded<T, N>> {
    if comptime!(config.narrow) {
        let exchange = comptime!(config.exchange);
        let inputs = reads.inputs.len().comptime();
        load_tile::<T, N, B>(waiting, reads, view, column, tile, exchange);
        sync_cube();
        let mut rows = Sequence::<Loaded<T, N>>::new();
        #[unroll]
        for k in 0..config.rows.prefetch_depth {
            let row = own_row::<T, N>(&*waiting, view, column, y, k, inputs, exchange);
            rows.push(row);
        }
        rows
    } else {
        let rows = load_prefetched::<T, N, B>(reads, view, column, column.first, config.rows);
        #[unroll]
        for k in 0..config.wait.parked {
            park::<T, N>(waiting, &rows[k], k, config.wait);
        }
        rows
    }
}

/// Folds the totals of the rows of units in groups, a unit for each group and column.
#[cube]
fn fold_groups<A: Numeric, M: Monoid<A>>(
    shared: &mut <M::State as State>::Shared,
    identity: &M::State,
    #[comptime] columns: usize,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) {
    let groups = comptime!(config.groups() * columns);
    let mut own = UNIT_POS as usize;
    while own < groups {
        let first = own / columns * config.group;
        let column = own % columns;
        let mut total = M::State::copy(identity);
        for row in first..first + config.group {
            let state = M::State::get(&*shared, row * columns + column);
            total = join::<A, M>(&total, &state, op);
        }
        M::State::set(
            shared,
            comptime!(config.first_group() * columns) + own,
            &total,
        );
        own += config.rows.units;
    }
}
