//! Scans over the units of one plane, for any operator.
//!
//! Sum and Prod of 32-bit accumulators use the hardware's scan where the backend has one; everything else is a Kogge-Stone ladder
//! of shuffles (Kogge & Stone 1973): after step `d` a unit holds the total of the `2d` units that end with it.
//!
//! ```text
//! unit     0    1    2    3
//! value    a    b    c    d
//! d = 1    a    ab   bc   cd
//! d = 2    a    ab   abc  abcd
//! ```
//!
//! Needs `Plane::Ops`; every unit of the plane must take part.

#![expect(
    missing_docs,
    reason = "the `cube` macro generates modules without documentation"
)]

use crate::operator::{ScanOp, combine};
use cubecl::prelude::*;

/// Inclusive scan over the plane: unit `i` receives `v₀ ⊕ … ⊕ vᵢ`.
#[cube]
pub fn plane_inclusive_scan<A: Numeric>(value: A, #[comptime] op: ScanOp) -> A {
    match op {
        ScanOp::Sum => plane_inclusive_sum(value),
        ScanOp::Prod => plane_inclusive_prod(value),
        _ => plane_shuffle_scan::<A>(value, op),
    }
}

/// Exclusive scan over the plane: unit `i` receives `v₀ ⊕ … ⊕ vᵢ₋₁` and unit 0 the identity.
///
/// Takes the result of [`plane_inclusive_scan()`] and shifts it by one unit, which is exact for every operator,
/// where subtracting the own value would not be.
#[cube]
pub fn plane_shift_inclusive<A: Numeric>(inclusive: A, identity: A) -> A {
    let before = plane_shuffle(
        inclusive,
        select(UNIT_POS_PLANE == 0, 0u32, UNIT_POS_PLANE - 1),
    );
    select(UNIT_POS_PLANE == 0, identity, before)
}

/// The Kogge-Stone ladder that [`plane_inclusive_scan`] falls back to.
#[cube]
fn plane_shuffle_scan<A: Numeric>(value: A, #[comptime] op: ScanOp) -> A {
    let mut total = value;
    let mut distance = 1u32;
    while distance < PLANE_DIM {
        let source = select(
            UNIT_POS_PLANE >= distance,
            UNIT_POS_PLANE - distance,
            UNIT_POS_PLANE,
        );
        let left = plane_shuffle(total, source);
        total = select(
            UNIT_POS_PLANE >= distance,
            combine::<A>(left, total, op),
            total,
        );
        distance *= 2;
    }
    total
}
