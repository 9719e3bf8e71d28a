//! Grids of as many cubes as there is work for.

use cubecl::client::Client;
use cubecl::prelude::*;

/// Units of a cube of a kernel that goes element by element, as in CubeCL's element-wise kernels on GPUs.
pub(crate) const ELEMENTWISE_UNITS: usize = 128;

/// A grid of at least `cubes` cubes, within the device's limit per axis. Kernels do nothing in cubes beyond their work.
pub(crate) fn cube_count(client: &Client, cubes: usize) -> CubeCount {
    let (x, y) = grid(cubes, client.properties().hardware.max_cube_count.0);
    CubeCount::Static(x, y, 1)
}

/// The sides of a grid of at least `cubes` cubes.
fn grid(cubes: usize, limit: u32) -> (u32, u32) {
    let x = cubes.min(limit as usize);
    (x as u32, cubes.div_ceil(x) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_all_cubes_within_its_limit() {
        assert_eq!(grid(1, 65_535), (1, 1));
        assert_eq!(grid(65_535, 65_535), (65_535, 1));
        assert_eq!(grid(65_536, 65_535), (65_535, 2));
        assert_eq!(grid(131_071, 65_535), (65_535, 3));
    }
}
