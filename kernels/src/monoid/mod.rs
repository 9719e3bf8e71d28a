//! What a scan can accumulate: any associative operator over a state of a few scalars.
//!
//! A [`Monoid`] says how an element becomes a state, how two neighbouring states become one, and what is written of a
//! state. Routines know nothing else of an operator. Each is compiled once for every monoid.
//!
//! ```text
//! elements     x₀        x₁        x₂
//! read         s₀        s₁        s₂
//! combine      s₀        s₀⊕s₁     s₀⊕s₁⊕s₂        associative; it need not commute
//! write        y₀        y₁        y₂
//! ```
//!
//! Every numeric scalar is a [`State`], and so is a [`Pair`] of states.

#![expect(
    missing_docs,
    reason = "the `cube` macro generates modules without documentation"
)]

mod arg_extremum;
mod element;
mod fold;
mod ladder;
mod log_sum_exp;
mod recurrence;
mod recurrence_adjoint;
mod segmented;
mod state;

pub use arg_extremum::{ArgExtremum, Extremum};
pub(crate) use element::NOWHERE;
pub use element::{Element, Written};
pub use fold::Fold;
pub use ladder::plane_ladder;
pub(crate) use ladder::{earlier_unit, ladder_within, lane_of_unit};
pub use log_sum_exp::LogSumExp;
pub use recurrence::{LinearRecurrence, Recurrence, ResetRecurrence};
pub(crate) use recurrence_adjoint::RecurrenceAdjoint;
pub use segmented::{SegmentTotals, Segmented, Segments};
pub use state::{Pair, State, read_state, write_state};

use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// An associative operator with an identity, over elements that are accumulated as `A`.
#[cube]
pub trait Monoid<A: Numeric>: Send + Sync + 'static {
    /// What is carried from element to element.
    type State: State;
    /// Distinguishes the operators of one family when a kernel is compiled.
    type Config: CubeComptime + Send + Sync;

    /// The state of no elements. `seed` is a scalar of the launch. It serves identities that have no literal in a
    /// shader language, such as infinity.
    fn identity(seed: A, #[comptime] config: Self::Config) -> Self::State;

    /// The state of one position.
    fn read(element: &Element<A>, #[comptime] config: Self::Config) -> Self::State;

    /// The state from which a line resumes. It writes the elements `written`, one for each output.
    fn resume(written: &Sequence<A>, #[comptime] config: Self::Config) -> Self::State;

    /// The state of the elements of `lhs`, then those of `rhs`.
    fn combine(
        lhs: &Self::State,
        rhs: &Self::State,
        #[comptime] config: Self::Config,
    ) -> Self::State;

    /// What is written of a state.
    fn write(state: &Self::State, #[comptime] config: Self::Config) -> Written<A>;

    /// The inclusive scan over the units of a plane: [`plane_ladder()`], or an instruction of the hardware. Every unit
    /// takes part. `plane_size` is 0 if it is not known when the kernel is compiled.
    fn plane_inclusive(
        state: &Self::State,
        #[comptime] plane_size: usize,
        #[comptime] config: Self::Config,
    ) -> Self::State;
}

/// `lhs ⊕ rhs` of states that may be variables. It copies them, because an operator may return its argument, and the
/// caller may assign to that variable next.
#[cube]
pub(crate) fn join<A: Numeric, M: Monoid<A>>(
    lhs: &M::State,
    rhs: &M::State,
    #[comptime] op: M::Config,
) -> M::State {
    M::combine(&M::State::copy(lhs), &M::State::copy(rhs), op)
}

/// The state of an operator over elements accumulated as `A`.
pub(crate) type StateOf<O, A> = <<O as Operator>::Monoid<A> as Monoid<A>>::State;

/// A monoid for every accumulator type. Launches are generic over it.
pub trait Operator: Send + Sync + 'static {
    /// The monoid over elements accumulated as `A`.
    type Monoid<A: Numeric>: Monoid<A, Config = Self::Config>;
    /// As [`Monoid::Config`].
    type Config: CubeComptime + Send + Sync;

    /// How many tensors are read.
    const INPUTS: usize = 1;

    /// How many tensors are written.
    const OUTPUTS: usize = 1;

    /// Whether it reads where segments begin: [`Element::starts`].
    const STARTS: bool = false;

    /// Whether it writes positions: [`Written::at`].
    const POSITIONS: bool = false;

    /// The bytes of all scalars of a state, each counted as 4 or 8.
    fn state_size(accumulator: ElemType) -> usize;

    /// The `seed` of [`Monoid::identity`]. `dtype` is the type of the stored elements.
    fn seed(_config: Self::Config, _dtype: ElemType, accumulator: ElemType) -> InputScalar {
        InputScalar::new(0, accumulator)
    }
}
