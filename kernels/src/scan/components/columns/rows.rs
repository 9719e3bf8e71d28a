//! The rows of columns: loaded ahead, combined into totals, scanned and written.

use super::view::{Column, ColumnsConfig, ColumnsView, is_inside};
use crate::monoid::{Monoid, State, join};
use crate::scan::components::tensors::{
    Edges, Loaded, Reads, Writes, begin_of_line, state_of, write_vector,
};
use cubecl::prelude::*;

/// Loads the rows that a unit prefetches, from logical row `at` on, of each input. Rows beyond the last repeat it.
#[cube]
pub(crate) fn load_prefetched<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    column: &Column,
    at: usize,
    #[comptime] config: ColumnsConfig,
) -> Sequence<Loaded<T, N>> {
    let mut rows = Sequence::<Loaded<T, N>>::new();
    #[unroll]
    for k in 0..config.prefetch_depth {
        let logical = within(at + k, column, config);
        rows.push(load_row::<T, N, B>(reads, view, column, logical, config));
    }
    rows
}

/// As [`load_prefetched`], of each of several columns. The loads are in the order of memory, in which processors
/// prefetch.
#[cube]
pub(crate) fn load_abreast<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    columns: &Sequence<Column>,
    at: usize,
    #[comptime] config: ColumnsConfig,
) -> Sequence<Sequence<Loaded<T, N>>> {
    let mut loaded = Sequence::<Sequence<Loaded<T, N>>>::new();
    #[unroll]
    for _ in 0..config.abreast {
        loaded.push(Sequence::<Loaded<T, N>>::new());
    }
    let backwards = comptime!(config.reverse && !config.upwards);
    #[unroll]
    for turn in 0..config.prefetch_depth {
        let k = comptime!(if backwards {
            config.prefetch_depth - 1 - turn
        } else {
            turn
        });
        #[unroll]
        for i in 0..config.abreast {
            let column = &columns[i];
            let logical = within(at + k, column, config);
            let row = load_row::<T, N, B>(reads, view, column, logical, config);
            let rows = &mut loaded[i];
            rows.push(row);
        }
    }
    if comptime!(backwards) {
        #[unroll]
        for i in 0..config.abreast {
            let rows = &mut loaded[i];
            rows.reverse();
        }
    }
    loaded
}

/// A logical row; beyond the last, that one again.
#[cube]
fn within(logical: usize, column: &Column, #[comptime] config: ColumnsConfig) -> usize {
    if comptime!(config.overshoots) {
        min(logical, column.end - 1)
    } else {
        logical
    }
}

#[cube]
fn load_row<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    column: &Column,
    logical: usize,
    #[comptime] config: ColumnsConfig,
) -> Loaded<T, N> {
    let lanes = N::value().comptime();
    let reverse = comptime!(config.reverse);
    let position = view.stored(logical, comptime!(reverse && !config.upwards));
    let mut vectors = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..reads.inputs.len().comptime() {
        vectors.push(reads.inputs[i][column.inputs[i] + position * view.strides[i]]);
    }
    let mut edges = Edges::new();
    let apart = view.width * lanes;
    #[unroll]
    for lane in 0..lanes {
        let index = (column.output + position * view.width) * lanes + lane;
        edges.push::<T, N, B>(reads, index, position, view.len, apart, reverse);
    }
    Loaded::<T, N> {
        vectors,
        edges,
        position,
        step: 0usize,
    }
}

/// The same state in every lane.
#[cube]
pub(crate) fn splat<S: State>(state: &S, #[comptime] lanes: usize) -> Sequence<S> {
    let mut states = Sequence::<S>::new();
    #[unroll]
    for _ in 0..lanes {
        states.push(S::copy(state));
    }
    states
}

/// What precedes the first row, in each lane.
#[cube]
pub(crate) fn begin_of_lines<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    column: &Column,
    identity: &M::State,
    #[comptime] op: M::Config,
) -> Sequence<M::State> {
    let lanes = N::value().comptime();
    let mut starts = Sequence::<M::State>::new();
    #[unroll]
    for lane in 0..lanes {
        let line = column.line * lanes + lane;
        starts.push(begin_of_line::<T, A, M>(&reads.initial, line, identity, op));
    }
    starts
}

/// Adds the rows that were loaded from logical row `at` on to the totals of their columns, `totals[first]` and so on.
#[cube]
pub(crate) fn fold_rows<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    totals: &mut Sequence<M::State>,
    #[comptime] first: usize,
    loaded: &Sequence<Loaded<T, N>>,
    column: &Column,
    at: usize,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    #[unroll]
    for k in 0..config.prefetch_depth {
        let inside = is_inside(at + k, column, config);
        #[unroll]
        for lane in 0..N::value().comptime() {
            let state = state_of::<T, A, N, M>(&loaded[k], lane, op);
            let place = comptime!(first + lane);
            let with = if comptime!(config.upwards) {
                join::<A, M>(&state, &totals[place], op)
            } else {
                join::<A, M>(&totals[place], &state, op)
            };
            totals[place] = M::State::select(inside, &with, &totals[place]);
        }
    }
}

/// The scan of one loaded row. `running[first]` and so on precede it, and have the row added.
#[cube]
pub(crate) fn results_of_row<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    running: &mut Sequence<M::State>,
    #[comptime] first: usize,
    row: &Loaded<T, N>,
    identity: &M::State,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) -> Sequence<M::State> {
    let mut results = Sequence::<M::State>::new();
    #[unroll]
    for lane in 0..N::value().comptime() {
        let state = state_of::<T, A, N, M>(row, lane, op);
        let place = comptime!(first + lane);
        let with = join::<A, M>(&running[place], &state, op);
        if comptime!(config.exclusive) {
            let before = &running[place];
            results.push(row.edges.before::<M::State>(before, identity, lane));
        } else {
            results.push(M::State::copy(&with));
        }
        running[place] = with;
    }
    results
}

/// Writes the scan of one row, as [`results_of_row`] says.
#[cube]
#[allow(
    clippy::too_many_arguments,
    reason = "what a row is written from, and the facts of a kernel"
)]
pub(crate) fn scan_row<T: Numeric, A: Numeric, N: Size, P: Numeric, M: Monoid<A>>(
    writes: &mut Writes<T, N, P>,
    running: &mut Sequence<M::State>,
    #[comptime] first: usize,
    row: &Loaded<T, N>,
    view: &ColumnsView,
    column: &Column,
    logical: usize,
    identity: &M::State,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    let results = results_of_row::<T, A, N, M>(running, first, row, identity, config, op);
    if is_inside(logical, column, config) {
        let to = column.output + view.stored(logical, config.reverse) * view.width;
        write_vector::<T, A, N, P, M>(writes, to, &results, false, op);
    }
}
