//! What a cube-level scan is compiled for, and the shared memory it needs.

use super::algorithm::CubeScanAlgorithm;
use crate::ScanOp;
use crate::scan::components::vector_totals::Rake;
use cubecl::client::Client;
use cubecl::ir::features::Plane;
use cubecl::prelude::*;

/// The comptime facts of a cube-level scan. [`CubeScanConfig::new`] fills them in for a device.
#[derive_cube_comptime]
pub struct CubeScanConfig {
    /// How the units scan.
    pub algorithm: CubeScanAlgorithm,
    /// What is accumulated.
    pub op: ScanOp,
    /// Units of the cube, any number of them: exactly the `CUBE_DIM` of the launch.
    pub units: usize,
    /// The units of the smallest plane of the device: a power of two from 1 to 128. Planes may be larger, up to 128.
    pub plane_size_min: usize,
    /// The units of a plane can be synchronised: [`Plane::Sync`](cubecl::ir::features::Plane::Sync).
    pub planes_meet: bool,
}

impl CubeScanConfig {
    /// `algorithm` for cubes of `units` units on the device of `client`.
    ///
    /// Does not check that the device has what the algorithm needs: see [`CubeScanAlgorithm::is_supported`].
    pub fn new(client: &Client, algorithm: CubeScanAlgorithm, op: ScanOp, units: usize) -> Self {
        let plane_size_min = client.properties().hardware.plane_size_min.max(1) as usize;
        Self {
            algorithm,
            op,
            units,
            plane_size_min,
            planes_meet: client.features().plane.contains(Plane::Sync),
        }
    }

    /// The algorithm that runs. Planes of one unit have nothing to scan: then `PlaneScans` becomes `Raking`.
    pub(super) fn effective(&self) -> CubeScanAlgorithm {
        match self.algorithm {
            CubeScanAlgorithm::PlaneScans if self.plane_size_min < 2 => CubeScanAlgorithm::Raking,
            algorithm => algorithm,
        }
    }

    /// The most planes of the cube: all of the smallest size.
    pub fn max_planes(&self) -> usize {
        self.units.div_ceil(self.plane_size_min)
    }

    /// How values are raked.
    pub(super) fn rake(&self) -> Rake {
        let rake = Rake::new(self.units, self.units);
        match self.algorithm {
            CubeScanAlgorithm::RakingMemoize => rake.memoizing(),
            _ => rake,
        }
    }
}

/// The elements of shared memory that a cube-level scan needs: the length for `Shared::new_slice`. More does no harm.
pub fn cube_scan_storage(config: CubeScanConfig) -> usize {
    use CubeScanAlgorithm::*;
    match config.effective() {
        PlaneScans => config.max_planes(),
        Raking | RakingMemoize => config.rake().states(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(algorithm: CubeScanAlgorithm, units: usize, plane_size_min: usize) -> CubeScanConfig {
        CubeScanConfig {
            algorithm,
            op: ScanOp::Sum,
            units,
            plane_size_min,
            planes_meet: false,
        }
    }

    #[test]
    fn storage_is_what_the_layouts_say() {
        use CubeScanAlgorithm::*;
        let storage = |algorithm, units| cube_scan_storage(config(algorithm, units, 32));
        assert_eq!(storage(PlaneScans, 100), 4);
        assert_eq!(storage(Raking, 256), 32 * 9 + 32 + 1);
        assert_eq!(storage(RakingMemoize, 100), 25 * 5 + 25 + 1);
    }

    #[test]
    fn planes_of_one_unit_are_raked() {
        for algorithm in CubeScanAlgorithm::ALL {
            assert!(!config(algorithm, 64, 1).effective().needs_plane_ops());
            assert_eq!(config(algorithm, 64, 2).effective(), algorithm);
        }
    }
}
