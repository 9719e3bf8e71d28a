//! Transposes the elements of a plane, from striped to blocked and back, without shared memory.
//!
//! ```text
//! striped    unit 0: a₀ a₄ a₈ …      unit 1: a₁ a₅ a₉ …      neighbours read neighbours
//! blocked    unit 0: a₀ a₁ a₂ …      unit 1: a₄ a₅ a₆ …      a unit scans what it holds
//! ```
//!
//! A unit has `n` elements and sends one in each of `n` rounds. Each round is a permutation of the units: no two units
//! ask the same unit. For this, a unit lags one element behind the unit before it in the same stripe. So which element
//! a unit sends in a round depends on the unit. It rotates its elements before the first round and after the last, with
//! a select for each bit of the distance (Catanzaro, Keller & Garland, "A decomposition for in-place matrix
//! transposition", 2014).

use super::plane_scan::{lane_of_unit, plane_units};
use cubecl::prelude::*;

/// `rotated[i] = values[(i + by) % len]`, or `values[(len - i - by) % len]` if mirrored. `len` is a power of two.
#[cube]
fn rotate<A: Numeric>(
    values: &Array<A>,
    by: u32,
    #[comptime] mirrored: bool,
    #[comptime] len: usize,
) -> Array<A> {
    let mut rotated = Array::<A>::new(len);
    #[unroll]
    for i in 0..len {
        rotated[i] = values[comptime!(if mirrored { (len - i) % len } else { i })];
    }
    #[unroll]
    for bit in 0..comptime!(len.ilog2()) {
        let mut next = Array::<A>::new(len);
        let far = (by >> bit) & 1u32 == 1u32;
        #[unroll]
        for i in 0..len {
            next[i] = select(far, rotated[comptime!((i + (1 << bit)) % len)], rotated[i]);
        }
        #[unroll]
        for i in 0..len {
            rotated[i] = next[i];
        }
    }
    rotated
}

/// From striped to blocked. `len` divides the units of a plane, and all of them take part.
#[cube]
pub(crate) fn striped_to_blocked<A: Numeric>(
    values: &Array<A>,
    #[comptime] len: usize,
    #[comptime] plane_size: usize,
) -> Array<A> {
    let size = comptime!(len as u32);
    let lane = lane_of_unit(plane_size);
    let units = plane_units(plane_size);
    let stripe = lane / (units / size);
    let sent = rotate::<A>(values, size - lane % size, true, len);
    let mut received = Array::<A>::new(len);
    #[unroll]
    for round in 0..len {
        let from = (size * lane + (round as u32 + stripe) % size) % units;
        received[round] = plane_shuffle(sent[round], from);
    }
    rotate::<A>(&received, size - stripe, false, len)
}

/// The inverse of [`striped_to_blocked`].
#[cube]
pub(crate) fn blocked_to_striped<A: Numeric>(
    values: &Array<A>,
    #[comptime] len: usize,
    #[comptime] plane_size: usize,
) -> Array<A> {
    let size = comptime!(len as u32);
    let lane = lane_of_unit(plane_size);
    let apart = plane_units(plane_size) / size;
    let sent = rotate::<A>(values, lane / apart, false, len);
    let mut received = Array::<A>::new(len);
    #[unroll]
    for round in 0..len {
        let stripe = (lane + comptime!(size - round as u32)) % size;
        received[round] = plane_shuffle(sent[round], stripe * apart + lane / size);
    }
    rotate::<A>(&received, size - lane % size, true, len)
}
