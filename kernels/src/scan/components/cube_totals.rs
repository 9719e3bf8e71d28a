//! The totals of a cube's planes (or units) scanned in shared memory.
//!
//! With planes, a handful of totals is left, and every unit folds those before its own plane, and all of them: one barrier. Without planes, or
//! with very small ones, one unit walks the totals: a walk in shared memory costs less than the barriers of a parallel scan. The order is that
//! of a plain loop either way.

use super::plane_scan::{lane_of_unit, plane_of_unit, plane_units};
use super::tile::TileConfig;
use crate::monoid::{Monoid, State, join};
use cubecl::prelude::*;

/// The most totals that every unit folds for itself: more take longer than a barrier. Not measured.
const FOLDED_BY_ALL: usize = 16;

/// What [`scan_totals`] returns to each unit.
#[derive(CubeType)]
pub(crate) struct CubeTotals<S: State> {
    /// The total of all units (or planes) before this one.
    pub exclusive: S,
    /// The total of the whole cube.
    pub aggregate: S,
}

/// Scans one total per unit (blocked) or per plane (striped) across the cube.
///
/// `shared` holds `config.totals() + 1` states; it may be used again at once, because the function begins with a barrier.
#[cube]
pub(crate) fn scan_totals<A: Numeric, M: Monoid<A>>(
    total: &M::State,
    identity: &M::State,
    shared: &mut <M::State as State>::Shared,
    #[comptime] config: TileConfig,
    #[comptime] op: M::Config,
) -> CubeTotals<M::State> {
    let slots = comptime!(config.totals());
    sync_cube();
    let mut slot = UNIT_POS as usize;
    let mut count = slots.runtime();
    if comptime!(config.plane) {
        slot = plane_of_unit(config.plane_size) as usize;
        count = CUBE_DIM as usize / plane_units(config.plane_size) as usize;
        if lane_of_unit(config.plane_size) == 0 {
            M::State::set(shared, slot, total);
        }
    } else {
        M::State::set(shared, slot, total);
    }
    sync_cube();
    if comptime!(config.plane && slots <= FOLDED_BY_ALL) {
        fold_all::<A, M>(shared, slot, count, slots, identity, op)
    } else {
        if UNIT_POS == 0 {
            walk::<A, M>(shared, count, slots, identity, op);
        }
        sync_cube();
        CubeTotals::<M::State> {
            exclusive: M::State::get(&*shared, slot),
            aggregate: M::State::get(&*shared, slots),
        }
    }
}

/// Folds up to `slots` totals, of which there are `count`.
#[cube]
fn fold_all<A: Numeric, M: Monoid<A>>(
    shared: &mut <M::State as State>::Shared,
    slot: usize,
    count: usize,
    #[comptime] slots: usize,
    identity: &M::State,
    #[comptime] op: M::Config,
) -> CubeTotals<M::State> {
    let mut exclusive = M::State::copy(identity);
    let mut running = M::State::copy(identity);
    #[unroll]
    for i in 0..slots {
        exclusive = M::State::select(slot == i, &running, &exclusive);
        let with = join::<A, M>(&running, &M::State::get(&*shared, i), op);
        running = M::State::select(i < count, &with, &running);
    }
    CubeTotals::<M::State> {
        exclusive,
        aggregate: running,
    }
}

/// Turns the first `count` totals into their exclusive scan and leaves the total behind slot `slots`.
#[cube]
fn walk<A: Numeric, M: Monoid<A>>(
    shared: &mut <M::State as State>::Shared,
    count: usize,
    #[comptime] slots: usize,
    identity: &M::State,
    #[comptime] op: M::Config,
) {
    let mut running = M::State::copy(identity);
    for i in 0..count {
        let value = M::State::get(&*shared, i);
        M::State::set(shared, i, &running);
        running = join::<A, M>(&running, &value, op);
    }
    M::State::set(shared, slots, &running);
}
