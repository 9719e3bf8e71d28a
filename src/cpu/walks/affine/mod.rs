//! Maps `h ↦ a·h + b`, one for each step of a recurrence, and their composition.
//!
//! A single column is bound by the latency of its two operations. There a vector of the processor composes its own
//! elements first (Kogge & Stone 1973):
//!
//! ```text
//! composed    (a0, b0)  (a1·a0, a1·b0 + b1)  …        three steps of shuffles
//! output      a·h + b of each lane                    h: the last lane of the vector before
//! ```
//!
//! Compositions may leave the range of floats where the walk does not: a product of decays may overflow and then meet a
//! zero. The kernels watch the compositions, and walk the elements one by one where a composition is not finite.
//!
//! The adjoint of a recurrence multiplies by the decay after an addition, not before it: `h ↦ a·(h + x)`. There `b` is
//! `a·x`.

mod inputs;
mod tile;

pub(super) use inputs::{Inputs, Rooms, gathered};
pub(super) use tile::Tile;

use super::super::element::TILE;
use super::super::traits::Accumulator;

/// The map `h ↦ factor·h + offset`. A state is a map whose offset is `h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine<A> {
    pub(super) factor: A,
    pub(super) offset: A,
}

impl<A: Accumulator> Affine<A> {
    pub(super) fn state(h: A) -> Self {
        Self {
            factor: A::ONE,
            offset: h,
        }
    }

    /// This map, followed by the map of an element.
    #[inline(always)]
    pub(super) fn then(self, decay: A, value: A) -> Self {
        Self {
            factor: self.factor.mul(decay),
            offset: decay.mul(self.offset).add(value),
        }
    }

    /// The state behind a piece of this total, if walking the piece leads to the same state, up to rounding.
    pub(super) fn behind(self, total: Self) -> Option<Self> {
        let is_finite = |x: A| x.mul(A::ZERO) == A::ZERO;
        (is_finite(total.factor) && is_finite(total.offset))
            .then(|| Self::state(total.factor.mul(self.offset).add(total.offset)))
    }
}

/// The values of states, side by side for vector loops.
pub(super) fn side_by_side<'a, A: Accumulator>(
    states: &[Affine<A>],
    room: &'a mut [A; TILE],
) -> &'a mut [A] {
    let room = &mut room[..states.len()];
    for (slot, state) in room.iter_mut().zip(states) {
        *slot = state.offset;
    }
    room
}

/// The `b` of an element's map.
#[inline(always)]
fn offset<A: Accumulator, const ADJOINT: bool>(decay: A, value: A) -> A {
    if ADJOINT { decay.mul(value) } else { value }
}
