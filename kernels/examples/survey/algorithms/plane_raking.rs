//! Raking reduce-scan with planes as the rakes, from the survey "GPUPrefixSums" (Smith 2023).
//!
//! Of p planes, about √p rake. Each walks a part of the cube as `PlaneSerial` walks the whole. Plane 0 scans the parts'
//! totals, and every unit takes the total before its part. In `PlaneSerial` one plane rakes, in `PlaneScans` all do.
//!
//! ```text
//! planes of 2, 2 raking    a b → c d → e f      │ g h → i j
//! each scans its part      a ab abc … a..f      │ g gh ghi g..j
//! plane 0: totals          a..f                   a..j
//! every unit               –                      a..f
//! ```

use super::config::raking_planes;
use cubecl::prelude::*;
use cubecl_scan::cube::{CubeScan, CubeScanConfig, plane_scan_in_place};
use cubecl_scan::operator::combine;

#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] exclusive: bool,
    #[comptime] config: CubeScanConfig,
) -> CubeScan<A> {
    let units = comptime!(config.units);
    let max_rakers = comptime!(raking_planes(config));
    let plane = PLANE_POS as usize;
    let planes = (CUBE_DIM as usize).div_ceil(PLANE_DIM as usize);
    let rakers = min(planes, max_rakers);
    let part = planes.div_ceil(rakers) * PLANE_DIM as usize;
    shared[UNIT_POS as usize] = value;
    sync_cube();

    let first = min(plane * part, units);
    let end = select(plane < rakers, min(first + part, units), first);
    let steps = comptime!(config.max_planes().div_ceil(max_rakers));
    let total = plane_scan_in_place::<A>(shared, first, end, identity, steps, config);
    if plane < rakers && UNIT_POS_PLANE == 0 {
        shared[units + plane] = total;
    }
    sync_cube();
    let steps = comptime!(max_rakers.div_ceil(config.plane_size_min));
    let end = select(plane == 0, units + rakers, units.runtime());
    plane_scan_in_place::<A>(shared, units.runtime(), end, identity, steps, config);
    sync_cube();

    let unit = UNIT_POS as usize;
    let mut result = identity;
    if comptime!(!exclusive) {
        result = in_part::<A>(unit, part, identity, shared, config);
    } else if unit > 0 {
        result = in_part::<A>(unit - 1, part, identity, shared, config);
    }
    CubeScan::<A> {
        value: result,
        aggregate: shared[units + rakers - 1],
    }
}

/// The inclusive scan at `at`: the total of the parts before, combined with the scan of its own part.
#[cube]
fn in_part<A: Numeric>(
    at: usize,
    part: usize,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) -> A {
    let rake = at / part;
    let mut before = identity;
    if rake > 0 {
        before = shared[config.units + rake - 1];
    }
    combine::<A>(before, shared[at], config.op)
}
