//! Grids of as many cubes as there is work for.

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::CubeCountSelection;

/// Units of a cube of a kernel that goes element by element, as in CubeCL's element-wise kernels on GPUs.
pub(crate) const ELEMENTWISE_UNITS: usize = 128;

/// A grid of at least `cubes` cubes, within the device's limit per axis. Kernels do nothing in cubes beyond their work.
pub(crate) fn cube_count(client: &Client, cubes: usize) -> CubeCount {
    CubeCountSelection::new(client, cubes as u32).cube_count()
}
