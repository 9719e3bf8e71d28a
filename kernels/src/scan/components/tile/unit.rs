//! What one unit holds of a tile, and its scan.

use super::config::{TileConfig, vector_in_tile};
use super::row::{Row, load_vectors};
use super::staging::{elements, stage, staged_place, staged_totals, staged_vectors};
use crate::monoid::{Monoid, State, join};
use crate::scan::components::args::{Reads, Writes};
use crate::scan::components::cube_totals::{CubeTotals, totals_of_tile};
use crate::scan::components::element_rows::{load_elements, write_elements};
use crate::scan::components::plane_scan::{plane_units, shift_up};
use crate::scan::components::tensors::{Loaded, state_of, stored_at, write_vector};
use crate::scan::components::vector_totals::{RowsOfVectors, place_of_total, rake_totals};
use cubecl::prelude::*;

/// What one unit holds after its own scan.
///
/// The elements wait as they were loaded. Each is combined twice: first into a total, later with what precedes it.
/// Staging them keeps a compiler from holding converted values in registers, such as f32 for f16.
#[derive(CubeType)]
pub(crate) struct UnitTile<T: Numeric, N: Size, S: State> {
    loaded: Sequence<Loaded<T, N>>,
    /// The staged elements, input after input. Each unit reads what it wrote.
    staged: Shared<[Vector<T, N>]>,
    /// The total of what the plane (or the cube) holds before each vector. Some are staged: see [`staged_totals`].
    before: Sequence<S>,
    staged_before: S::Shared,
    /// The total of what the cube holds before this unit's plane, and of the cube. Without plane operations the former
    /// is the identity: `before` says what the cube holds before each vector.
    pub totals: CubeTotals<S>,
}

/// A logical vector of a tile.
#[cube]
fn load_of_tile<T: Numeric, A: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    row: &Row,
    logical: usize,
    #[comptime] config: TileConfig,
) -> Loaded<T, N> {
    if comptime!(config.by_elements) {
        load_elements::<T, A, N, B>(reads, row, logical, config)
    } else {
        load_vectors::<T, N, B>(reads, row, logical, config.reverse)
    }
}

/// The total of the elements of a vector.
#[cube]
fn fold_vectors<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    loaded: &Loaded<T, N>,
    #[comptime] config: TileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let lanes = N::value().comptime();
    let first = comptime!(stored_at(0, lanes, config.reverse));
    let mut total = state_of::<T, A, N, M>(loaded, first, op);
    #[unroll]
    for step in 1..lanes {
        let lane = comptime!(stored_at(step, lanes, config.reverse));
        let state = state_of::<T, A, N, M>(loaded, lane, op);
        total = join::<A, M>(&total, &state, op);
    }
    total
}

/// The total of the cube that [`UnitTile::load`] would find, without holding the tile.
///
/// The loop is not unrolled: a fallback is rare, and long code for it would cost the whole kernel registers.
#[cube]
pub(crate) fn total_of<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    row: &Row,
    first: usize,
    identity: &M::State,
    shared: &mut <M::State as State>::Shared,
    #[comptime] config: TileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    if comptime!(!config.plane) {
        sync_cube();
    }
    let reads = reads.again();
    let mut total = M::State::copy(identity);
    for k in 0..config.vectors {
        let logical = first + vector_in_tile(k, config);
        let loaded = load_of_tile::<T, A, N, B>(&reads, row, logical, config);
        let own = fold_vectors::<T, A, N, M>(&loaded, config, op);
        if comptime!(config.plane) {
            let inclusive = M::plane_inclusive(&own, config.plane_size, op);
            let last_lane = plane_units(config.plane_size) - 1;
            let stripe = M::State::shuffle(&inclusive, last_lane);
            total = join::<A, M>(&total, &stripe, op);
        } else {
            let at = place_of_total(vector_in_tile(k, config), comptime!(config.rake()));
            M::State::set(shared, at, &own);
        }
    }
    if comptime!(!config.plane) {
        let rows = RowsOfVectors::whole();
        let rake = comptime!(config.rake().in_short_code());
        total = rake_totals::<A, M>(shared, rows, identity, rake, op);
    }
    let own = totals_of_tile::<A, M>(&total, identity, shared, config, op);
    own.aggregate
}

#[cube]
impl<T: Numeric, N: Size, S: State> UnitTile<T, N, S> {
    /// Loads the tile that begins at the row's vector `first`, and finds what precedes each of this unit's vectors
    /// within the tile.
    pub fn load<A: Numeric, B: Numeric, M: Monoid<A, State = S>>(
        reads: &Reads<T, N, B>,
        row: &Row,
        first: usize,
        identity: &S,
        shared: &mut S::Shared,
        #[comptime] config: TileConfig,
        #[comptime] op: M::Config,
    ) -> UnitTile<T, N, S> {
        let mut loaded = Sequence::<Loaded<T, N>>::new();
        #[unroll]
        for k in 0..config.vectors {
            let logical = first + vector_in_tile(k, config);
            loaded.push(load_of_tile::<T, A, N, B>(reads, row, logical, config));
        }
        let mut staged =
            Shared::<[Vector<T, N>]>::new_slice(comptime!(staged_vectors(reads.inputs, config)));
        #[unroll]
        for k in 0..config.staged {
            stage::<T, N>(&mut staged, &loaded[k], k, config);
        }
        let mut before = Sequence::<S>::new();
        let element = elem_type_of::<T>();
        let totals = comptime!(staged_totals(element.size(), config));
        let mut staged_before = S::allocate(comptime!((totals * config.units).max(1)));
        let mut total = S::copy(identity);
        if comptime!(!config.plane) {
            sync_cube();
            #[unroll]
            for k in 0..config.vectors {
                let own = fold_vectors::<T, A, N, M>(&loaded[k], config, op);
                let at = place_of_total(vector_in_tile(k, config), comptime!(config.rake()));
                S::set(shared, at, &own);
            }
            let rows = RowsOfVectors::whole();
            total = rake_totals::<A, M>(shared, rows, identity, comptime!(config.rake()), op);
        }
        #[unroll]
        for k in 0..config.vectors {
            if comptime!(config.plane) {
                let own = fold_vectors::<T, A, N, M>(&loaded[k], config, op);
                let inclusive = M::plane_inclusive(&own, config.plane_size, op);
                let earlier = shift_up::<S>(&inclusive, identity, config.plane_size);
                before.push(join::<A, M>(&total, &earlier, op));
                // Only here: without planes a browser refuses a kernel that asks for their size.
                let last_lane = plane_units(config.plane_size) - 1;
                let stripe = S::shuffle(&inclusive, last_lane);
                total = join::<A, M>(&total, &stripe, op);
            } else {
                let at = place_of_total(vector_in_tile(k, config), comptime!(config.rake()));
                before.push(S::get(&*shared, at));
            }
            if comptime!(k < totals) {
                S::set(
                    &mut staged_before,
                    staged_place(0usize, k, config),
                    &before[k],
                );
            }
        }
        UnitTile::<T, N, S> {
            loaded,
            staged,
            before,
            staged_before,
            totals: totals_of_tile::<A, M>(&total, identity, shared, config, op),
        }
    }

    fn before(&self, #[comptime] k: usize, #[comptime] config: TileConfig) -> S {
        let element = elem_type_of::<T>();
        if comptime!(k < staged_totals(element.size(), config)) {
            S::get(&self.staged_before, staged_place(0usize, k, config))
        } else {
            S::copy(&self.before[k])
        }
    }

    /// Writes the scanned tile. `prefix` is the total of all that precedes this plane (or the cube) in the row.
    #[allow(
        clippy::too_many_arguments,
        reason = "what a tile is written from, and the facts of a kernel"
    )]
    pub fn store<A: Numeric, P: Numeric, M: Monoid<A, State = S>>(
        &self,
        writes: &mut Writes<T, N, P>,
        row: &Row,
        first: usize,
        prefix: &S,
        identity: &S,
        #[comptime] config: TileConfig,
        #[comptime] op: M::Config,
    ) {
        #[unroll]
        for k in 0..config.vectors {
            let logical = first + vector_in_tile(k, config);
            if comptime!(config.by_elements) {
                // The units of a plane exchange results, also beyond the row.
                let states = self.results::<A, M>(k, prefix, identity, config, op);
                write_elements::<T, A, N, P, M>(writes, row, logical, &states, config, op);
            } else if logical < row.vectors {
                let states = self.results::<A, M>(k, prefix, identity, config, op);
                let at = row.output + stored_at(logical, row.vectors, config.reverse);
                write_vector::<T, A, N, P, M>(writes, at, &states, config.reverse, op);
            }
        }
    }

    /// The results in a unit's `k`-th vector, in the order of the scan.
    fn results<A: Numeric, M: Monoid<A, State = S>>(
        &self,
        #[comptime] k: usize,
        prefix: &S,
        identity: &S,
        #[comptime] config: TileConfig,
        #[comptime] op: M::Config,
    ) -> Sequence<S> {
        let lanes = N::value().comptime();
        let own = elements::<T, N>(&self.loaded[k], &self.staged, k, config);
        let mut running = join::<A, M>(prefix, &self.before(k, config), op);
        let mut states = Sequence::<S>::new();
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(stored_at(step, lanes, config.reverse));
            let state = state_of::<T, A, N, M>(&own, lane, op);
            if comptime!(config.exclusive) {
                states.push(own.edges.before::<S>(&running, identity, lane));
            }
            running = join::<A, M>(&running, &state, op);
            if comptime!(!config.exclusive) {
                states.push(S::copy(&running));
            }
        }
        states
    }
}
