//! The linear recurrence `h[t] = decay[t]·h[t−1] + value[t]`, in which a decay of 0 forgets what is before it.
//!
//! `0·∞` and `0·NaN` are NaN. Here a map whose factor is 0 is a constant, whatever stands before it:
//!
//! ```text
//! (a, b) ∘ (a′, b′)  =  (0, b′)               where a′ is 0
//!                       (0, a′·b + b′)        where a is 0
//!                       (a·a′, a′·b + b′)     elsewhere
//! ```

use super::{Element, LinearRecurrence, Monoid, Operator, Pair, Written, plane_ladder};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// As [`LinearRecurrence`], but a decay of 0 forgets even infinities and NaN: `h` is the value
/// there. Where a product of decays underflows, it forgets as well: earlier elements no longer matter.
pub struct ResetRecurrence;

impl Operator for ResetRecurrence {
    type Monoid<A: Numeric> = Self;
    type Config = ();
    const INPUTS: usize = LinearRecurrence::INPUTS;

    fn state_size(accumulator: ElemType) -> usize {
        LinearRecurrence::state_size(accumulator)
    }
}

#[cube]
impl<A: Numeric> Monoid<A> for ResetRecurrence {
    /// As that of [`LinearRecurrence`].
    type State = Pair<A, A>;
    type Config = ();

    fn identity(seed: A, #[comptime] config: ()) -> Pair<A, A> {
        <LinearRecurrence as Monoid<A>>::identity(seed, config)
    }

    fn read(element: &Element<A>, #[comptime] config: ()) -> Pair<A, A> {
        <LinearRecurrence as Monoid<A>>::read(element, config)
    }

    fn resume(written: &Sequence<A>, #[comptime] config: ()) -> Pair<A, A> {
        <LinearRecurrence as Monoid<A>>::resume(written, config)
    }

    fn combine(lhs: &Pair<A, A>, rhs: &Pair<A, A>, #[comptime] _config: ()) -> Pair<A, A> {
        let zero = A::from_int(0);
        let forgets = rhs.first == zero;
        let factor = select(lhs.first == zero, zero, lhs.first * rhs.first);
        let value = rhs.first * lhs.second + rhs.second;
        Pair::new(
            select(forgets, zero, factor),
            select(forgets, rhs.second, value),
        )
    }

    fn write(state: &Pair<A, A>, #[comptime] config: ()) -> Written<A> {
        <LinearRecurrence as Monoid<A>>::write(state, config)
    }

    fn plane_inclusive(
        state: &Pair<A, A>,
        #[comptime] plane_size: usize,
        #[comptime] config: (),
    ) -> Pair<A, A> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}
