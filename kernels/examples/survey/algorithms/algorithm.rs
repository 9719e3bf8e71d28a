//! The choice of algorithm.

use cubecl::prelude::*;
use cubecl_scan::cube::CubeScanAlgorithm;

/// How the units of a cube scan their values.
#[derive_cube_comptime]
pub enum Algorithm {
    /// By an algorithm of the library.
    Published(CubeScanAlgorithm),
    /// Each superstep doubles the distance looked back (Kogge & Stone 1973, Hillis & Steele 1986).
    HillisSteele,
    /// Each superstep joins neighbouring blocks (Sklansky 1960).
    Sklansky,
    /// A tree up, and the same tree down (Brent & Kung 1982, Blelloch 1990).
    BrentKung,
    /// `BrentKung` with the plane as radix.
    PlaneBrentKung,
    /// `PlaneBrentKung` in which each level up is followed at once by its fan down.
    PlaneFusedBrentKung,
    /// Planes scan on their own, then join as in `Sklansky`.
    PlaneSklansky,
    /// One plane walks the whole cube.
    PlaneSerial,
    /// A few planes walk a part each, then one of them scans the parts' totals.
    PlaneRakingReduceScan,
}

impl Algorithm {
    /// Those that the library does not have.
    pub const MORE: [Algorithm; 8] = [
        Self::HillisSteele,
        Self::Sklansky,
        Self::BrentKung,
        Self::PlaneBrentKung,
        Self::PlaneFusedBrentKung,
        Self::PlaneSklansky,
        Self::PlaneSerial,
        Self::PlaneRakingReduceScan,
    ];

    /// Every algorithm, the library's first.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        let published = CubeScanAlgorithm::ALL.map(Self::Published);
        published.into_iter().chain(Self::MORE)
    }

    pub fn name(self) -> String {
        match self {
            Self::Published(algorithm) => format!("{algorithm:?}"),
            other => format!("{other:?}"),
        }
    }

    /// Whether the algorithm needs `Plane::Ops`.
    pub fn needs_plane_ops(self) -> bool {
        match self {
            Self::Published(algorithm) => algorithm.needs_plane_ops(),
            Self::HillisSteele | Self::Sklansky | Self::BrentKung => false,
            Self::PlaneBrentKung
            | Self::PlaneFusedBrentKung
            | Self::PlaneSklansky
            | Self::PlaneSerial
            | Self::PlaneRakingReduceScan => true,
        }
    }
}
