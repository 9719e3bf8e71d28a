//! Brent & Kung's tree with the plane as its radix, from the survey "GPUPrefixSums" (Smith 2023).
//!
//! A level up scans, plane by plane, the ends of the blocks of the level below. A level down hands each block's end to
//! the block after it. For n units in planes of p there are ⌈logₚ n⌉ levels up, and one fewer down.
//!
//! ```text
//! planes of 4    a b c d       │ e f g h       │ i j k l       │ m n
//! up   1         a ab .. a..d  │ e ef .. e..h  │ i ij .. i..l  │ m mn
//! up   4                 a..d            a..h            a..l
//! down 1                       │ a..e a..f ..  │ a..i ..       │ a..m a..n
//! ```
//!
//! No padding: nothing flows from later units to earlier ones.

use super::config::plane_levels;
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
        up::<A>(plane_power(level), identity, shared, config);
        sync_cube();
    }
    #[unroll]
    for down in 1..levels {
        fan::<A>(plane_power(comptime!(levels - 1 - down)), shared, config);
        sync_cube();
    }
}

/// The width of a block at `level`: `PLANE_DIM` to the power of `level`, at most 65,536, which is more than a cube can
/// have.
#[cube]
pub(super) fn plane_power(#[comptime] level: usize) -> usize {
    let mut width = 1usize.runtime();
    #[unroll]
    for _ in 0..level {
        width = min(width * PLANE_DIM as usize, 65_536);
    }
    width
}

/// Scans the ends of blocks of `width`. A group has as many blocks as a plane has units.
#[cube]
pub(super) fn up<A: Numeric>(
    width: usize,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) {
    let at = (UNIT_POS as usize + 1) * width - 1;
    let mut total = identity;
    if at < config.units {
        total = shared[at];
    }
    let scanned = plane_inclusive_scan::<A>(total, config.op);
    if at < config.units {
        shared[at] = scanned;
    }
}

/// Combines the end of each block of `PLANE_DIM * width` into the ends of the blocks of `width` within the next one.
/// The last of these has it already.
#[cube]
fn fan<A: Numeric>(width: usize, shared: &mut Shared<[A]>, #[comptime] config: CubeScanConfig) {
    let unit = UNIT_POS as usize;
    let group = width * PLANE_DIM as usize;
    let is_end = (unit + 1) % width == 0;
    let has_prefix = unit < group || (unit + 1) % group == 0;
    if is_end && !has_prefix {
        shared[unit] = combine::<A>(shared[unit / group * group - 1], shared[unit], config.op);
    }
}
