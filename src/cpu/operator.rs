//! The four operators.

use super::accumulator::Accumulator;
use super::element::Element;
use super::lanes::Lanes;

/// An associative operator over accumulators. Every function is a few instructions without a branch.
pub(crate) trait Operator<A: Accumulator>: Send + Sync + 'static {
    const IDENTITY: A;

    fn combine(left: A, right: A) -> A;

    /// [`combine`](Self::combine) of every lane.
    fn combine_lanes<T: Element<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L;

    /// Whether `combine(carry, total)` may stand for folding the elements of `total` into `carry` one by one.
    #[inline(always)]
    fn is_regular(_carry: A, _total: A) -> bool {
        true
    }

    /// Adds some totals to those that were seen. All of them are regular after a carry if both results are. The first
    /// call takes a pair of identities.
    #[inline(always)]
    fn watch<T: Element<Acc = A>, L: Lanes<T>>(seen: (L, L), _totals: L) -> (L, L) {
        seen
    }
}

/// Addition; integers wrap.
pub(crate) struct Sum;

/// Multiplication; integers wrap.
pub(crate) struct Prod;

/// The larger element, or NaN.
pub(crate) struct Max;

/// The smaller element, or NaN.
pub(crate) struct Min;

impl<A: Accumulator> Operator<A> for Sum {
    const IDENTITY: A = A::ZERO;

    #[inline(always)]
    fn combine(left: A, right: A) -> A {
        left.add(right)
    }

    #[inline(always)]
    fn combine_lanes<T: Element<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L {
        left.add(right)
    }

    #[inline(always)]
    fn is_regular(carry: A, total: A) -> bool {
        A::sum_is_regular(carry, total)
    }

    /// The sum of zero times each total. It is NaN if a total is not finite.
    #[inline(always)]
    fn watch<T: Element<Acc = A>, L: Lanes<T>>(seen: (L, L), totals: L) -> (L, L) {
        if A::EXACT {
            return seen;
        }
        (
            seen.0.add(totals.mul(L::splat(totals.proof(), A::ZERO))),
            seen.1,
        )
    }
}

impl<A: Accumulator> Operator<A> for Prod {
    const IDENTITY: A = A::ONE;

    #[inline(always)]
    fn combine(left: A, right: A) -> A {
        left.mul(right)
    }

    #[inline(always)]
    fn combine_lanes<T: Element<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L {
        left.mul(right)
    }

    #[inline(always)]
    fn is_regular(carry: A, total: A) -> bool {
        A::product_is_regular(carry, total)
    }

    /// The smallest and the largest total by magnitude.
    #[inline(always)]
    fn watch<T: Element<Acc = A>, L: Lanes<T>>(seen: (L, L), totals: L) -> (L, L) {
        if A::EXACT {
            return seen;
        }
        let size = totals.max(totals.mul(L::splat(totals.proof(), A::NEGATIVE_ONE)));
        (seen.0.min(size), seen.1.max(size))
    }
}

impl<A: Accumulator> Operator<A> for Max {
    const IDENTITY: A = A::LOWEST;

    #[inline(always)]
    fn combine(left: A, right: A) -> A {
        left.max(right)
    }

    #[inline(always)]
    fn combine_lanes<T: Element<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L {
        left.max(right)
    }
}

impl<A: Accumulator> Operator<A> for Min {
    const IDENTITY: A = A::HIGHEST;

    #[inline(always)]
    fn combine(left: A, right: A) -> A {
        left.min(right)
    }

    #[inline(always)]
    fn combine_lanes<T: Element<Acc = A>, L: Lanes<T>>(left: L, right: L) -> L {
        left.min(right)
    }
}
