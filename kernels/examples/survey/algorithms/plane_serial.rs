//! The serial scan with the plane as its word: one plane walks the cube, as many values per step as it has units. From
//! the survey "GPUPrefixSums" (Smith 2023), which calls it warp-sized-radix serial.
//!
//! ```text
//! plane of 4     a b c d            │ e f g h            │ i j
//! step 0         a ab abc a..d ─┐   │                    │
//! step 1                        └───┼ a..e … a..h ─┐     │
//! step 2                            │              └─────┼ a..i a..j
//! ```
//!
//! Two barriers, whatever the size, but the other planes wait. Good for a cube of few planes, and for the totals of
//! other algorithms: `PlaneScans` of the library scans those of its planes this way.

use cubecl::prelude::*;
use cubecl_scan::cube::{CubeScanConfig, plane_scan_in_place};

/// Leaves the inclusive scan in the first `config.units` elements.
#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) {
    shared[UNIT_POS as usize] = value;
    sync_cube();
    let end = select(PLANE_POS == 0, CUBE_DIM as usize, 0);
    plane_scan_in_place::<A>(
        shared,
        0,
        end,
        identity,
        comptime!(config.max_planes()),
        config,
    );
    sync_cube();
}
