//! Maximum or minimum, and its position.
//!
//! Of equal elements, and of several NaN, the last in scan order counts: the rule of torch's `cummax` and `cummin`. A
//! state without a position stands for no elements and is the identity, whatever value it holds.

use super::element::NOWHERE;
use super::{Element, Monoid, Operator, Pair, State, Written, plane_ladder};
use crate::operator::{ScanOp, is_nan};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Writes the extremum so far and its position in the line. The position is −1 before the first element, and while the
/// extremum is the value that the line resumed from.
pub struct ArgExtremum;

/// Which extremum.
#[derive_cube_comptime]
pub enum Extremum {
    /// The largest element.
    Max,
    /// The smallest.
    Min,
}

impl Operator for ArgExtremum {
    type Monoid<A: Numeric> = Self;
    type Config = Extremum;
    const POSITIONS: bool = true;

    fn state_size(accumulator: ElemType) -> usize {
        accumulator.size() + size_of::<u32>()
    }

    fn seed(config: Extremum, dtype: ElemType, accumulator: ElemType) -> InputScalar {
        let op = match config {
            Extremum::Max => ScanOp::Max,
            Extremum::Min => ScanOp::Min,
        };
        op.identity(dtype, accumulator)
    }
}

#[cube]
impl<A: Numeric> Monoid<A> for ArgExtremum {
    /// The extremum and where it lies.
    type State = Pair<A, u32>;
    type Config = Extremum;

    fn identity(seed: A, #[comptime] _config: Extremum) -> Pair<A, u32> {
        Pair::new(seed, NOWHERE.runtime())
    }

    fn read(element: &Element<A>, #[comptime] _config: Extremum) -> Pair<A, u32> {
        Pair::new(element.values[0], u32::cast_from(element.position))
    }

    fn resume(written: &Sequence<A>, #[comptime] _config: Extremum) -> Pair<A, u32> {
        Pair::new(written[0], NOWHERE.runtime())
    }

    fn combine(
        lhs: &Pair<A, u32>,
        rhs: &Pair<A, u32>,
        #[comptime] config: Extremum,
    ) -> Pair<A, u32> {
        let beats = if comptime!(config == Extremum::Max) {
            rhs.first >= lhs.first
        } else {
            rhs.first <= lhs.first
        };
        let left_is_nan = is_nan::<A>(lhs.first);
        let right_is_nan = is_nan::<A>(rhs.first);
        let right = select(left_is_nan, false, beats);
        let right = select(right_is_nan, true, right);
        let right = select(rhs.second == NOWHERE, false, right);
        Pair::<A, u32>::select(right, rhs, lhs)
    }

    fn write(state: &Pair<A, u32>, #[comptime] _config: Extremum) -> Written<A> {
        Written::at(state.first, state.second)
    }

    fn plane_inclusive(
        state: &Pair<A, u32>,
        #[comptime] plane_size: usize,
        #[comptime] config: Extremum,
    ) -> Pair<A, u32> {
        plane_ladder::<A, Self>(state, plane_size, config)
    }
}
