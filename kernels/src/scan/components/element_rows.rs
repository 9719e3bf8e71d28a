//! Vectors of rows that vectors straddle: rows of an odd length, or that begin at an odd place.
//!
//! A plane reads the elements of its vectors one by one, neighbours side by side, and hands them over until each unit has those of its own
//! vector ([`plane_transpose`](super::plane_transpose)); results go back the same way. So the tile keeps its size, and all that is not memory
//! takes place as for other rows. (CUB reads all rows so: `BLOCK_LOAD_WARP_TRANSPOSE`.)
//!
//! Beyond the end of its row a plane reads the row's last element over and over.

use super::plane_scan::{lane_of_unit, plane_units};
use super::plane_transpose::{blocked_to_striped, striped_to_blocked};
use super::tensors::{Edges, Loaded, Reads, Writes, lane_at, written_position};
use super::tile::{Row, TileConfig};
use crate::monoid::{Monoid, Written};
use cubecl::prelude::*;

/// Where a row's logical element lies in memory.
#[cube]
fn stored_element(logical: usize, row: &Row, #[comptime] reverse: bool) -> usize {
    if comptime!(reverse) {
        row.stored - 1 - logical
    } else {
        logical
    }
}

/// The logical element that this unit reads and writes for its plane, in its turn `turn`; `logical` is its own vector.
#[cube]
fn element_of_turn<N: Size>(
    logical: usize,
    #[comptime] turn: usize,
    #[comptime] plane_size: usize,
) -> usize {
    let lanes = N::value().comptime();
    let lane = lane_of_unit(plane_size) as usize;
    (logical - lane) * lanes + turn * plane_units(plane_size) as usize + lane
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
    for i in 0..reads.elements.len().comptime() {
        let mut striped = Array::<A>::new(lanes);
        #[unroll]
        for turn in 0..lanes {
            let element = min(element_of_turn::<N>(logical, turn, config.plane_size), last);
            let at = row.inputs[i] + stored_element(element, row, config.reverse);
            striped[turn] = A::cast_from(reads.elements[i][at]);
        }
        let own = striped_to_blocked::<A>(&striped, lanes, config.plane_size);
        let mut vector = Vector::<T, N>::new(T::from_int(0));
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(lane_at(step, lanes, config.reverse));
            vector.insert(lane, T::cast_from(own[step]));
        }
        vectors.push(vector);
    }
    let mut edges = Edges::new();
    #[unroll]
    for lane in 0..lanes {
        let step = comptime!(lane_at(lane, lanes, config.reverse));
        let position = stored_element(min(logical * lanes + step, last), row, config.reverse);
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

/// Writes a logical vector of each output; the states are in the order of the scan. Every unit of the plane takes part, beyond the end of the row
/// as well.
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
    for i in 0..writes.elements.len().comptime() {
        let mut own = Array::<A>::new(lanes);
        #[unroll]
        for step in 0..lanes {
            let written = &written[step];
            own[step] = written.values[i];
        }
        let striped = blocked_to_striped::<A>(&own, lanes, config.plane_size);
        #[unroll]
        for turn in 0..lanes {
            let element = element_of_turn::<N>(logical, turn, config.plane_size);
            if element < row.stored {
                let output = &mut writes.elements[i];
                output[row.output + stored_element(element, row, config.reverse)] =
                    T::cast_from(striped[turn]);
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
        let striped = blocked_to_striped::<P>(&own, lanes, config.plane_size);
        #[unroll]
        for turn in 0..lanes {
            let element = element_of_turn::<N>(logical, turn, config.plane_size);
            if element < row.stored {
                let output = &mut writes.element_positions[i];
                output[row.output + stored_element(element, row, config.reverse)] = striped[turn];
            }
        }
    }
}
