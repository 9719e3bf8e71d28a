//! The choice of algorithm.

use cubecl::client::Client;
use cubecl::ir::features::Plane;
use cubecl::prelude::*;

/// How the units of a cube scan their values: the choice that CUB's `BlockScan` offers.
///
/// All return the same for an associative operator. Sums and products of floats may differ in rounding, because each
/// algorithm has its own fixed order.
#[derive_cube_comptime]
#[non_exhaustive]
pub enum CubeScanAlgorithm {
    /// A hardware scan per plane, then a scan of the planes' totals (Sengupta, Harris, Garland 2008).
    PlaneScans,
    /// Up to 32 units walk shares of shared memory twice (Merrill, CUB's `BLOCK_SCAN_RAKING`, 2011).
    Raking,
    /// `Raking` that keeps the share in registers between the two walks.
    RakingMemoize,
}

impl CubeScanAlgorithm {
    /// Every algorithm, for tests and tables.
    pub const ALL: [CubeScanAlgorithm; 3] = [Self::PlaneScans, Self::Raking, Self::RakingMemoize];

    /// `PlaneScans` if the device has plane operations and planes of one size, else `Raking`.
    pub fn default_for(client: &Client) -> Self {
        let hardware = &client.properties().hardware;
        let one_size = hardware.plane_size_min == hardware.plane_size_max;
        if one_size && Self::PlaneScans.is_supported(client) {
            Self::PlaneScans
        } else {
            Self::Raking
        }
    }

    /// Whether the algorithm needs [`Plane::Ops`].
    pub fn needs_plane_ops(self) -> bool {
        self == Self::PlaneScans
    }

    /// Whether the device advertises what the algorithm needs.
    pub fn is_supported(self, client: &Client) -> bool {
        !self.needs_plane_ops() || client.features().plane.contains(Plane::Ops)
    }
}
