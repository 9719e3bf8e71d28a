//! The adjoint of the linear recurrence: `g[t] = flow[t] + decay[t−1]·g[t−1]`, with steps in the order of this scan.
//!
//! The decay of the step *before* a result multiplies it. So that no shifted copy of the decays is read, a state holds
//! the next decay apart from the map up to the last result:
//!
//! ```text
//! a state     (p, q, a)      u ↦ g = p·u + q; a·g is the u of the next step
//! composed    (p, q, a) ∘ (p′, q′, a′)  =  (p′·a·p,  p′·a·q + q′,  a′)
//! ```
//!
//! A state joined with (1, 0, 1) on its right hands the same `a·g` on, but writes `a·g` too. So (1, 0, 1) is an
//! identity for what follows, not for what is written. An inclusive scan never writes such a state. This operator is
//! only used inclusively, and is not public.

use super::{Element, Monoid, Operator, Pair, Written, plane_ladder};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Reads what flows back to each result, then decays. Writes what flows back to each value. A line that resumes does so
/// with a decay of 1.
pub(crate) struct RecurrenceAdjoint;

impl Operator for RecurrenceAdjoint {
    type Monoid<A: Numeric> = Self;
    type Config = ();
    const INPUTS: usize = 2;

    fn state_size(accumulator: ElemType) -> usize {
        3 * accumulator.size()
    }
}

/// The map up to the last result, and the decay after it.
type Flow<A> = Pair<Pair<A, A>, A>;

#[cube]
fn flow<A: Numeric>(factor: A, offset: A, decay: A) -> Flow<A> {
    Pair::new(Pair::new(factor, offset), decay)
}

#[cube]
impl<A: Numeric> Monoid<A> for RecurrenceAdjoint {
    type State = Flow<A>;
    type Config = ();

    fn identity(_seed: A, #[comptime] _config: ()) -> Flow<A> {
        flow::<A>(A::from_int(1), A::from_int(0), A::from_int(1))
    }

    fn read(element: &Element<A>, #[comptime] _config: ()) -> Flow<A> {
        flow::<A>(A::from_int(1), element.values[0], element.values[1])
    }

    fn resume(written: &Sequence<A>, #[comptime] _config: ()) -> Flow<A> {
        flow::<A>(A::from_int(1), written[0], A::from_int(1))
    }

    fn combine(lhs: &Flow<A>, rhs: &Flow<A>, #[comptime] _config: ()) -> Flow<A> {
        let factor = rhs.first.first * lhs.second;
        flow::<A>(
            factor * lhs.first.first,
            factor * lhs.first.second + rhs.first.second,
            rhs.second,
        )
    }

    fn write(state: &Flow<A>, #[comptime] _config: ()) -> Written<A> {
        Written::value(state.first.second)
    }

    fn plane_inclusive(
        state: &Flow<A>,
        #[comptime] plane_size: usize,
        #[comptime] config: (),
    ) -> Flow<A> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}
