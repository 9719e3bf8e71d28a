//! Cube-level scans: the library's own, and eight more, from the literature and from the GPU prefix-sum survey (Smith,
//! "GPUPrefixSums", 2023). All are called alike, and all return the same for an associative operator.
//!
//! | algorithm | barriers after the first store | work | plane operations |
//! |---|---|---|---|
//! | `HillisSteele` | 2 log₂ n | n log₂ n | no |
//! | `Sklansky` | log₂ n | n/2 log₂ n | no |
//! | `BrentKung` | 2 log₂ n | 2n | no |
//! | `PlaneBrentKung` | 2 logₚ n | 2n | yes |
//! | `PlaneFusedBrentKung` | logₚ n + 1 | 2n | yes |
//! | `PlaneSklansky` | log₂ n/p | n/2 log₂ n/p | yes |
//! | `PlaneSerial` | 2 | n | yes |
//! | `PlaneRakingReduceScan` | 3 | 2n | yes |
//!
//! n is the number of units of the cube, and p of a plane. Work counts combinations outside of plane scans. The module
//! `cube` of the library has the same table of its own algorithms.

mod algorithm;
mod brent_kung;
mod config;
mod hillis_steele;
mod plane_brent_kung;
mod plane_fused_brent_kung;
mod plane_raking;
mod plane_serial;
mod plane_sklansky;
mod sklansky;

pub use algorithm::Algorithm;
pub use config::{Config, scan_storage};

use cubecl::prelude::*;
use cubecl_scan::cube::{CubeScan, CubeScanConfig, cube_exclusive_scan, cube_inclusive_scan};

/// The scan across the cube by any algorithm. The arguments, and what is asked of the launch, are those of
/// `cube_inclusive_scan` of the library; `shared` has at least [`scan_storage`] elements.
#[cube]
pub fn cube_scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] exclusive: bool,
    #[comptime] config: Config,
) -> CubeScan<A> {
    match comptime!(config.effective()) {
        Algorithm::Published(_) => published::<A>(value, identity, shared, exclusive, config.cube),
        Algorithm::HillisSteele => {
            hillis_steele::scan::<A>(value, shared, config.cube);
            read_scanned::<A>(shared, identity, exclusive, config.cube)
        }
        Algorithm::Sklansky => {
            sklansky::scan::<A>(value, shared, config.cube);
            read_scanned::<A>(shared, identity, exclusive, config.cube)
        }
        Algorithm::BrentKung => {
            brent_kung::scan::<A>(value, shared, config.cube);
            read_scanned::<A>(shared, identity, exclusive, config.cube)
        }
        Algorithm::PlaneBrentKung => {
            plane_brent_kung::scan::<A>(value, identity, shared, config.cube);
            read_scanned::<A>(shared, identity, exclusive, config.cube)
        }
        Algorithm::PlaneFusedBrentKung => {
            plane_fused_brent_kung::scan::<A>(value, identity, shared, config.cube);
            read_scanned::<A>(shared, identity, exclusive, config.cube)
        }
        Algorithm::PlaneSklansky => {
            plane_sklansky::scan::<A>(value, shared, config.cube);
            read_scanned::<A>(shared, identity, exclusive, config.cube)
        }
        Algorithm::PlaneSerial => {
            plane_serial::scan::<A>(value, identity, shared, config.cube);
            read_scanned::<A>(shared, identity, exclusive, config.cube)
        }
        Algorithm::PlaneRakingReduceScan => {
            plane_raking::scan::<A>(value, identity, shared, exclusive, config.cube)
        }
    }
}

#[cube]
fn published<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] exclusive: bool,
    #[comptime] config: CubeScanConfig,
) -> CubeScan<A> {
    if comptime!(exclusive) {
        cube_exclusive_scan::<A>(value, identity, shared, config)
    } else {
        cube_inclusive_scan::<A>(value, identity, shared, config)
    }
}

/// Reads a unit's result from shared memory. It holds the inclusive scan of the cube, complete and after a barrier.
#[cube]
fn read_scanned<A: Numeric>(
    shared: &mut Shared<[A]>,
    identity: A,
    #[comptime] exclusive: bool,
    #[comptime] config: CubeScanConfig,
) -> CubeScan<A> {
    let unit = UNIT_POS as usize;
    let mut value = identity;
    if comptime!(!exclusive) {
        value = shared[unit];
    } else if unit > 0 {
        value = shared[unit - 1];
    }
    CubeScan::<A> {
        value,
        aggregate: shared[comptime!(config.units - 1)],
    }
}
