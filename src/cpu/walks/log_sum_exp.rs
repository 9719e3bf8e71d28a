//! The logarithm of a running sum of exponentials, stable for any range.
//!
//! The state is the largest element so far and the sum of `exp(x − largest)` (Milakov & Gimelshein, "Online normalizer
//! calculation for softmax", 2018). Taking in an element costs one exponential: one of the two factors is 1.

use super::super::traits::Accumulator;
use super::fold::Fold;

/// Numbers with exponentials.
pub(crate) trait Real: Accumulator {
    fn sub(self, other: Self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
}

macro_rules! real {
    ($($T:ty),*) => {$(
        impl Real for $T {
            fn sub(self, other: Self) -> Self {
                self - other
            }
            fn exp(self) -> Self {
                <$T>::exp(self)
            }
            fn ln(self) -> Self {
                <$T>::ln(self)
            }
        }
    )*};
}

real!(f32, f64);

/// The largest element, and the sum of the exponentials relative to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum<A> {
    largest: A,
    sum: A,
}

/// The logarithm of a sum of exponentials: −∞ as long as all elements are −∞, and NaN from the first NaN on.
pub(crate) struct LogSumExp;

impl<A: Real> Fold<A> for LogSumExp {
    type State = Sum<A>;

    const NOTHING: Sum<A> = Sum {
        largest: A::LOWEST,
        sum: A::ZERO,
    };
    const ROUNDS: bool = true;
    const IN_TILES: bool = true;

    #[inline]
    fn read(element: A) -> Sum<A> {
        Sum {
            largest: element,
            sum: A::ONE,
        }
    }

    #[inline]
    fn join(left: Sum<A>, right: Sum<A>) -> Sum<A> {
        if left.sum == A::ZERO {
            return right;
        }
        let largest = left.largest.max(right.largest);
        let scaled = |part: Sum<A>| part.sum.mul(relative(part.largest, largest));
        Sum {
            largest,
            sum: scaled(left).add(scaled(right)),
        }
    }

    #[inline]
    fn value(state: Sum<A>) -> A {
        if state.sum == A::ZERO {
            // The largest of no elements is −∞.
            state.largest
        } else {
            state.largest.add(state.sum.ln())
        }
    }

    #[inline]
    fn is_regular(_left: Sum<A>, _right: Sum<A>) -> bool {
        true
    }

    /// Two passes: the first finds the largest element, so that the sum of exponentials needs no scaling.
    fn of_all(elements: &[A]) -> Sum<A> {
        let largest = elements
            .iter()
            .fold(A::LOWEST, |largest, &x| largest.max(x));
        let sum = elements
            .iter()
            .fold(A::ZERO, |sum, &x| sum.add(relative(x, largest)));
        Sum { largest, sum }
    }

    fn add_all(states: &mut [Sum<A>], elements: &[A]) {
        for (state, &element) in states.iter_mut().zip(elements) {
            *state = Self::join(*state, Self::read(element));
        }
    }
}

/// `exp(x − largest)`; 1 for the largest itself, infinite or not.
#[inline]
fn relative<A: Real>(x: A, largest: A) -> A {
    if x == largest {
        A::ONE
    } else {
        x.sub(largest).exp()
    }
}
