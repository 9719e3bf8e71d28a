//! The adjoint of the linear recurrence: `u[t] = decay[t]·(u[t−1] + flow[t])`, the steps counted in the order of this scan.
//!
//! It is a recurrence whose decay multiplies after the addition, not before it. With it a gradient reads decays and flows where they are; the
//! recurrence of what flows back, `g[t] = flow[t] + decay[t−1]·g[t−1]`, would read decays moved by one step. The two are one: `g[t] = flow[t] + u[t−1]`.

use super::{Element, LinearRecurrence, Monoid, Operator, Pair, Written, plane_ladder};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Reads what flows back to each result, then decays; writes what flows back to the result of the step before it in time. Its maps are composed as
/// those of [`LinearRecurrence`].
pub struct RecurrenceAdjoint;

impl Operator for RecurrenceAdjoint {
    type Monoid<A: Numeric> = Self;
    type Config = ();
    const INPUTS: usize = 2;

    fn state_size(accumulator: ElemType) -> usize {
        LinearRecurrence::state_size(accumulator)
    }
}

#[cube]
impl<A: Numeric> Monoid<A> for RecurrenceAdjoint {
    type State = Pair<A, A>;
    type Config = ();

    fn identity(seed: A, #[comptime] config: ()) -> Pair<A, A> {
        LinearRecurrence::identity(seed, config)
    }

    fn read(element: &Element<A>, #[comptime] _config: ()) -> Pair<A, A> {
        let decay = element.values[1];
        Pair::new(decay, decay * element.values[0])
    }

    fn resume(written: &Sequence<A>, #[comptime] config: ()) -> Pair<A, A> {
        LinearRecurrence::resume(written, config)
    }

    fn combine(lhs: &Pair<A, A>, rhs: &Pair<A, A>, #[comptime] config: ()) -> Pair<A, A> {
        LinearRecurrence::combine(lhs, rhs, config)
    }

    fn write(state: &Pair<A, A>, #[comptime] config: ()) -> Written<A> {
        LinearRecurrence::write(state, config)
    }

    fn plane_inclusive(
        state: &Pair<A, A>,
        #[comptime] plane_size: usize,
        #[comptime] config: (),
    ) -> Pair<A, A> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}
