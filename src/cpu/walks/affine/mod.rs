//! Maps `h ↦ a·h + b`, one for each step of a recurrence, and their composition.
//!
//! A single column is bound by the latency of its two operations. So a vector of the processor composes its own
//! elements first (Kogge & Stone 1973):
//!
//! ```text
//! composed    (a0, b0)  (a1·a0, a1·b0 + b1)  …        three steps of shuffles
//! output      a·h + b of each lane                    h: the last lane of the vector before
//! ```
//!
//! Compositions may leave the range of floats where the walk does not: a product of decays may overflow and then meet a
//! zero, or vanish and then meet a state that is huge, or a decay that brings it back. The kernels watch the
//! compositions and the decays, and walk the elements one by one where a composition is not finite, or where a product
//! of decays is not a normal number and what it multiplies could matter.
//!
//! The adjoint of a recurrence multiplies by the decay after an addition, not before it: `h ↦ a·(h + x)`. There `b` is
//! `a·x`.

mod inputs;
mod tile;

pub(super) use inputs::{AffineInputs, Rooms};
pub(super) use tile::{Tile, is_moderate};

use super::super::element::TILE;
use super::super::traits::Accumulator;

/// The map `h ↦ factor·h + offset`. A state is a map whose offset is `h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine<A> {
    factor: A,
    pub(super) offset: A,
    /// The smallest factor up to any of the elements, by magnitude, since the last decay of 0: that one forgets exactly.
    least: A,
    /// The largest decay, by magnitude.
    most: A,
}

impl<A: Accumulator> Affine<A> {
    pub(super) fn state(h: A) -> Self {
        Self {
            factor: A::ONE,
            offset: h,
            least: A::ONE,
            most: A::ONE,
        }
    }

    /// This map, followed by the map of an element.
    #[inline(always)]
    pub(super) fn then(self, decay: A, value: A) -> Self {
        let factor = self.factor.mul(decay);
        let least = if self.factor == A::ZERO {
            self.least
        } else {
            self.least.min(factor.magnitude())
        };
        Self {
            factor: factor.without_subnormals(),
            offset: decay.mul(self.offset).add(value),
            least: if decay == A::ZERO { A::ONE } else { least },
            most: self.most.max(decay.magnitude()),
        }
    }

    /// Whether both numbers of the map are finite.
    pub(super) fn is_finite(self) -> bool {
        self.factor.mul(A::ZERO).add(self.offset.mul(A::ZERO)) == A::ZERO
    }

    /// The map of a piece that must be walked.
    #[inline(always)]
    fn unknown(self) -> Self {
        Self {
            factor: A::HIGHEST.mul(A::ZERO),
            ..self
        }
    }

    /// The state after a piece of this total, if walking the piece leads to the same state, up to rounding.
    pub(super) fn after(self, total: Self) -> Option<Self> {
        let h = self.offset;
        (total.is_finite() && (total.least.is_normal() || total.forgets(h)))
            .then(|| Self::state(total.factor.mul(h).add(total.offset)))
    }

    /// Whether a factor that is not a normal number may stand for the product of the decays before `h`. If no decay
    /// exceeds 1, the true product is no larger, and does not grow again.
    fn forgets(self, h: A) -> bool {
        let size = h.magnitude();
        h == A::ZERO
            || self.most == A::ONE
                && (size <= A::ONE || size.mul(A::NEGLIGIBLE) <= self.offset.magnitude())
    }
}

/// The state after an element: a selection, not a branch, so that loops over columns are vectorized.
#[inline(always)]
pub(super) fn state_after<A: Accumulator, const RESETS: bool>(before: A, decay: A, value: A) -> A {
    let after = decay.mul(before).add(value);
    if RESETS && (decay == A::ZERO || before == A::ZERO) {
        A::ZERO.add(value)
    } else {
        after
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
