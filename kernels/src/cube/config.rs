//! What a cube-level scan is compiled for, and the shared memory it needs.

use super::algorithm::{CubeScanAlgorithm, has_plane_ops};
use crate::ScanOp;
use cubecl::client::Client;
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
    /// Whether algorithms that can do without plane operations use them.
    pub plane_ops: bool,
}

impl CubeScanConfig {
    /// `algorithm` for cubes of `units` units on the device of `client`.
    ///
    /// Does not check that the device has what the algorithm needs: see [`CubeScanAlgorithm::is_supported`].
    pub fn new(client: &Client, algorithm: CubeScanAlgorithm, op: ScanOp, units: usize) -> Self {
        let plane_size_min = client.properties().hardware.plane_size_min.max(1) as usize;
        let plane_ops = has_plane_ops(client);
        Self {
            algorithm,
            op,
            units,
            plane_size_min,
            plane_ops,
        }
    }

    /// Sets whether `Raking` and `RakingMemoize` use plane operations, whatever the device advertises.
    pub fn with_plane_ops(self, plane_ops: bool) -> Self {
        Self { plane_ops, ..self }
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

    /// Whether the totals of the raking units are scanned by their plane.
    pub(super) fn rakes_in_plane(&self) -> bool {
        self.plane_ops && self.plane_size_min > 1
    }

    /// The values a raking unit walks.
    pub(super) fn raking_segment(&self) -> usize {
        // If the device does not tell the size of a plane: the units of a plane on most GPUs.
        let plane = if self.plane_size_min > 1 {
            self.plane_size_min
        } else {
            32
        };
        self.units.div_ceil(plane)
    }

    /// The distance between raking segments. It is odd, so that raking units access different banks of shared memory.
    pub(super) fn raking_stride(&self) -> usize {
        self.raking_segment() | 1
    }

    /// The units that rake.
    pub(super) fn raking_units(&self) -> usize {
        self.units.div_ceil(self.raking_segment())
    }
}

/// The elements of shared memory that a cube-level scan needs: the length for `Shared::new_slice`. More does no harm.
pub fn cube_scan_storage(config: CubeScanConfig) -> usize {
    use CubeScanAlgorithm::*;
    match config.effective() {
        PlaneScans => config.max_planes(),
        Raking | RakingMemoize => {
            let totals = if config.rakes_in_plane() {
                0
            } else {
                config.raking_units()
            };
            config.raking_units() * config.raking_stride() + totals + 1
        }
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
            plane_ops: true,
        }
    }

    #[test]
    fn storage_is_what_the_layouts_say() {
        assert_eq!(
            cube_scan_storage(config(CubeScanAlgorithm::PlaneScans, 100, 32)),
            4
        );
        assert_eq!(
            cube_scan_storage(config(CubeScanAlgorithm::Raking, 256, 32)),
            32 * 9 + 1
        );
        let no_planes = config(CubeScanAlgorithm::Raking, 256, 32).with_plane_ops(false);
        assert_eq!(cube_scan_storage(no_planes), 32 * 9 + 32 + 1);
    }

    #[test]
    fn planes_of_one_unit_are_raked() {
        for algorithm in CubeScanAlgorithm::ALL {
            assert!(!config(algorithm, 64, 1).effective().needs_plane_ops());
            assert_eq!(config(algorithm, 64, 2).effective(), algorithm);
        }
    }
}
