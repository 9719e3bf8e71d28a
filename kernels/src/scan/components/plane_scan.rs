//! Scans over the units of one plane, for any operator.
//!
//! Sums and products of 32-bit accumulators use the hardware's scan if the backend has one. Everything else is a
//! Kogge-Stone ladder of shuffles (Kogge & Stone 1973): after step `d` a unit holds the total of the `2d` units that
//! end with it.
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

use crate::monoid::{Fold, Monoid, State, join};
use crate::operator::ScanOp;
use cubecl::prelude::*;

/// Inclusive scan over the plane: unit `i` receives `v₀ ⊕ … ⊕ vᵢ`.
#[cube]
pub fn plane_inclusive_scan<A: Numeric>(value: A, #[comptime] op: ScanOp) -> A {
    match op {
        ScanOp::Sum => plane_inclusive_sum(value),
        ScanOp::Prod => plane_inclusive_prod(value),
        _ => plane_ladder::<A, Fold>(&value, 0usize, op),
    }
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

/// The unit's position in its plane.
#[cube]
pub(crate) fn lane_of_unit(#[comptime] plane_size: usize) -> u32 {
    if comptime!(plane_size > 0) {
        UNIT_POS % comptime!(plane_size as u32)
    } else {
        UNIT_POS_PLANE
    }
}

/// The unit's plane.
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
    if comptime!(plane_size > 0) {
        S::select(lane == 0, first, &S::shuffle_up(value, 1u32))
    } else {
        let before = S::shuffle(value, select(lane == 0, 0u32, lane - 1));
        S::select(lane == 0, first, &before)
    }
}

/// The inclusive scan over a plane by shuffles, for any operator. It is unrolled if the size of a plane is known.
#[cube]
pub fn plane_ladder<A: Numeric, M: Monoid<A>>(
    value: &M::State,
    #[comptime] plane_size: usize,
    #[comptime] op: M::Config,
) -> M::State {
    let lane = lane_of_unit(plane_size);
    let mut total = M::State::copy(value);
    if comptime!(plane_size > 0) {
        let steps = comptime!(plane_size.ilog2());
        #[unroll]
        for step in 0..steps {
            let distance = comptime!(1u32 << step);
            let left = M::State::shuffle_up(&total, distance);
            let with = join::<A, M>(&left, &total, op);
            total = M::State::select(lane >= distance, &with, &total);
        }
    } else {
        let mut distance = 1u32;
        while distance < PLANE_DIM {
            let has_left = lane >= distance;
            let left = M::State::shuffle(&total, select(has_left, lane - distance, lane));
            let with = join::<A, M>(&left, &total, op);
            total = M::State::select(has_left, &with, &total);
            distance *= 2;
        }
    }
    total
}
