//! The kernel of the survey: a cube-level scan of each tile.

use crate::algorithms::{Config, cube_scan, scan_storage};
use cubecl::prelude::*;

/// Each cube scans as many elements as it has units. The last one may have fewer, and brings zeros for the rest.
#[cube(launch_unchecked)]
pub fn tiles_kernel(
    input: &[i32],
    output: &mut [i32],
    elements: usize,
    #[comptime] exclusive: bool,
    #[comptime] config: Config,
) {
    let mut storage = Shared::<[i32]>::new_slice(comptime!(scan_storage(config)));
    let at = CUBE_POS * CUBE_DIM as usize + UNIT_POS as usize;
    let mut value = 0i32.runtime();
    if at < elements {
        value = input[at];
    }
    let scan = cube_scan::<i32>(value, 0i32, &mut storage, exclusive, config);
    if at < elements {
        output[at] = scan.value;
    }
}
