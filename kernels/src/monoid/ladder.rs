//! The inclusive scan over the units of a plane, for any operator: a Kogge-Stone ladder of shuffles (Kogge & Stone 1973).
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
