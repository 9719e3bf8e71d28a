//! Scans across one plane.

#![expect(
    missing_docs,
    reason = "the `cube` macro generates modules without documentation"
)]

use super::config::CubeScanConfig;
use crate::monoid::{Fold, Monoid};
use crate::operator::{ScanOp, combine};
use crate::scan::components::plane_scan::{reconverge, shift_up};
use cubecl::prelude::*;

/// Inclusive scan over the plane: unit `i` receives `v₀ ⊕ … ⊕ vᵢ`.
///
/// Sums and products use the hardware's scan, the others a Kogge-Stone ladder of shuffles. Needs
/// [`Plane::Ops`](cubecl::ir::features::Plane::Ops), and every unit of the plane takes part. A plane may be only partly
/// filled by the cube.
#[cube]
pub fn plane_inclusive_scan<A: Numeric>(value: A, #[comptime] op: ScanOp) -> A {
    <Fold as Monoid<A>>::plane_inclusive(&value, 0usize, op)
}

/// Exclusive scan over the plane: unit `i` receives `v₀ ⊕ … ⊕ vᵢ₋₁` and unit 0 the identity.
///
/// Shifts the result of [`plane_inclusive_scan()`], which needs the same, by one unit. This is exact for every operator.
#[cube]
pub fn plane_exclusive_scan<A: Numeric>(value: A, identity: A, #[comptime] op: ScanOp) -> A {
    let inclusive = plane_inclusive_scan::<A>(value, op);
    shift_up::<A>(&inclusive, &identity, 0usize)
}

/// The last unit of this plane: `PLANE_DIM − 1`, or less in a last plane that the cube does not fill.
#[cube]
pub(super) fn last_unit_of_plane() -> u32 {
    let first = PLANE_POS * PLANE_DIM;
    max(min(first + PLANE_DIM, CUBE_DIM) - first, 1u32) - 1
}

/// Scans the elements of `shared` from `first` to before `end` in place, by this plane, and returns their total.
/// `PlaneScans` uses it for the totals of its planes.
///
/// - `identity`: the identity of `op`, as for [`cube_inclusive_scan()`](crate::cube::cube_inclusive_scan()).
/// - `steps`: each step scans as many neighbouring elements as the plane has units. There must be enough steps for the
///   longest range of the cube.
///
/// Every unit of the plane takes part. Plane operations need uniform control flow, so every plane of the cube calls
/// this with the same `steps`, and a plane with nothing to do passes an empty range. In a plane that the cube does not
/// fill, the range is no longer than the plane. The caller needs a `sync_cube` before and after.
///
/// Needs [`Plane::Ops`](cubecl::ir::features::Plane::Ops).
#[cube]
pub fn plane_scan_in_place<A: Numeric>(
    shared: &mut Shared<[A]>,
    first: usize,
    end: usize,
    identity: A,
    #[comptime] steps: usize,
    #[comptime] config: CubeScanConfig,
) -> A {
    let last = last_unit_of_plane();
    let mut carry = identity;
    for step in 0..steps {
        let at = first + step * PLANE_DIM as usize + UNIT_POS_PLANE as usize;
        let mut value = identity;
        if at < end {
            value = shared[at];
        }
        reconverge(config.planes_meet);
        let inclusive = plane_inclusive_scan::<A>(value, config.op);
        let total = combine::<A>(carry, inclusive, config.op);
        carry = plane_shuffle(total, last);
        if at < end {
            shared[at] = total;
        }
    }
    carry
}
