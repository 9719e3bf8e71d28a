//! What walks and reductions of segments accumulate.

use core::marker::PhantomData;

use super::super::lanes;
use super::super::processor::vectorize;
use super::super::traits::{Accumulator, Operator};
use super::total::Total;

/// How a state is accumulated from elements of type `A`.
pub(crate) trait Fold<A>: Sync {
    type State: Copy + Send + Sync;

    /// The state of no elements.
    const NOTHING: Self::State;

    /// Whether joining rounds.
    const ROUNDS: bool;

    /// Whether a scan is made in tiles, each from nothing.
    const IN_TILES: bool;

    fn read(element: A) -> Self::State;
    fn join(left: Self::State, right: Self::State) -> Self::State;
    fn value(state: Self::State) -> A;

    /// Whether joining `right` gives what joining its elements one by one does, up to rounding.
    fn is_regular(left: Self::State, right: Self::State) -> bool;

    /// The state of some elements, joined in an order of its own.
    fn of_all(elements: &[A]) -> Self::State;

    /// Joins an element to each state.
    fn add_all(states: &mut [Self::State], elements: &[A]);
}

/// Elements themselves, by one of the four operators.
pub(crate) struct Plain<O>(PhantomData<O>);

impl<A: Accumulator, O: Operator<A>> Fold<A> for Plain<O> {
    type State = A;

    const NOTHING: A = O::IDENTITY;
    const ROUNDS: bool = !O::EXACT;
    const IN_TILES: bool = O::IN_TILES && !A::EXACT;

    #[inline(always)]
    fn read(element: A) -> A {
        element
    }

    #[inline(always)]
    fn join(left: A, right: A) -> A {
        O::combine(left, right)
    }

    #[inline(always)]
    fn value(state: A) -> A {
        state
    }

    #[inline(always)]
    fn is_regular(left: A, right: A) -> bool {
        O::is_regular(left, right)
    }

    #[inline(always)]
    fn of_all(elements: &[A]) -> A {
        lanes::run::<A, _>(Total::<A, O>::new(elements))
    }

    #[inline(always)]
    fn add_all(states: &mut [A], elements: &[A]) {
        vectorize(
            #[inline(always)]
            || {
                for (state, &element) in states.iter_mut().zip(elements) {
                    *state = O::combine(*state, element);
                }
            },
        );
    }
}
