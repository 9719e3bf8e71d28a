//! Brent & Kung's tree with the plane as its radix and the way down fused into the way up, from the survey
//! "GPUPrefixSums" (Smith 2023).
//!
//! As soon as the ends of the blocks of one width are scanned, the units between combine them into their values. So
//! each level leaves blocks that are wholly scanned, and there is no way down. The fan of a level and the scan of the
//! next touch different elements and share one superstep: one barrier per level instead of two.
//!
//! ```text
//! planes of 4     a b c d       │ e f g h       │ i j k l       │ m n
//! scan 1          a ab .. a..d  │ e ef .. e..h  │ i ij .. i..l  │ m mn
//! scan 4                  a..d            a..h            a..l
//! fan  4                        │ a..e a..f ..  │ a..i ..       │ a..m a..n
//! ```

use super::config::plane_levels;
use super::plane_brent_kung::{plane_power, up};
use cubecl::prelude::*;
use cubecl_scan::cube::{CubeScanConfig, plane_inclusive_scan};
use cubecl_scan::operator::combine;

/// Leaves the inclusive scan in the first `config.units` elements.
#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) {
    let levels = comptime!(plane_levels(config));
    shared[UNIT_POS as usize] = plane_inclusive_scan::<A>(value, config.op);
    sync_cube();
    #[unroll]
    for level in 1..levels {
        let width = plane_power(level);
        up::<A>(width, identity, shared, config);
        sync_cube();
        fan::<A>(width, shared, config);
    }
    if comptime!(levels > 1) {
        sync_cube();
    }
}

/// Every unit between the ends of blocks of `width` combines the end before its block into its value, unless its group
/// begins there.
#[cube]
fn fan<A: Numeric>(width: usize, shared: &mut Shared<[A]>, #[comptime] config: CubeScanConfig) {
    let unit = UNIT_POS as usize;
    let first_of_group = unit % (width * PLANE_DIM as usize) < width;
    if (unit + 1) % width != 0 && !first_of_group {
        shared[unit] = combine::<A>(shared[unit / width * width - 1], shared[unit], config.op);
    }
}
