//! The edges of rows, element by element; and launch 4, a unit for each edge.

use super::geometry::{Edge, place, straddled_row};
use crate::monoid::{Monoid, Operator, State, join, read_state};
use crate::scan::components::{
    chunks::PerUnitConfig,
    tensors::{Edges, Reads, Writes, begin_of_line, state_at},
};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The state of the element at `at`.
#[cube]
fn element<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    at: usize,
    #[comptime] op: M::Config,
) -> M::State {
    let mut values = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..reads.elements.len().comptime() {
        values.push(Vector::<T, N>::new(reads.elements[i][at]));
    }
    let edges = Edges::new();
    state_at::<T, A, N, M>(&values, 0usize, &edges, 0usize, 0usize.runtime(), op)
}

/// Adds the elements of an edge to what precedes it.
#[cube]
pub(super) fn fold_edge<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    edge: &Edge,
    before: &M::State,
    #[comptime] reverse: bool,
    #[comptime] op: M::Config,
) -> M::State {
    let mut running = M::State::copy(before);
    for i in 0..edge.count {
        let at = place(edge, i, reverse);
        let state = element::<T, A, N, B, M>(reads, at, op);
        running = join::<A, M>(&running, &state, op);
    }
    running
}

/// A unit for each edge of each row. `behind` holds what precedes the edges behind the vectors.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn row_edges_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    behind: &[u32],
    len: usize,
    edges: usize,
    seed: InputScalar,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < edges {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        scan_edge::<T, A, N, B, P, O::Monoid<A>>(reads, writes, behind, len, &identity, config, op);
    }
}

#[cube]
fn scan_edge<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    behind: &[u32],
    len: usize,
    identity: &M::State,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: M::Config,
) {
    let (line, is_behind) = (ABSOLUTE_POS / 2, ABSOLUTE_POS % 2 == 1);
    let inputs = reads.elements.len().comptime();
    let row = straddled_row::<N>(line, len, inputs, config.reverse);
    let edge = Edge {
        start: select(is_behind, row.behind.start, row.before.start),
        count: select(is_behind, row.behind.count, row.before.count),
    };
    let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
    let mut running = M::State::select(is_behind, &read_state::<M::State>(behind, line), &begin);
    for i in 0..edge.count {
        let at = place(&edge, i, config.reverse);
        let state = element::<T, A, N, B, M>(reads, at, op);
        let with = join::<A, M>(&running, &state, op);
        let mut result = M::State::copy(&with);
        if comptime!(config.exclusive) {
            result = M::State::copy(&running);
        }
        let written = M::write(&result, op);
        #[unroll]
        for output in 0..writes.elements.len().comptime() {
            let to = &mut writes.elements[output];
            to[at] = T::cast_from(written.values[output]);
        }
        running = with;
    }
}
