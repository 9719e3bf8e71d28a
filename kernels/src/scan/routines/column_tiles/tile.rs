//! The scan of a tile of columns.

use super::before::look_back;
use super::place::Place;
use super::shape::{ColumnTileConfig, columns_of};
use crate::monoid::{Monoid, State, join};
use crate::scan::components::column_exchange::{
    NarrowTile, leave_row, load_tile, own_row, store_tile,
};
use crate::scan::components::columns::{
    Column, ColumnsView, fold_rows, load_prefetched, results_of_row, scan_row, splat,
};
use crate::scan::components::tensors::{Loaded, Reads, Writes, vectors_of};
use crate::scan::components::tile::{elements, stage};
use crate::scan::components::tile_state::TileWords;
use cubecl::prelude::*;

/// Scans one tile: loads the rows of units, folds their totals, looks back, and writes.
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
    fold_rows::<T, A, N, M>(&mut total, &loaded, &column, column.first, whole, op);

    let last = comptime!((config.first_group() + config.groups() - 1) * columns);
    let mut shared = share_totals::<A, M>(&total, x, y, &identity, lanes, columns, config, op);
    look_back_in_columns::<T, A, N, B, M>(
        &mut shared,
        reads,
        state,
        view,
        place,
        words,
        &identity,
        columns,
        config,
        op,
    );
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
        scan_rows::<T, A, N, P, M>(
            writes,
            &mut waiting,
            &mut running,
            &loaded,
            view,
            &column,
            y,
            &identity,
            inputs,
            config,
            op,
        );
    }
    if comptime!(config.narrow) {
        sync_cube();
        let exchange = comptime!(config.exchange);
        store_tile::<T, N, P>(&waiting, writes, view, &column, tile, exchange);
    }
}

/// Puts the totals of all units into shared memory, and folds them in groups. The groups' totals lie behind them.
#[cube]
fn share_totals<A: Numeric, M: Monoid<A>>(
    total: &Sequence<M::State>,
    x: usize,
    y: usize,
    identity: &M::State,
    #[comptime] lanes: usize,
    #[comptime] columns: usize,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) -> <M::State as State>::Shared {
    let totals = comptime!((config.first_group() + config.groups()) * columns);
    let mut shared = M::State::allocate(totals);
    #[unroll]
    for lane in 0..lanes {
        let at = y * columns + comptime!(lane * config.width) + x;
        M::State::set(&mut shared, at, &total[lane]);
    }
    sync_cube();
    if comptime!(config.group > 1) {
        fold_groups::<A, M>(&mut shared, identity, columns, config, op);
        sync_cube();
    }
    shared
}

/// A unit for each column of the strip: folds the tile's aggregate from the totals in `shared` and looks back. What
/// precedes the tile takes the place of the last group, which no other unit reads.
#[cube]
fn look_back_in_columns<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    shared: &mut <M::State as State>::Shared,
    reads: &Reads<T, N, B>,
    state: &[Atomic<u32>],
    view: &ColumnsView,
    place: Place,
    words: TileWords,
    identity: &M::State,
    #[comptime] columns: usize,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) {
    let groups = comptime!(config.first_group() * columns);
    let last = comptime!(groups + (config.groups() - 1) * columns);
    let mut column_of_strip = UNIT_POS as usize;
    while column_of_strip < columns {
        let mut aggregate = M::State::copy(identity);
        for group in 0..comptime!(config.groups()) {
            let state = M::State::get(&*shared, groups + group * columns + column_of_strip);
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
            identity,
            config,
            op,
        );
        M::State::set(shared, last + column_of_strip, &before);
        column_of_strip += comptime!(config.width * config.height);
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
    let groups = comptime!(config.first_group() * columns);
    let mut earlier = splat::<M::State>(identity, lanes);
    let group = y / config.group;
    #[unroll]
    for lane in 0..lanes {
        let own = comptime!(lane * config.width) + x;
        for other in 0..group {
            let state = M::State::get(shared, groups + other * columns + own);
            earlier[lane] = join::<A, M>(&earlier[lane], &state, op);
        }
        if comptime!(config.group > 1) {
            let mut of_group = M::State::copy(identity);
            for row in group * config.group..y {
                let state = M::State::get(shared, row * columns + own);
                of_group = join::<A, M>(&of_group, &state, op);
            }
            earlier[lane] = join::<A, M>(&earlier[lane], &of_group, op);
        }
    }
    earlier
}

/// Scans the unit's rows, which `running` precedes. Writes the results, or leaves them in `waiting` where units
/// exchange them.
#[cube]
fn scan_rows<T: Numeric, A: Numeric, N: Size, P: Numeric, M: Monoid<A>>(
    writes: &mut Writes<T, N, P>,
    waiting: &mut Shared<[Vector<T, N>]>,
    running: &mut Sequence<M::State>,
    loaded: &Sequence<Loaded<T, N>>,
    view: &ColumnsView,
    column: &Column,
    y: usize,
    identity: &M::State,
    #[comptime] inputs: usize,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) {
    let outputs = writes.outputs.len().comptime();
    #[unroll]
    for k in 0..config.rows.prefetch_depth {
        if comptime!(config.narrow) {
            let exchange = comptime!(config.exchange);
            let row = own_row::<T, N>(&*waiting, view, column, y, k, inputs, exchange);
            let results = results_of_row::<T, A, N, M>(running, &row, identity, config.rows, op);
            let vectors = vectors_of::<T, A, N, M>(&results, outputs, op);
            leave_row::<T, N>(waiting, &vectors, view, column, y, k, exchange);
        } else {
            let row = elements::<T, N>(&loaded[k], &*waiting, k, config.wait);
            scan_row::<T, A, N, P, M>(
                writes,
                running,
                &row,
                view,
                column,
                column.first + k,
                identity,
                config.rows,
                op,
            );
        }
    }
}

/// Loads the unit's rows, and exchanges or stages them in shared memory.
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
        for k in 0..config.wait.staged {
            stage::<T, N>(waiting, &rows[k], k, config.wait);
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
        own += comptime!(config.width * config.height);
    }
}
