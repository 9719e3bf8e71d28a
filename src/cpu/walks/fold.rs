//! What walks and reductions of segments accumulate.

use core::marker::PhantomData;

use super::super::lanes;
use super::super::processor::vectorize;
use super::super::total::RowTotal;
use super::super::traits::{Accumulator, Combine};
use super::row_part::RowPart;

/// How a state is accumulated from elements of type `A`.
pub(crate) trait StateFold<A>: Sync {
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
    #[inline(always)]
    fn is_regular(_left: Self::State, _right: Self::State) -> bool {
        true
    }

    /// The state of some elements, joined in an order of its own.
    fn of_all(elements: &[A]) -> Self::State;

    /// Joins an element to each state.
    #[inline(always)]
    fn add_all(states: &mut [Self::State], elements: &[A])
    where
        A: Copy,
    {
        vectorize!({
            for (state, &element) in states.iter_mut().zip(elements) {
                *state = Self::join(*state, Self::read(element));
            }
        });
    }

    /// Takes in a part of a row, one element after the other, and writes the result at each. The part lies in one tile.
    fn walk_row(since: &mut Since<Self::State>, part: RowPart<'_, A>)
    where
        A: Copy,
        Self: Sized,
    {
        let (len, writes) = (part.len(), !part.slots.is_empty());
        assert!(!writes || part.slots.len() == len);
        for step in 0..len {
            if part.starts_at(step) {
                since.start::<A, Self>();
            }
            let (at, exclusive) = (part.at(step), part.exclusive);
            let result = if Self::IN_TILES {
                let parts = [&mut since.state, &mut since.tile];
                step_in_tile::<A, Self>(parts, part.elements[at], exclusive)
            } else {
                step_alone::<A, Self>(&mut since.state, part.elements[at], exclusive)
            };
            if writes {
                part.slots[at].write(result);
            }
        }
    }
}

/// The state since the last segment started, and whether one did.
#[derive(Clone, Copy)]
pub(crate) struct Since<S> {
    pub(super) started: bool,
    /// Of the tiles before this one.
    pub(super) state: S,
    /// Of the elements of this tile, if there are tiles.
    pub(super) tile: S,
}

impl<S: Copy> Since<S> {
    pub(super) const fn nothing<A, F: StateFold<A, State = S>>() -> Self {
        Self {
            started: false,
            state: F::NOTHING,
            tile: F::NOTHING,
        }
    }

    /// Starts a segment.
    #[inline(always)]
    pub(super) fn start<A, F: StateFold<A, State = S>>(&mut self) {
        *self = Self::nothing::<A, F>();
        self.started = true;
    }

    /// Ends the tile, if there are tiles.
    #[inline(always)]
    pub(super) fn close<A, F: StateFold<A, State = S>>(&mut self) {
        if F::IN_TILES {
            (self.state, self.tile) = (F::join(self.state, self.tile), F::NOTHING);
        }
    }
}

/// Takes an element into the state, and returns the result there.
#[inline(always)]
pub(super) fn step_alone<A, F: StateFold<A>>(
    state: &mut F::State,
    element: A,
    exclusive: bool,
) -> A {
    let before = *state;
    *state = F::join(before, F::read(element));
    F::value(if exclusive { before } else { *state })
}

/// Takes an element into the state of the tile, and returns the result after the state before the tile.
#[inline(always)]
pub(super) fn step_in_tile<A, F: StateFold<A>>(
    [state, tile]: [&mut F::State; 2],
    element: A,
    exclusive: bool,
) -> A {
    let before = *tile;
    *tile = F::join(before, F::read(element));
    F::value(F::join(*state, if exclusive { before } else { *tile }))
}

/// Elements themselves, by one of the four operators.
pub(crate) struct Plain<O>(PhantomData<O>);

impl<A: Accumulator, O: Combine<A>> StateFold<A> for Plain<O> {
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
        lanes::run::<A, _>(RowTotal::<A, O>::new(elements))
    }
}
