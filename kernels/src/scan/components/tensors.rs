//! The elements of vectors: read as states, and written from them.

use super::args::{Reads, Writes};
use crate::monoid::{Element, Monoid, NOWHERE, State, Written};
use cubecl::prelude::*;

/// A vector of each input.
#[derive(CubeType)]
pub(crate) struct Loaded<T: Numeric, N: Size> {
    pub vectors: Sequence<Vector<T, N>>,
    /// The edges of segments in each lane.
    pub edges: Edges,
    /// The position of the first lane in its line.
    pub position: usize,
    /// The step from lane to lane: 1 if vectors lie along a line, 0 if across.
    #[cube(comptime)]
    pub step: usize,
}

/// Where segments begin and end, in the order of the scan. Empty without segments.
#[derive(CubeType, Clone)]
#[expand(derive(Clone))]
pub(crate) struct Edges {
    starts: Sequence<bool>,
    ends: Sequence<bool>,
}

/// Where the `step`-th of `count` in the order of the scan lies in memory.
#[cube]
pub(crate) fn stored_at(step: usize, count: usize, #[comptime] reverse: bool) -> usize {
    if comptime!(reverse) {
        count - 1 - step
    } else {
        step
    }
}

fn any(len: usize) -> bool {
    len > 0
}

#[cube]
impl Edges {
    pub fn new() -> Edges {
        Edges {
            starts: Sequence::new(),
            ends: Sequence::new(),
        }
    }

    /// Adds the edges of the element at `index` of the tensor. In memory it is the `position`-th of the `len` elements
    /// of its line, which lie `apart` from one another.
    pub fn push<T: Numeric, N: Size, B: Numeric>(
        &mut self,
        reads: &Reads<T, N, B>,
        index: usize,
        position: usize,
        len: usize,
        apart: usize,
        #[comptime] reverse: bool,
    ) {
        #[unroll]
        for _ in 0..reads.starts.len().comptime() {
            let marked = reads.starts[0][index] != B::from_int(0);
            if comptime!(reads.opposed) {
                let (at_begin, at_end) = (position == 0, position + 1 == len);
                let mut is_first = at_begin;
                let mut is_last = at_end;
                let mut before = index - select(at_begin, 0, apart);
                if comptime!(reverse) {
                    is_first = at_end;
                    is_last = at_begin;
                    before = index + select(at_end, 0, apart);
                }
                let parted = reads.starts[0][before] != B::from_int(0);
                self.starts.push(select(is_first, false, parted));
                self.ends.push(select(is_last, true, marked));
            } else {
                self.starts.push(marked);
                self.ends.push(false.runtime());
            }
        }
    }

    /// What precedes an element in its segment. `before` precedes it in its line.
    pub fn before<S: State>(&self, before: &S, identity: &S, #[comptime] lane: usize) -> S {
        if comptime!(any(self.starts.len())) {
            S::select(self.starts[lane], identity, before)
        } else {
            S::copy(before)
        }
    }
}

/// Whether there is an edge in a lane.
#[cube]
fn is_edge(edges: &Sequence<bool>, #[comptime] lane: usize) -> bool {
    if comptime!(any(edges.len())) {
        edges[lane]
    } else {
        false.runtime()
    }
}

/// The state of the elements in one lane, at this position of their line. `edge` is the lane of their edges.
#[cube]
pub(crate) fn state_at<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    vectors: &Sequence<Vector<T, N>>,
    #[comptime] lane: usize,
    edges: &Edges,
    #[comptime] edge: usize,
    position: usize,
    #[comptime] op: M::Config,
) -> M::State {
    let mut values = Sequence::<A>::new();
    #[unroll]
    for i in 0..vectors.len().comptime() {
        values.push(A::cast_from(vectors[i].extract(lane)));
    }
    let element = Element::<A> {
        values,
        starts: is_edge(&edges.starts, edge),
        ends: is_edge(&edges.ends, edge),
        position,
    };
    M::read(&element, op)
}

#[cube]
pub(crate) fn state_of<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    loaded: &Loaded<T, N>,
    #[comptime] lane: usize,
    #[comptime] op: M::Config,
) -> M::State {
    let position = loaded.position + comptime!(lane * loaded.step);
    state_at::<T, A, N, M>(&loaded.vectors, lane, &loaded.edges, lane, position, op)
}

/// What precedes the first element of a line.
#[cube]
pub(crate) fn begin_of_line<T: Numeric, A: Numeric, M: Monoid<A>>(
    initial: &Sequence<&'static [T]>,
    line: usize,
    identity: &M::State,
    #[comptime] op: M::Config,
) -> M::State {
    if comptime!(any(initial.len())) {
        let mut written = Sequence::<A>::new();
        #[unroll]
        for i in 0..initial.len().comptime() {
            written.push(A::cast_from(initial[i][line]));
        }
        M::resume(&written, op)
    } else {
        M::State::copy(identity)
    }
}

/// The position of a result, as it is written.
#[cube]
pub(crate) fn written_position<A: Numeric, P: Numeric>(written: &Written<A>) -> P {
    let position = written.position;
    select(position == NOWHERE, P::from_int(-1), P::cast_from(position))
}

/// Writes vector `at` of each output. The states are in the order of the scan.
#[cube]
pub(crate) fn write_vector<T: Numeric, A: Numeric, N: Size, P: Numeric, M: Monoid<A>>(
    writes: &mut Writes<T, N, P>,
    at: usize,
    states: &Sequence<M::State>,
    #[comptime] reverse: bool,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let mut written = Sequence::<Written<A>>::new();
    #[unroll]
    for step in 0..lanes {
        written.push(M::write(&states[step], op));
    }
    #[unroll]
    for i in 0..comptime!(writes.outputs) {
        let mut result = Vector::<T, N>::new(T::from_int(0));
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(stored_at(step, lanes, reverse));
            let written = &written[step];
            result.insert(lane, T::cast_from(written.values[i]));
        }
        writes.vector(i, at, result);
    }
    #[unroll]
    for i in 0..writes.positions.len().comptime() {
        let mut result = Vector::<P, N>::new(P::from_int(0));
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(stored_at(step, lanes, reverse));
            result.insert(lane, written_position::<A, P>(&written[step]));
        }
        let output = &mut writes.positions[i];
        output[at] = result;
    }
}
