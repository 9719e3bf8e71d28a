//! The inclusive scan over the units of a plane, for any operator: a Kogge-Stone ladder of shuffles (Kogge & Stone
//! 1973).
//!
//! After step `d` a unit holds the total of the `2d` units that end with it.
//!
//! ```text
//! unit     0    1    2    3
//! value    a    b    c    d
//! d = 1    a    ab   bc   cd
//! d = 2    a    ab   abc  abcd
//! ```
//!
//! Needs `Plane::Ops`; every unit of the plane must take part.

use super::{Monoid, State, join};
use cubecl::prelude::*;

/// The unit's position in its plane.
#[cube]
pub(crate) fn lane_of_unit(#[comptime] plane_size: usize) -> u32 {
    if comptime!(plane_size > 0) {
        UNIT_POS % comptime!(plane_size as u32)
    } else {
        UNIT_POS_PLANE
    }
}

/// The inclusive scan over a plane by shuffles, for any operator.
#[cube]
pub fn plane_ladder<A: Numeric, M: Monoid<A>>(
    value: &M::State,
    #[comptime] plane_size: usize,
    #[comptime] op: M::Config,
) -> M::State {
    let lane = lane_of_unit(plane_size);
    ladder_within::<A, M>(value, lane, PLANE_DIM - 1, plane_size, op)
}

/// The ladder of units that reach back `reach` units: not before the first, and no farther than `farthest`. Every unit
/// of the plane takes part. It is unrolled if the size of a plane is known.
#[cube]
pub(crate) fn ladder_within<A: Numeric, M: Monoid<A>>(
    value: &M::State,
    reach: u32,
    farthest: u32,
    #[comptime] plane_size: usize,
    #[comptime] op: M::Config,
) -> M::State {
    let mut total = M::State::copy(value);
    if comptime!(plane_size > 0) {
        // Without a loop the ladders of a unit's vectors run side by side.
        #[unroll]
        for step in 0..comptime!(plane_size.ilog2()) {
            let distance = comptime!(1u32 << step);
            let left = M::State::shuffle_up(&total, distance);
            let with = join::<A, M>(&left, &total, op);
            total = M::State::select(distance <= reach, &with, &total);
        }
    } else {
        let mut distance = 1u32;
        while distance <= farthest {
            let left = earlier_unit::<M::State>(&total, distance, plane_size);
            let with = join::<A, M>(&left, &total, op);
            total = M::State::select(distance <= reach, &with, &total);
            distance *= 2;
        }
    }
    total
}

/// The state of the unit `distance` before this one; any state if there is none.
#[cube]
pub(crate) fn earlier_unit<S: State>(value: &S, distance: u32, #[comptime] plane_size: usize) -> S {
    if comptime!(plane_size > 0) {
        S::shuffle_up(value, distance)
    } else {
        let lane = lane_of_unit(plane_size);
        S::shuffle(value, select(lane >= distance, lane - distance, lane))
    }
}
