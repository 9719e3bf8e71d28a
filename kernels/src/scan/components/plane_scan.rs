//! Scans over the units of one plane, and where a unit stands in it.
//!
//! Sums and products use the hardware's scan if the backend has one. Everything else is a
//! [ladder of shuffles](crate::monoid::plane_ladder()).
//!
//! Needs `Plane::Ops`; every unit of the plane must take part.

#![expect(
    missing_docs,
    reason = "the `cube` macro generates modules without documentation"
)]

pub(crate) use crate::monoid::lane_of_unit;
use crate::monoid::{Fold, Monoid, State, earlier_unit};
use crate::operator::ScanOp;
use cubecl::prelude::*;

/// Inclusive scan over the plane: unit `i` receives `v₀ ⊕ … ⊕ vᵢ`.
#[cube]
pub fn plane_inclusive_scan<A: Numeric>(value: A, #[comptime] op: ScanOp) -> A {
    <Fold as Monoid<A>>::plane_inclusive(&value, 0usize, op)
}

/// Exclusive scan over the plane: unit `i` receives `v₀ ⊕ … ⊕ vᵢ₋₁` and unit 0 the identity.
///
/// Shifts the result of [`plane_inclusive_scan()`] by one unit. This is exact for every operator; subtracting the
/// unit's own value would not be.
#[cube]
pub fn plane_shift_inclusive<A: Numeric>(inclusive: A, identity: A) -> A {
    shift_up::<A>(&inclusive, &identity, 0usize)
}

/// The units of a plane. `plane_size` is 0 if it is not known when the kernel is compiled.
#[cube]
pub(crate) fn plane_units(#[comptime] plane_size: usize) -> u32 {
    if comptime!(plane_size > 0) {
        comptime!(plane_size as u32).runtime()
    } else {
        PLANE_DIM
    }
}

#[cube]
pub(crate) fn plane_of_unit(#[comptime] plane_size: usize) -> u32 {
    if comptime!(plane_size > 0) {
        UNIT_POS / comptime!(plane_size as u32)
    } else {
        PLANE_POS
    }
}

/// The state of the unit before, and `first` in unit 0.
#[cube]
pub(crate) fn shift_up<S: State>(value: &S, first: &S, #[comptime] plane_size: usize) -> S {
    let lane = lane_of_unit(plane_size);
    S::select(
        lane == 0,
        first,
        &earlier_unit::<S>(value, 1u32, plane_size),
    )
}
