//! Scans that begin anew at every start of a segment, and the totals of segments, each at the first element of its
//! segment.
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
//!
//! The scan of totals goes against the direction in which starts are marked. It reaches the marked element of a segment
//! last, when the total is complete, and writes it there. Elsewhere it writes zero.

use super::{Element, Monoid, Operator, Pair, State, Written, plane_ladder};
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use std::marker::PhantomData;

/// The operator `O` on each segment of a line. What a line resumes from flows up to the first start.
pub type Segmented<O> = Segments<O, false>;

/// The total by `O` of each segment, at its start. The first element of a line always starts a segment.
pub type SegmentTotals<O> = Segments<O, true>;

/// The operator `O` on segments: its scan, or its totals alone.
pub struct Segments<O, const TOTALS: bool>(PhantomData<O>);

/// [`Segments`] over accumulators of one type.
pub struct SegmentsMonoid<M, const TOTALS: bool>(PhantomData<M>);

/// A segment begins among the elements.
const STARTS: u32 = 1;
/// A segment ends with the last of them. Only for totals.
const ENDS: u32 = 2;

/// The flags, and the total since the last start.
type Flagged<A, M> = Pair<u32, <M as Monoid<A>>::State>;

impl<O: Operator, const TOTALS: bool> Operator for Segments<O, TOTALS> {
    type Monoid<A: Numeric> = SegmentsMonoid<O::Monoid<A>, TOTALS>;
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
impl<A: Numeric, M: Monoid<A>, const TOTALS: bool> Monoid<A> for SegmentsMonoid<M, TOTALS> {
    type State = Flagged<A, M>;
    type Config = M::Config;

    fn identity(seed: A, #[comptime] config: M::Config) -> Flagged<A, M> {
        Pair::new(0u32.runtime(), M::identity(seed, config))
    }

    fn read(element: &Element<A>, #[comptime] config: M::Config) -> Flagged<A, M> {
        let flags = if comptime!(TOTALS) {
            select(element.starts, STARTS, 0u32) | select(element.ends, ENDS, 0u32)
        } else {
            u32::cast_from(element.starts)
        };
        Pair::new(flags, M::read(element, config))
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
        if comptime!(TOTALS) {
            let parted = rhs.first & STARTS != 0;
            let total = M::State::select(parted, &rhs.second, &joined);
            Pair::new((lhs.first & STARTS) | rhs.first, total)
        } else {
            let total = M::State::select(rhs.first != 0, &rhs.second, &joined);
            Pair::new(lhs.first | rhs.first, total)
        }
    }

    fn write(state: &Flagged<A, M>, #[comptime] config: M::Config) -> Written<A> {
        let written = M::write(&state.second, config);
        if comptime!(TOTALS) {
            let ends = state.first & ENDS != 0;
            let mut values = Sequence::<A>::new();
            #[unroll]
            for i in 0..written.values.len().comptime() {
                values.push(select(ends, written.values[i], A::from_int(0)));
            }
            Written::<A> {
                values,
                position: written.position,
            }
        } else {
            written
        }
    }

    fn plane_inclusive(
        state: &Flagged<A, M>,
        #[comptime] plane_size: usize,
        #[comptime] config: M::Config,
    ) -> Flagged<A, M> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}
