//! Where a unit stands in its plane, the state of the unit before it, and where the units of a plane meet.
//!
//! Needs `Plane::Ops`; every unit of the plane must take part.

pub(crate) use crate::monoid::lane_of_unit;
use crate::monoid::{State, earlier_unit};
use cubecl::prelude::*;

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

/// Brings the units of a plane together after a branch that not all of them take, if they `can_meet`. A plane operation
/// does not wait for units that are in a branch.
#[cube]
pub(crate) fn reconverge(#[comptime] can_meet: bool) {
    if comptime!(can_meet) {
        sync_plane();
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
