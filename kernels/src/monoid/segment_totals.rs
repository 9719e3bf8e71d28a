//! The totals of segments, each at the first element of its segment.
//!
//! The scan goes against the direction in which starts are marked. It reaches the marked element of a segment last,
//! when the total is complete, and writes it there. Elsewhere it writes zero.

use super::{Element, Monoid, Operator, Pair, State, Written, plane_ladder};
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use std::marker::PhantomData;

/// The total by `O` of each segment, at its start. The first element of a line always starts a segment.
pub struct SegmentTotals<O>(PhantomData<O>);

/// [`SegmentTotals`] over accumulators of one type.
pub struct SegmentTotalsMonoid<M>(PhantomData<M>);

/// A segment begins among the elements.
const STARTS: u32 = 1;
/// A segment ends with the last of them.
const ENDS: u32 = 2;

/// The flags, and the total since the last start.
type Flagged<A, M> = Pair<u32, <M as Monoid<A>>::State>;

impl<O: Operator> Operator for SegmentTotals<O> {
    type Monoid<A: Numeric> = SegmentTotalsMonoid<O::Monoid<A>>;
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
impl<A: Numeric, M: Monoid<A>> Monoid<A> for SegmentTotalsMonoid<M> {
    type State = Flagged<A, M>;
    type Config = M::Config;

    fn identity(seed: A, #[comptime] config: M::Config) -> Flagged<A, M> {
        Pair::new(0u32.runtime(), M::identity(seed, config))
    }

    fn read(element: &Element<A>, #[comptime] config: M::Config) -> Flagged<A, M> {
        let flags = select(element.starts, STARTS, 0u32) | select(element.ends, ENDS, 0u32);
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
        let parted = rhs.first & STARTS != 0;
        let total = M::State::select(parted, &rhs.second, &joined);
        Pair::new((lhs.first & STARTS) | rhs.first, total)
    }

    fn write(state: &Flagged<A, M>, #[comptime] config: M::Config) -> Written<A> {
        let written = M::write(&state.second, config);
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
    }

    fn plane_inclusive(
        state: &Flagged<A, M>,
        #[comptime] plane_size: usize,
        #[comptime] config: M::Config,
    ) -> Flagged<A, M> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}
