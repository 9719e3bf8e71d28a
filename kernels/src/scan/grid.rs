//! Grids of as many cubes as there is work for.

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::CubeCountSelection;

/// Units of a cube of a kernel that goes element by element, as in CubeCL's element-wise kernels on GPUs.
pub(crate) const ELEMENTWISE_UNITS: usize = 128;

/// The most cubes along an axis: HIP takes fewer than 2^32 units, and a cube has up to 1,024.
const LONGEST_AXIS: usize = (1 << 22) - 1;

/// A grid of at least `cubes` cubes, within the device's limit per axis. Kernels do nothing in cubes beyond their work.
pub(crate) fn cube_count(client: &Client, cubes: usize) -> CubeCount {
    let most = client.properties().hardware.max_cube_count.0 as usize;
    if cubes > LONGEST_AXIS && most > LONGEST_AXIS {
        return CubeCount::new_2d(LONGEST_AXIS as u32, cubes.div_ceil(LONGEST_AXIS) as u32);
    }
    CubeCountSelection::new(client, cubes as u32).cube_count()
}
