//! What a scan reads and writes, a vector of each tensor at a time.

use crate::monoid::{Element, Monoid, NOWHERE, State, Written};
use cubecl::prelude::*;

/// The tensors that a scan reads.
#[derive(CubeType, CubeLaunch)]
pub(crate) struct Reads<T: Numeric, N: Size, B: Numeric> {
    /// The elements.
    pub inputs: Sequence<&'static [Vector<T, N>]>,
    /// Anything but zero where a segment begins in memory, contiguous; one tensor or none.
    pub begins: Sequence<&'static [B]>,
    /// What each line resumes, line after line; a tensor for each output, or none.
    pub initial: Sequence<&'static [T]>,
}

/// The tensors it writes, all of them contiguous.
#[derive(CubeType, CubeLaunch)]
pub(crate) struct Writes<T: Numeric, N: Size, P: Numeric> {
    /// The results.
    pub outputs: Sequence<&'static mut [Vector<T, N>]>,
    /// Where they were met; one tensor or none.
    pub positions: Sequence<&'static mut [Vector<P, N>]>,
}

/// A vector of each input.
#[derive(CubeType)]
pub(crate) struct Loaded<T: Numeric, N: Size> {
    pub vectors: Sequence<Vector<T, N>>,
    /// Of each lane, whether a segment begins there in the order of the scan; empty where there are no segments.
    pub begins: Sequence<bool>,
    /// The position of the first lane in its line.
    pub position: usize,
    /// From lane to lane: 1 where a vector lies along a line, 0 where it lies across.
    #[cube(comptime)]
    pub step: usize,
}

/// The lane that is `step`-th in the order of the scan.
pub(crate) fn lane_at(step: usize, lanes: usize, reverse: bool) -> usize {
    if reverse { lanes - 1 - step } else { step }
}

/// Whether a segment begins, in the order of the scan, at element `index` of the tensor: in reverse, where one begins in memory at the
/// element behind, `apart` further. Nothing is behind the last element of a line.
#[cube]
pub(crate) fn begins_at<B: Numeric>(
    begins: &Sequence<&'static [B]>,
    index: usize,
    apart: usize,
    is_last: bool,
    #[comptime] reverse: bool,
) -> bool {
    if comptime!(reverse) {
        let behind = select(is_last, index, index + apart);
        let begins = begins[0][behind] != B::from_int(0);
        select(is_last, false, begins)
    } else {
        begins[0][index] != B::from_int(0)
    }
}

/// The state of one lane, at this position of its line.
#[cube]
pub(crate) fn state_at<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    vectors: &Sequence<Vector<T, N>>,
    #[comptime] lane: usize,
    begins: bool,
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
        begins,
        position,
    };
    M::read(&element, op)
}

/// The state of one lane.
#[cube]
pub(crate) fn state_of<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    loaded: &Loaded<T, N>,
    #[comptime] lane: usize,
    #[comptime] op: M::Config,
) -> M::State {
    let position = loaded.position + comptime!(lane * loaded.step);
    let begins = lane_begins(&loaded.begins, lane);
    state_at::<T, A, N, M>(&loaded.vectors, lane, begins, position, op)
}

#[cube]
pub(crate) fn lane_begins(begins: &Sequence<bool>, #[comptime] lane: usize) -> bool {
    if comptime!(begins.len() > 0) {
        begins[lane]
    } else {
        false.runtime()
    }
}

/// What precedes an element in its segment, `before` being what precedes it in its line.
#[cube]
pub(crate) fn before_element<S: State>(
    before: &S,
    identity: &S,
    begins: &Sequence<bool>,
    #[comptime] lane: usize,
) -> S {
    if comptime!(begins.len() > 0) {
        S::select(begins[lane], identity, before)
    } else {
        S::copy(before)
    }
}

/// What precedes the first element of a line.
#[cube]
pub(crate) fn begin_of_line<T: Numeric, A: Numeric, M: Monoid<A>>(
    initial: &Sequence<&'static [T]>,
    line: usize,
    identity: &M::State,
    #[comptime] op: M::Config,
) -> M::State {
    if comptime!(initial.len() > 0) {
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

/// Writes vector `at` of each output; the states are in the order of the scan.
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
    for i in 0..writes.outputs.len().comptime() {
        let mut result = Vector::<T, N>::new(T::from_int(0));
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(lane_at(step, lanes, reverse));
            let written = &written[step];
            result.insert(lane, T::cast_from(written.values[i]));
        }
        let output = &mut writes.outputs[i];
        output[at] = result;
    }
    #[unroll]
    for i in 0..writes.positions.len().comptime() {
        let mut result = Vector::<P, N>::new(P::from_int(0));
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(lane_at(step, lanes, reverse));
            let written = &written[step];
            let position = written.position;
            let nowhere = position == NOWHERE;
            result.insert(
                lane,
                select(nowhere, P::from_int(-1), P::cast_from(position)),
            );
        }
        let output = &mut writes.positions[i];
        output[at] = result;
    }
}
