//! The four operators, and the choice of one by its name.

use super::traits::{Accumulator, Combine, ElementType, Lanes};

/// `by_operator!(op, values = wrapping, O => walk)` is `walk` with `O` the type of that operator. Sums and products are
/// walked with `values` in their wrapping representation.
macro_rules! by_operator {
    ($op:expr, $values:ident = $wrapping:expr, $O:ident => $walk:expr) => {
        match $op {
            ScanOp::Sum => {
                type $O = $crate::cpu::operator::Sum;
                let $values = $wrapping;
                bytemuck::cast_vec($walk)
            }
            ScanOp::Prod => {
                type $O = $crate::cpu::operator::Prod;
                let $values = $wrapping;
                bytemuck::cast_vec($walk)
            }
            ScanOp::Max => {
                type $O = $crate::cpu::operator::Max;
                $walk
            }
            ScanOp::Min => {
                type $O = $crate::cpu::operator::Min;
                $walk
            }
            ScanOp::LogSumExp => unreachable!("its state is more than an element"),
        }
    };
}

pub(super) use by_operator;

/// Addition; integers wrap.
pub(crate) struct Sum;

/// Multiplication; integers wrap.
pub(crate) struct Prod;

/// Multiplication of parts. Products that are subnormal have lost bits: they become zero, and nothing brings them back
/// into range.
pub(crate) struct PartProd;

/// The larger element, or NaN.
pub(crate) struct Max;

/// The smaller element, or NaN.
pub(crate) struct Min;

impl<A: Accumulator> Combine<A> for Sum {
    type Parts = Self;

    const IDENTITY: A = A::ZERO;
    const ROUNDS: bool = true;
    const IN_TILES: bool = true;

    #[inline(always)]
    fn combine(left: A, right: A) -> A {
        left.add(right)
    }

    #[inline(always)]
    fn combine_lanes<T: ElementType<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L {
        left.add(right)
    }

    #[inline(always)]
    fn is_regular(carry: A, total: A) -> bool {
        A::sum_is_regular(carry, total)
    }
}

impl<A: Accumulator> Combine<A> for Prod {
    type Parts = PartProd;

    const IDENTITY: A = A::ONE;
    const ROUNDS: bool = true;

    #[inline(always)]
    fn combine(left: A, right: A) -> A {
        left.mul(right)
    }

    #[inline(always)]
    fn combine_lanes<T: ElementType<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L {
        left.mul(right)
    }

    #[inline(always)]
    fn is_regular(carry: A, total: A) -> bool {
        A::product_is_regular(carry, total)
    }

    /// The smallest and the largest total by magnitude.
    #[inline(always)]
    fn watch<T: ElementType<Acc = A>, L: Lanes<T>>(seen: (L, L), totals: L) -> (L, L) {
        if A::EXACT {
            return seen;
        }
        let size = totals.magnitude();
        (seen.0.min(size), seen.1.max(size))
    }
}

impl<A: Accumulator> Combine<A> for PartProd {
    type Parts = Self;

    const IDENTITY: A = A::ONE;
    const ROUNDS: bool = true;

    #[inline(always)]
    fn combine(left: A, right: A) -> A {
        left.mul_or_zero(right)
    }

    #[inline(always)]
    fn combine_lanes<T: ElementType<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L {
        left.mul_or_zero(right)
    }
}

impl<A: Accumulator> Combine<A> for Max {
    type Parts = Self;

    const IDENTITY: A = A::LOWEST;

    #[inline(always)]
    fn combine(left: A, right: A) -> A {
        left.max(right)
    }

    #[inline(always)]
    fn combine_lanes<T: ElementType<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L {
        left.max(right)
    }
}

impl<A: Accumulator> Combine<A> for Min {
    type Parts = Self;

    const IDENTITY: A = A::HIGHEST;

    #[inline(always)]
    fn combine(left: A, right: A) -> A {
        left.min(right)
    }

    #[inline(always)]
    fn combine_lanes<T: ElementType<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L {
        left.min(right)
    }
}
