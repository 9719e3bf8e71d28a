//! What a scan is compiled for, and the shared memory it needs.

use super::algorithm::Algorithm;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::cube::{CubeScanAlgorithm, CubeScanConfig, cube_scan_storage};

/// The comptime facts of a scan. [`Config::new`] fills them in for a device.
#[derive_cube_comptime]
pub struct Config {
    /// How the units scan.
    pub algorithm: Algorithm,
    /// The facts that the library's own scans go by: operator, units and planes. Its `algorithm` is the one that the
    /// library runs, if it runs any.
    pub cube: CubeScanConfig,
}

impl Config {
    /// `algorithm` for cubes of `units` units on the device of `client`.
    pub fn new(client: &Client, algorithm: Algorithm, op: ScanOp, units: usize) -> Self {
        let published = match algorithm {
            Algorithm::Published(published) => published,
            // The replacement where planes have one unit.
            _ => CubeScanAlgorithm::Raking,
        };
        Self {
            algorithm,
            cube: CubeScanConfig::new(client, published, op, units),
        }
    }

    /// The algorithm that runs. A plane of one unit is not a radix: then an algorithm built on planes becomes the one
    /// that it generalises.
    pub(super) fn effective(&self) -> Algorithm {
        use Algorithm::*;
        match self.algorithm {
            PlaneBrentKung | PlaneFusedBrentKung if self.cube.plane_size_min < 2 => BrentKung,
            PlaneSklansky if self.cube.plane_size_min < 2 => Sklansky,
            PlaneSerial | PlaneRakingReduceScan if self.cube.plane_size_min < 2 => {
                Published(self.cube.algorithm)
            }
            algorithm => algorithm,
        }
    }
}

/// The elements of shared memory that a scan needs: the length for `Shared::new_slice`. More does no harm.
pub fn scan_storage(config: Config) -> usize {
    match config.effective() {
        Algorithm::Published(_) => cube_scan_storage(config.cube),
        Algorithm::PlaneRakingReduceScan => config.cube.units + raking_planes(config.cube),
        _ => config.cube.units,
    }
}

/// Doublings that lead from blocks of `width` to a block of all `units`.
pub(super) fn doublings(units: usize, width: usize) -> usize {
    units.div_ceil(width).next_power_of_two().ilog2() as usize
}

/// Levels of a tree whose radix is the smallest plane.
pub(super) fn plane_levels(config: CubeScanConfig) -> usize {
    let mut levels = 1;
    while config.plane_size_min.pow(levels as u32) < config.units {
        levels += 1;
    }
    levels
}

/// How many planes rake in `PlaneRakingReduceScan`: about as many as each has chunks to walk.
pub(super) fn raking_planes(config: CubeScanConfig) -> usize {
    let planes = config.max_planes();
    let root = planes.isqrt();
    if root * root < planes { root + 1 } else { root }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(algorithm: Algorithm, units: usize, plane_size_min: usize) -> Config {
        let cube = CubeScanConfig {
            algorithm: CubeScanAlgorithm::Raking,
            op: ScanOp::Sum,
            units,
            plane_size_min,
            planes_meet: false,
        };
        Config { algorithm, cube }
    }

    #[test]
    fn planes_of_one_unit_fall_back_to_radix_two() {
        for algorithm in Algorithm::MORE {
            assert!(!config(algorithm, 64, 1).effective().needs_plane_ops());
            assert_eq!(config(algorithm, 64, 2).effective(), algorithm);
        }
    }

    #[test]
    fn storage_is_what_the_layouts_say() {
        let storage = |algorithm| scan_storage(config(algorithm, 100, 32));
        assert_eq!(storage(Algorithm::HillisSteele), 100);
        assert_eq!(storage(Algorithm::PlaneRakingReduceScan), 102);
    }

    #[test]
    fn levels_and_doublings_cover_the_cube() {
        for units in 1..=1024 {
            for plane in [2, 4, 8, 16, 32, 64, 128] {
                let cube = config(Algorithm::PlaneBrentKung, units, plane).cube;
                assert!(plane.pow(plane_levels(cube) as u32) >= units);
                assert!(plane << doublings(units, plane) >= units);
                assert!(raking_planes(cube).pow(2) >= cube.max_planes());
            }
        }
    }
}
