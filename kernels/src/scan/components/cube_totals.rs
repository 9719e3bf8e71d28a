//! The scan of the totals of a cube's planes (or units) in shared memory.
//!
//! With planes there are few totals. Every unit folds the totals before its own plane, and all of them: one barrier.
//! Without planes, or with very small ones, one unit walks the totals: that costs less than the barriers of a parallel
//! scan. Either way the order is as in a plain loop.

use super::plane_scan::{lane_of_unit, plane_of_unit, plane_units};
use super::tile::config::TileConfig;
use crate::monoid::{Monoid, State, join};
use cubecl::prelude::*;

/// The most totals that every unit folds for itself. More take longer than a barrier. Not measured.
const FOLDED_BY_ALL: usize = 16;

/// What [`scan_totals`] returns to each unit.
#[derive(CubeType)]
pub(crate) struct CubeTotals<S: State> {
    /// The total of all units (or planes) before this one.
    pub exclusive: S,
    /// The total of the whole cube.
    pub aggregate: S,
}

/// Scans one total of each plane across the cube, or of each unit without plane operations.
///
/// `shared` holds `config.totals() + 1` states. It may be used again at once, because the function begins with a
/// barrier.
#[cube]
pub(crate) fn scan_totals<A: Numeric, M: Monoid<A>>(
    total: &M::State,
    identity: &M::State,
    shared: &mut <M::State as State>::Shared,
    #[comptime] config: TileConfig,
    #[comptime] op: M::Config,
) -> CubeTotals<M::State> {
    let totals = comptime!(config.totals());
    sync_cube();
    let mut own = UNIT_POS as usize;
    let mut count = totals.runtime();
    if comptime!(config.plane) {
        own = plane_of_unit(config.plane_size) as usize;
        count = CUBE_DIM as usize / plane_units(config.plane_size) as usize;
        if lane_of_unit(config.plane_size) == 0 {
            M::State::set(shared, own, total);
        }
    } else {
        M::State::set(shared, own, total);
    }
    sync_cube();
    if comptime!(config.plane && totals <= FOLDED_BY_ALL) {
        let mut exclusive = M::State::copy(identity);
        let mut running = M::State::copy(identity);
        #[unroll]
        for i in 0..totals {
            exclusive = M::State::select(own == i, &running, &exclusive);
            let with = join::<A, M>(&running, &M::State::get(&*shared, i), op);
            running = M::State::select(i < count, &with, &running);
        }
        CubeTotals::<M::State> {
            exclusive,
            aggregate: running,
        }
    } else {
        if UNIT_POS == 0 {
            let mut running = M::State::copy(identity);
            for i in 0..count {
                let value = M::State::get(&*shared, i);
                M::State::set(shared, i, &running);
                running = join::<A, M>(&running, &value, op);
            }
            M::State::set(shared, totals, &running);
        }
        sync_cube();
        CubeTotals::<M::State> {
            exclusive: M::State::get(&*shared, own),
            aggregate: M::State::get(&*shared, totals),
        }
    }
}

/// As [`scan_totals`], for a tile whose vectors know what precedes them: in their plane, or in the cube.
#[cube]
pub(crate) fn totals_of_tile<A: Numeric, M: Monoid<A>>(
    total: &M::State,
    identity: &M::State,
    shared: &mut <M::State as State>::Shared,
    #[comptime] config: TileConfig,
    #[comptime] op: M::Config,
) -> CubeTotals<M::State> {
    if comptime!(config.plane) {
        scan_totals::<A, M>(total, identity, shared, config, op)
    } else {
        CubeTotals::<M::State> {
            exclusive: M::State::copy(identity),
            aggregate: M::State::copy(total),
        }
    }
}
