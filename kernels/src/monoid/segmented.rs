//! Scans that begin anew at every start of a segment.
//!
//! A state remembers whether a segment begins among its elements (Schwartz 1980; Blelloch, "Prefix sums and their
//! applications", 1990):
//!
//! ```text
//! (f, s) ⊕ (f′, s′)  =  (f ∨ f′, s′)        where f′
//!                       (f, s ⊕ s′)         elsewhere
//! ```
//!
//! The exclusive result at the first element of a segment is the identity. The routines write it.

use super::{Element, Monoid, Operator, Pair, State, Written, plane_ladder};
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use std::marker::PhantomData;

/// The operator `O` on each segment of a line. What a line resumes from flows up to the first start.
pub struct Segmented<O>(PhantomData<O>);

/// The state of a segmented scan: 1 if a segment begins among the elements, and the total since the last start.
type Flagged<A, M> = Pair<u32, <M as Monoid<A>>::State>;

/// [`Segmented`] over accumulators of one type.
pub struct SegmentedMonoid<M>(PhantomData<M>);

impl<O: Operator> Operator for Segmented<O> {
    type Monoid<A: Numeric> = SegmentedMonoid<O::Monoid<A>>;
    type Config = O::Config;
    const INPUTS: usize = O::INPUTS;
    const OUTPUTS: usize = O::OUTPUTS;
    const POSITIONS: bool = O::POSITIONS;
    const STARTS: bool = true;

    fn state_size(accumulator: ElemType) -> usize {
        size_of::<u32>() + O::state_size(accumulator)
    }

    fn seed(config: O::Config, dtype: ElemType, accumulator: ElemType) -> InputScalar {
        O::seed(config, dtype, accumulator)
    }
}

#[cube]
impl<A: Numeric, M: Monoid<A>> Monoid<A> for SegmentedMonoid<M> {
    type State = Flagged<A, M>;
    type Config = M::Config;

    fn identity(seed: A, #[comptime] config: M::Config) -> Flagged<A, M> {
        Pair::new(0u32.runtime(), M::identity(seed, config))
    }

    fn read(element: &Element<A>, #[comptime] config: M::Config) -> Flagged<A, M> {
        Pair::new(u32::cast_from(element.starts), M::read(element, config))
    }

    fn resume(written: &Sequence<A>, #[comptime] config: M::Config) -> Flagged<A, M> {
        Pair::new(0u32.runtime(), M::resume(written, config))
    }

    fn combine(
        lhs: &Flagged<A, M>,
        rhs: &Flagged<A, M>,
        #[comptime] config: M::Config,
    ) -> Flagged<A, M> {
        let joined = M::combine(&lhs.second, &rhs.second, config);
        let total = M::State::select(rhs.first != 0, &rhs.second, &joined);
        Pair::new(lhs.first | rhs.first, total)
    }

    fn write(state: &Flagged<A, M>, #[comptime] config: M::Config) -> Written<A> {
        M::write(&state.second, config)
    }

    fn plane_inclusive(
        state: &Flagged<A, M>,
        #[comptime] plane_size: usize,
        #[comptime] config: M::Config,
    ) -> Flagged<A, M> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}
