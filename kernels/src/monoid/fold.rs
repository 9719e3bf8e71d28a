//! Sum, product, maximum and minimum: operators whose state is one accumulator.

use super::{Element, Monoid, Operator, Written, plane_ladder};
use crate::operator::{ScanOp, combine};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The operators of [`ScanOp`].
pub struct Fold;

impl Operator for Fold {
    type Monoid<A: Numeric> = Self;
    type Config = ScanOp;

    fn state_size(accumulator: ElemType) -> usize {
        accumulator.size()
    }

    fn seed(config: ScanOp, dtype: ElemType, accumulator: ElemType) -> InputScalar {
        config.identity(dtype, accumulator)
    }
}

#[cube]
impl<A: Numeric> Monoid<A> for Fold {
    type State = A;
    type Config = ScanOp;

    fn identity(seed: A, #[comptime] _config: ScanOp) -> A {
        seed
    }

    fn read(element: &Element<A>, #[comptime] _config: ScanOp) -> A {
        element.values[0]
    }

    fn resume(written: &Sequence<A>, #[comptime] _config: ScanOp) -> A {
        written[0]
    }

    fn combine(lhs: &A, rhs: &A, #[comptime] config: ScanOp) -> A {
        combine::<A>(*lhs, *rhs, config)
    }

    fn write(state: &A, #[comptime] _config: ScanOp) -> Written<A> {
        Written::value(*state)
    }

    fn plane_inclusive(state: &A, #[comptime] plane_size: usize, #[comptime] config: ScanOp) -> A {
        if comptime!(plane_size > 0) {
            plane_ladder::<A, Self>(state, plane_size, config)
        } else {
            match config {
                ScanOp::Sum => plane_inclusive_sum(*state),
                ScanOp::Prod => plane_inclusive_prod(*state),
                _ => plane_ladder::<A, Self>(state, plane_size, config),
            }
        }
    }
}
