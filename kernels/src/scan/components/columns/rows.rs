//! The rows of columns: loaded ahead, combined into totals, scanned and written.

use super::view::{Column, ColumnsConfig, ColumnsView, is_inside};
use crate::monoid::{Monoid, State, join};
use crate::scan::components::args::{Reads, Writes};
use crate::scan::components::tensors::{Edges, Loaded, state_of, stored_at, write_vector};
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
    let lanes = N::value().comptime();
    let mut rows = Sequence::<Loaded<T, N>>::new();
    #[unroll]
    for k in 0..config.prefetch_depth {
        let position = stored_at(within(at + k, column, config), view.len, config.reverse);
        let mut vectors = Sequence::<Vector<T, N>>::new();
        #[unroll]
        for i in 0..comptime!(reads.inputs) {
            vectors.push(reads.vector(i, column.inputs[i] + position * view.strides[i]));
        }
        let mut edges = Edges::new();
        #[unroll]
        for lane in 0..lanes {
            let index = (column.output + position * view.width) * lanes + lane;
            let apart = view.width * lanes;
            edges.push::<T, N, B>(reads, index, position, view.len, apart, config.reverse);
        }
        rows.push(Loaded::<T, N> {
            vectors,
            edges,
            position,
            step: 0usize,
        });
    }
    rows
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

/// Adds the rows that were loaded from logical row `at` on to the totals of their lanes.
#[cube]
pub(crate) fn fold_rows<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    totals: &mut Sequence<M::State>,
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
            let with = join::<A, M>(&totals[lane], &state, op);
            totals[lane] = M::State::select(inside, &with, &totals[lane]);
        }
    }
}

/// Writes the scan of one loaded row. `running` is what precedes it, and the row is added to it.
#[cube]
#[allow(
    clippy::too_many_arguments,
    reason = "what a row is written from, and the facts of a kernel"
)]
pub(crate) fn scan_row<T: Numeric, A: Numeric, N: Size, P: Numeric, M: Monoid<A>>(
    writes: &mut Writes<T, N, P>,
    running: &mut Sequence<M::State>,
    row: &Loaded<T, N>,
    view: &ColumnsView,
    column: &Column,
    logical: usize,
    identity: &M::State,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    let mut results = Sequence::<M::State>::new();
    #[unroll]
    for lane in 0..N::value().comptime() {
        let state = state_of::<T, A, N, M>(row, lane, op);
        let with = join::<A, M>(&running[lane], &state, op);
        if comptime!(config.exclusive) {
            let before = &running[lane];
            results.push(row.edges.before::<M::State>(before, identity, lane));
        } else {
            results.push(M::State::copy(&with));
        }
        running[lane] = with;
    }
    if is_inside(logical, column, config) {
        let to = column.output + stored_at(logical, view.len, config.reverse) * view.width;
        write_vector::<T, A, N, P, M>(writes, to, &results, false, op);
    }
}
