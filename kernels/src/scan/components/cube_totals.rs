//! The totals of a cube's units (or planes) scanned in shared memory.
//!
//! A few dozen totals are left once every unit has scanned its own registers. One unit walks them: a shared-memory walk of that
//! length costs less than the barriers of a parallel scan, and its order of additions is that of a plain loop.

use super::tile::TileConfig;
use crate::operator::{ScanOp, combine};
use cubecl::prelude::*;

/// What [`scan_totals`] returns to each unit.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct CubeTotals<A: Numeric> {
    /// The total of all units (or planes) before this one.
    pub exclusive: A,
    /// The total of the whole cube.
    pub aggregate: A,
}

/// Scans one total per unit (blocked) or per plane (striped) across the cube.
///
/// `shared` holds `config.totals() + 1` values; it may be used again at once, because the function begins with a barrier.
#[cube]
pub(crate) fn scan_totals<A: Numeric>(
    total: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: TileConfig,
) -> CubeTotals<A> {
    let slots = comptime!(config.totals());
    sync_cube();
    let mut slot = UNIT_POS as usize;
    let mut count = slots.runtime();
    if comptime!(config.plane) {
        slot = PLANE_POS as usize;
        count = CUBE_DIM as usize / PLANE_DIM as usize;
        if UNIT_POS_PLANE == 0 {
            shared[slot] = total;
        }
    } else {
        shared[slot] = total;
    }
    sync_cube();
    if UNIT_POS == 0 {
        walk::<A>(shared, count, slots, identity, config.op);
    }
    sync_cube();
    CubeTotals::<A> {
        exclusive: shared[slot],
        aggregate: shared[slots],
    }
}

/// Turns the first `count` values into their exclusive scan and leaves the total behind slot `slots`.
#[cube]
fn walk<A: Numeric>(
    shared: &mut Shared<[A]>,
    count: usize,
    #[comptime] slots: usize,
    identity: A,
    #[comptime] op: ScanOp,
) {
    let mut running = identity;
    for i in 0..count {
        let value = shared[i];
        shared[i] = running;
        running = combine::<A>(running, value, op);
    }
    shared[slots] = running;
}
