//! The linear recurrence `h[t] = decay[t]·h[t−1] + value[t]`.
//!
//! An element stands for the map `h ↦ decay·h + value`. The composition of two such maps is another one (Kogge & Stone
//! 1973; Martin & Cundy, "Parallelizing Linear Recurrent Neural Nets Over Sequence Length", 2018):
//!
//! ```text
//! (a, b) ∘ (a′, b′)  =  (a·a′, a′·b + b′)
//! ```
//!
//! `0·∞` and `0·NaN` are NaN. If a decay of 0 resets the recurrence, these products are 0: a map whose factor is 0 is a
//! constant, whatever is before it. A state of 0 stays 0, even if a product of decays has left the range.

use super::{Element, Monoid, Operator, Pair, Written, plane_ladder};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Reads values, then decays. Writes `h`, which begins with 0 or what the line resumes from. Where a product of decays
/// underflows, earlier elements no longer matter: their part of the sum is 0.
pub type LinearRecurrence = Recurrence<false>;

/// As [`LinearRecurrence`], but 0 times infinity or NaN is 0: a decay of 0 forgets all states, and a state of 0 passes all
/// decays. Where a product of decays underflows, it forgets as well: earlier elements no longer matter.
pub type ResetRecurrence = Recurrence<true>;

/// A linear recurrence, and whether a decay of 0 resets it.
pub struct Recurrence<const RESETS: bool>;

impl<const RESETS: bool> Operator for Recurrence<RESETS> {
    type Monoid<A: Numeric> = Self;
    type Config = ();
    const INPUTS: usize = 2;

    fn state_size(accumulator: ElemType) -> usize {
        2 * accumulator.size()
    }
}

#[cube]
impl<A: Numeric, const RESETS: bool> Monoid<A> for Recurrence<RESETS> {
    /// The product of the decays, and the last `h` if the line begins with 0.
    type State = Pair<A, A>;
    type Config = ();

    fn identity(_seed: A, #[comptime] _config: ()) -> Pair<A, A> {
        Pair::new(A::from_int(1), A::from_int(0))
    }

    fn read(element: &Element<A>, #[comptime] _config: ()) -> Pair<A, A> {
        Pair::new(element.values[1], element.values[0])
    }

    fn resume(written: &Sequence<A>, #[comptime] _config: ()) -> Pair<A, A> {
        Pair::new(A::from_int(1), written[0])
    }

    fn combine(lhs: &Pair<A, A>, rhs: &Pair<A, A>, #[comptime] _config: ()) -> Pair<A, A> {
        if comptime!(RESETS) {
            let zero = A::from_int(0);
            let forgets = rhs.first == zero;
            let factor = select(lhs.first == zero, zero, lhs.first * rhs.first);
            let value = rhs.first * lhs.second + rhs.second;
            let value = select(lhs.second == zero, rhs.second, value);
            Pair::new(
                select(forgets, zero, factor),
                select(forgets, rhs.second, value),
            )
        } else {
            Pair::new(lhs.first * rhs.first, rhs.first * lhs.second + rhs.second)
        }
    }

    fn write(state: &Pair<A, A>, #[comptime] _config: ()) -> Written<A> {
        Written::value(state.second)
    }

    fn plane_inclusive(
        state: &Pair<A, A>,
        #[comptime] plane_size: usize,
        #[comptime] config: (),
    ) -> Pair<A, A> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}
