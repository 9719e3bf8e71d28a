//! Compaction, destinations and grouping against plain loops: densities, alternating masks, every size up to two tiles,
//! stalled tiles.

mod keys;
mod lines_and_runs;
mod refusals;
mod selections;
mod slices;

use cubecl_scan::scan::LaunchOptions;
use scan_testing::kernels::*;

/// A tile of 32 units × 1 vector.
fn small_tile() -> LaunchOptions {
    LaunchOptions {
        units: Some(32),
        vectors: Some(1),
        ..launch()
    }
}
