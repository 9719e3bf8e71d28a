//! Rows whose ends lie inside vectors: rows of an odd length, or with an odd offset.
//!
//! Elements are read and written one by one, and form vectors in between. So tiles keep their size, and only memory
//! accesses differ from other rows. A plane reads neighbouring elements together. Its units exchange them until each
//! has the elements of its own vector ([`plane_transpose`](super::plane_transpose)). Results go back the same way. (CUB
//! reads all rows this way: `BLOCK_LOAD_WARP_TRANSPOSE`.) Without planes, each unit reads its own elements.
//!
//! Beyond the end of a row its last element is read again.

use super::args::{Reads, Writes};
use super::plane_scan::{lane_of_unit, plane_units, reconverge};
use super::plane_transpose::{blocked_to_striped, striped_to_blocked};
use super::tensors::{Edges, Loaded, stored_at, written_position};
use super::tile::config::TileConfig;
use super::tile::row::Row;
use crate::monoid::{Monoid, Written};
use cubecl::prelude::*;

/// The logical element that this unit reads and writes in turn `turn`. `logical` is its own vector.
#[cube]
fn element_of_turn<N: Size>(
    logical: usize,
    #[comptime] turn: usize,
    #[comptime] config: TileConfig,
) -> usize {
    let lanes = N::value().comptime();
    if comptime!(config.plane) {
        let lane = lane_of_unit(config.plane_size) as usize;
        (logical - lane) * lanes + turn * plane_units(config.plane_size) as usize + lane
    } else {
        logical * lanes + turn
    }
}

/// Exchanges the elements that the unit has read for those of its own vector, or those for the elements that it writes.
///
/// Units beyond the end of the row have skipped their writes before.
#[cube]
fn exchange<A: Numeric>(
    elements: Array<A>,
    #[comptime] to_own: bool,
    #[comptime] lanes: usize,
    #[comptime] config: TileConfig,
) -> Array<A> {
    if comptime!(!config.plane) {
        elements
    } else if comptime!(to_own) {
        striped_to_blocked::<A>(&elements, lanes, config.plane_size)
    } else {
        reconverge(config.planes_meet);
        blocked_to_striped::<A>(&elements, lanes, config.plane_size)
    }
}

/// A logical vector of the row, of each input.
#[cube]
pub(crate) fn load_elements<T: Numeric, A: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    row: &Row,
    logical: usize,
    #[comptime] config: TileConfig,
) -> Loaded<T, N> {
    let lanes = N::value().comptime();
    let last = row.stored - 1;
    let mut vectors = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..comptime!(reads.inputs) {
        let mut elements = Array::<A>::new(lanes);
        #[unroll]
        for turn in 0..lanes {
            let element = min(element_of_turn::<N>(logical, turn, config), last);
            let at = row.inputs[i] + stored_at(element, row.stored, config.reverse);
            elements[turn] = A::cast_from(reads.element(i, at));
        }
        let own = exchange::<A>(elements, true, lanes, config);
        let mut vector = Vector::<T, N>::new(T::from_int(0));
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(stored_at(step, lanes, config.reverse));
            vector.insert(lane, T::cast_from(own[step]));
        }
        vectors.push(vector);
    }
    let mut edges = Edges::new();
    #[unroll]
    for lane in 0..lanes {
        let step = comptime!(stored_at(lane, lanes, config.reverse));
        let position = stored_at(
            min(logical * lanes + step, last),
            row.stored,
            config.reverse,
        );
        let index = row.output + position;
        edges.push::<T, N, B>(reads, index, position, row.stored, 1usize, config.reverse);
    }
    let mut position = logical * lanes;
    if comptime!(config.reverse) {
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
    #[comptime] config: TileConfig,
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
        let handed = exchange::<A>(own, false, lanes, config);
        #[unroll]
        for turn in 0..lanes {
            let element = element_of_turn::<N>(logical, turn, config);
            let to = row.output + stored_at(element, row.stored, config.reverse);
            if element < row.stored {
                writes.element(i, to, T::cast_from(handed[turn]));
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
        let handed = exchange::<P>(own, false, lanes, config);
        #[unroll]
        for turn in 0..lanes {
            let element = element_of_turn::<N>(logical, turn, config);
            let to = row.output + stored_at(element, row.stored, config.reverse);
            let output = &mut writes.element_positions[i];
            if element < row.stored {
                output[to] = handed[turn];
            }
        }
    }
}
