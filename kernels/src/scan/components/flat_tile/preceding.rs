//! What precedes the vectors of a unit: in its plane, in the planes before, or in its cube.

use super::held::{Held, total_of_vector};
use super::{FlatTileConfig, Stripes};
use crate::monoid::{Monoid, State, join, ladder_within};
use crate::scan::components::args::Reads;
use crate::scan::components::plane_scan::{lane_of_unit, plane_of_unit, plane_units, shift_up};
use crate::scan::components::vector_totals::{RowsOfVectors, place_of_total, rake_totals};
use cubecl::prelude::*;

/// What precedes a unit's vectors in their rows, as far as its plane or cube knows it.
#[derive(CubeType)]
pub(super) struct Preceding<S: State> {
    pub(super) vectors: Sequence<S>,
    /// The total of the plane since the last row in it began.
    pub(super) total: S,
}

/// What precedes the unit's vectors in its plane.
#[cube]
pub(super) fn in_plane<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    reads: &Reads<T, N, B>,
    stripes: Stripes,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> Preceding<M::State> {
    let lanes = N::value().comptime();
    let flat = stripes.flat;
    let units = plane_units(config.tile.plane_size);
    let lane = lane_of_unit(config.tile.plane_size);
    let farthest = min((flat.len - 1) / lanes, units as usize - 1) as u32;
    let mut vectors = Sequence::<M::State>::new();
    let mut carry = M::State::copy(identity);
    #[unroll]
    for k in 0..config.tile.vectors {
        let place = stripes.place(stripes.offset(k), lanes);
        let within = place.within;
        let own =
            total_of_vector::<T, A, N, B, M>(held, k, place, reads, flat, identity, config, op);
        // From the start of the row to the last element, and to the first.
        let mut reach = within / lanes;
        let mut reach_of_first = reach;
        if comptime!(!config.whole_vectors) {
            reach = flat.divisor.modulo(within + lanes - 1) / lanes;
            reach_of_first = within.div_ceil(lanes);
        }
        let inclusive = ladder_within::<A, M>(
            &own,
            min(reach, lane as usize) as u32,
            farthest,
            config.tile.plane_size,
            op,
        );
        let earlier = shift_up::<M::State>(&inclusive, identity, config.tile.plane_size);
        let with = join::<A, M>(&carry, &earlier, op);
        let with = M::State::select(lane == 0, &carry, &with);
        vectors.push(M::State::select(
            reach_of_first > lane as usize,
            &with,
            &earlier,
        ));
        let with = join::<A, M>(&carry, &inclusive, op);
        let full = M::State::select(reach > lane as usize, &with, &inclusive);
        carry = M::State::shuffle(&full, units - 1);
    }
    Preceding::<M::State> {
        vectors,
        total: carry,
    }
}

/// What the planes before this one hold of the row that its first element belongs to.
#[cube]
pub(super) fn before_plane<A: Numeric, M: Monoid<A>>(
    total: &M::State,
    shared: &mut <M::State as State>::Shared,
    stripes: Stripes,
    identity: &M::State,
    #[comptime] lanes: usize,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let plane = plane_of_unit(config.tile.plane_size) as usize;
    if lane_of_unit(config.tile.plane_size) == 0 {
        M::State::set(shared, plane, total);
    }
    sync_cube();
    let of_plane = stripes.apart * comptime!(config.tile.vectors * lanes);
    let begun = stripes.place(0usize, lanes).within;
    let first = plane - min(begun.div_ceil(of_plane), plane);
    let mut prefix = M::State::copy(identity);
    for earlier in first..plane {
        let total = M::State::get(&*shared, earlier);
        let with = join::<A, M>(&prefix, &total, op);
        // The first total may hold what the row resumes from, which must be a left operand.
        prefix = M::State::select(earlier == first, &total, &with);
    }
    prefix
}

/// What precedes the unit's vectors in its cube.
#[cube]
pub(super) fn in_cube<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    shared: &mut <M::State as State>::Shared,
    reads: &Reads<T, N, B>,
    stripes: Stripes,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> Preceding<M::State> {
    let lanes = N::value().comptime();
    let flat = stripes.flat;
    let rake = comptime!(config.tile.rake());
    #[unroll]
    for k in 0..config.tile.vectors {
        let place = stripes.place(stripes.offset(k), lanes);
        let own =
            total_of_vector::<T, A, N, B, M>(held, k, place, reads, flat, identity, config, op);
        M::State::set(shared, place_of_total(stripes.offset(k), rake), &own);
    }
    let rows = RowsOfVectors {
        last: stripes.place(0usize, lanes).within + lanes - 1,
        len: flat.len,
        lanes,
        is_one: false,
    };
    let total = rake_totals::<A, M>(shared, rows, identity, rake, op);
    let mut vectors = Sequence::<M::State>::new();
    #[unroll]
    for k in 0..config.tile.vectors {
        vectors.push(M::State::get(
            &*shared,
            place_of_total(stripes.offset(k), rake),
        ));
    }
    Preceding::<M::State> { vectors, total }
}
