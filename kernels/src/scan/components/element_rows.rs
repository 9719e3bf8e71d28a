//! Rows whose ends vectors straddle: rows of an odd length, or with an odd offset.
//!
//! Elements are read and written one by one, and form vectors in between. So tiles keep their size, and only memory
//! accesses differ from other rows. A plane reads neighbouring elements together. Its units exchange them until each
//! has the elements of its own vector ([`plane_transpose`](super::plane_transpose)). Results go back the same way. (CUB
//! reads all rows so: `BLOCK_LOAD_WARP_TRANSPOSE`.) Without planes, each unit reads its own elements.
//!
//! Beyond the end of a row its last element is read again.

use super::args::{Reads, Writes};
use super::plane_scan::{lane_of_unit, plane_units};
use super::plane_transpose::{blocked_to_striped, striped_to_blocked};
use super::tensors::{Edges, Loaded, lane_at, written_position};
use super::tile::row::Row;
use crate::monoid::{Monoid, Written};
use cubecl::prelude::*;

/// Who reads which elements.
#[derive_cube_comptime]
pub(crate) struct ElementAccess {
    /// The units of a plane for one another.
    pub plane: bool,
    /// Units of a plane, or 0 if they are not known.
    pub plane_size: usize,
    pub reverse: bool,
}

/// Where a row's logical element lies in memory.
#[cube]
fn stored_element(logical: usize, row: &Row, #[comptime] reverse: bool) -> usize {
    if comptime!(reverse) {
        row.stored - 1 - logical
    } else {
        logical
    }
}

/// The logical element that this unit reads and writes in turn `turn`. `logical` is its own vector.
#[cube]
fn element_of_turn<N: Size>(
    logical: usize,
    #[comptime] turn: usize,
    #[comptime] access: ElementAccess,
) -> usize {
    let lanes = N::value().comptime();
    if comptime!(access.plane) {
        let lane = lane_of_unit(access.plane_size) as usize;
        (logical - lane) * lanes + turn * plane_units(access.plane_size) as usize + lane
    } else {
        logical * lanes + turn
    }
}

/// Replaces the elements that the unit has read by the elements of its own vector.
#[cube]
fn hand_over<A: Numeric>(
    elements: &mut Array<A>,
    #[comptime] lanes: usize,
    #[comptime] access: ElementAccess,
) {
    if comptime!(access.plane) {
        let own = striped_to_blocked::<A>(&*elements, lanes, access.plane_size);
        #[unroll]
        for i in 0..lanes {
            elements[i] = own[i];
        }
    }
}

/// Replaces the elements of the unit's own vector by the elements that it writes.
#[cube]
fn hand_back<A: Numeric>(
    elements: &mut Array<A>,
    #[comptime] lanes: usize,
    #[comptime] access: ElementAccess,
) {
    if comptime!(access.plane) {
        let others = blocked_to_striped::<A>(&*elements, lanes, access.plane_size);
        #[unroll]
        for i in 0..lanes {
            elements[i] = others[i];
        }
    }
}

/// A logical vector of the row, of each input.
#[cube]
pub(crate) fn load_elements<T: Numeric, A: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    row: &Row,
    logical: usize,
    #[comptime] access: ElementAccess,
) -> Loaded<T, N> {
    let lanes = N::value().comptime();
    let last = row.stored - 1;
    let mut vectors = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..comptime!(reads.inputs) {
        let mut elements = Array::<A>::new(lanes);
        #[unroll]
        for turn in 0..lanes {
            let element = min(element_of_turn::<N>(logical, turn, access), last);
            let at = row.inputs[i] + stored_element(element, row, access.reverse);
            elements[turn] = A::cast_from(reads.element(i, at));
        }
        hand_over::<A>(&mut elements, lanes, access);
        let mut vector = Vector::<T, N>::new(T::from_int(0));
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(lane_at(step, lanes, access.reverse));
            vector.insert(lane, T::cast_from(elements[step]));
        }
        vectors.push(vector);
    }
    let mut edges = Edges::new();
    #[unroll]
    for lane in 0..lanes {
        let step = comptime!(lane_at(lane, lanes, access.reverse));
        let position = stored_element(min(logical * lanes + step, last), row, access.reverse);
        let index = row.output + position;
        edges.push::<T, N, B>(reads, index, position, row.stored, 1usize, access.reverse);
    }
    let mut position = logical * lanes;
    if comptime!(access.reverse) {
        position = row.stored - (logical + 1) * lanes;
    }
    Loaded::<T, N> {
        vectors,
        edges,
        position,
        step: 1usize,
    }
}

/// Writes a logical vector of each output. The states are in the order of the scan. Every unit of a plane takes part,
/// also beyond the end of the row.
#[cube]
pub(crate) fn write_elements<T: Numeric, A: Numeric, N: Size, P: Numeric, M: Monoid<A>>(
    writes: &mut Writes<T, N, P>,
    row: &Row,
    logical: usize,
    states: &Sequence<M::State>,
    #[comptime] access: ElementAccess,
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
        let mut own = Array::<A>::new(lanes);
        #[unroll]
        for step in 0..lanes {
            let written = &written[step];
            own[step] = written.values[i];
        }
        hand_back::<A>(&mut own, lanes, access);
        #[unroll]
        for turn in 0..lanes {
            let element = element_of_turn::<N>(logical, turn, access);
            let to = row.output + stored_element(element, row, access.reverse);
            if element < row.stored {
                writes.element(i, to, T::cast_from(own[turn]));
            }
        }
    }
    #[unroll]
    for i in 0..writes.element_positions.len().comptime() {
        let mut own = Array::<P>::new(lanes);
        #[unroll]
        for step in 0..lanes {
            own[step] = written_position::<A, P>(&written[step]);
        }
        hand_back::<P>(&mut own, lanes, access);
        #[unroll]
        for turn in 0..lanes {
            let element = element_of_turn::<N>(logical, turn, access);
            let to = row.output + stored_element(element, row, access.reverse);
            let output = &mut writes.element_positions[i];
            if element < row.stored {
                output[to] = own[turn];
            }
        }
    }
}
