//! Scans across one plane.

#![expect(
    missing_docs,
    reason = "the `cube` macro generates modules without documentation"
)]

use crate::operator::ScanOp;
use crate::scan::components::plane_scan::plane_shift_inclusive;
use cubecl::prelude::*;

pub use crate::scan::components::plane_scan::plane_inclusive_scan;

/// Exclusive scan over the plane: unit `i` receives `v₀ ⊕ … ⊕ vᵢ₋₁` and unit 0 the identity.
///
/// Sums and products use the hardware's scan, the others a Kogge-Stone ladder of shuffles. The inclusive scan is
/// shifted by one unit, which is exact for every operator. Needs [`Plane::Ops`](cubecl::ir::features::Plane::Ops), and
/// every unit of the plane takes part. A plane may be only partly filled by the cube.
#[cube]
pub fn plane_exclusive_scan<A: Numeric>(value: A, identity: A, #[comptime] op: ScanOp) -> A {
    let inclusive = plane_inclusive_scan::<A>(value, op);
    plane_shift_inclusive::<A>(inclusive, identity)
}

/// The last unit of this plane: `PLANE_DIM − 1`, or less in a last plane that the cube does not fill.
#[cube]
pub(super) fn last_unit_of_plane() -> u32 {
    let first = PLANE_POS * PLANE_DIM;
    max(min(first + PLANE_DIM, CUBE_DIM) - first, 1u32) - 1
}
