//! A hardware scan per plane, then a scan of the planes' totals: Sengupta, Harris & Garland, "Efficient parallel scan
//! algorithms for GPUs" (2008); CUB's `BLOCK_SCAN_WARP_SCANS`.
//!
//! ```text
//! planes of 4         a b c d          │ e f g h          │ i j
//! each scans          a ab abc abcd    │ e ef efg efgh    │ i ij
//! totals              abcd               efgh               ij
//! plane 0 scans       a..d               a..h               a..j
//! each adds           –                  a..d               a..h
//! ```
//!
//! Only the totals meet in shared memory. If there are more planes than a plane has units, plane 0 takes several steps.

use super::config::CubeScanConfig;
use super::plane::{last_unit_of_plane, plane_inclusive_scan, plane_scan_in_place};
use super::scan::CubeScan;
use crate::operator::combine;
use crate::scan::components::plane_scan::shift_up;
use cubecl::prelude::*;

#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] exclusive: bool,
    #[comptime] config: CubeScanConfig,
) -> CubeScan<A> {
    let plane = PLANE_POS as usize;
    let planes = (CUBE_DIM as usize).div_ceil(PLANE_DIM as usize);
    let inclusive = plane_inclusive_scan::<A>(value, config.op);
    if UNIT_POS_PLANE == last_unit_of_plane() {
        shared[plane] = inclusive;
    }
    sync_cube();
    let steps = comptime!(config.max_planes().div_ceil(config.plane_size_min));
    plane_scan_in_place::<A>(
        shared,
        0,
        select(plane == 0, planes, 0),
        identity,
        steps,
        config,
    );
    sync_cube();

    let mut before = identity;
    if plane > 0 {
        before = shared[plane - 1];
    }
    let own = if comptime!(exclusive) {
        shift_up::<A>(&inclusive, &identity, 0usize)
    } else {
        inclusive
    };
    CubeScan::<A> {
        value: combine::<A>(before, own, config.op),
        aggregate: shared[planes - 1],
    }
}
