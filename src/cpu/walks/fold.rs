//! What walks and reductions of segments accumulate.

use core::marker::PhantomData;

use super::super::lanes;
use super::super::processor::vectorize;
use super::super::total::{RowTotal, first_of_equals};
use super::super::traits::{Accumulator, Combine};
use super::row_part::RowPart;

/// How a state is accumulated from elements of type `A`.
pub(crate) trait StateFold<A>: Sync {
    type State: Copy + Send + Sync;
    /// The accumulation of parts: see [`Combine::Parts`].
    type Parts: StateFold<A, State = Self::State>;

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
    /// Where the state of the tile leaves the range on its own, the part is walked once more.
    fn walk_row(since: &mut Since<Self::State>, mut part: RowPart<'_, A>)
    where
        A: Copy,
        Self: Sized,
    {
        let before = *since;
        if !walk_steps::<A, Self, true>(since, &mut part) {
            *since = before;
            walk_steps::<A, Self, false>(since, &mut part);
        }
    }
}

/// Walks a part of a row. If it `TRUSTS` the state of the tile to stay in range, it returns whether it did.
#[inline(always)]
fn walk_steps<A: Copy, F: StateFold<A>, const TRUSTS: bool>(
    since: &mut Since<F::State>,
    part: &mut RowPart<'_, A>,
) -> bool {
    let (len, writes, exclusive) = (part.len(), !part.slots.is_empty(), part.exclusive);
    assert!(!writes || part.slots.len() == len);
    let mut is_regular = true;
    for index in 0..len {
        if part.starts_at(index) {
            since.start::<A, F>();
        }
        let at = part.at(index);
        let result = if !F::IN_TILES {
            step_alone::<A, F>(&mut since.state, part.elements[at], exclusive)
        } else if TRUSTS {
            let of_tile = step::<A, F>(&mut since.tile, part.elements[at], exclusive);
            is_regular &= F::is_regular(F::NOTHING, since.tile);
            F::value(F::join(since.state, of_tile))
        } else {
            let parts = [&mut since.state, &mut since.tile];
            step_in_tile::<A, F>(parts, part.elements[at], exclusive)
        };
        if writes {
            part.slots[at].write(result);
        }
    }
    is_regular
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

/// Takes an element into the state, and returns the state that is the result there.
#[inline(always)]
fn step<A, F: StateFold<A>>(state: &mut F::State, element: A, exclusive: bool) -> F::State {
    let before = *state;
    *state = F::join(before, F::read(element));
    if exclusive { before } else { *state }
}

/// Takes an element into the state, and returns the result there.
#[inline(always)]
pub(super) fn step_alone<A, F: StateFold<A>>(
    state: &mut F::State,
    element: A,
    exclusive: bool,
) -> A {
    F::value(step::<A, F>(state, element, exclusive))
}

/// Takes an element into the state of the tile, and returns the result after the state before the tile. A tile ends
/// early where its state alone is out of range: `-MAX` before a tile of `MAX` and `MAX` gives `MAX`.
///
/// It selects between two results instead of branching, so that columns are walked in vectors.
#[inline(always)]
pub(super) fn step_in_tile<A, F: StateFold<A>>(
    [state, tile]: [&mut F::State; 2],
    element: A,
    exclusive: bool,
) -> A {
    let element = F::read(element);
    let (before, after) = (*tile, F::join(*tile, element));
    let of_tile = F::join(*state, if exclusive { before } else { after });
    let closed = F::join(*state, before);
    let ended = F::join(closed, element);
    let is_regular = F::is_regular(*state, after);
    (*state, *tile) = if is_regular {
        (*state, after)
    } else {
        (ended, F::NOTHING)
    };
    F::value(match (is_regular, exclusive) {
        (true, _) => of_tile,
        (false, true) => closed,
        (false, false) => ended,
    })
}

/// Elements themselves, by one of the four operators.
pub(crate) struct Plain<O>(PhantomData<O>);

impl<A: Accumulator, O: Combine<A>> StateFold<A> for Plain<O> {
    type State = A;
    type Parts = Plain<O::Parts>;

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
        let total = lanes::run::<A, _>(RowTotal::<A, O::Parts>::new(elements));
        if O::EXACT {
            first_of_equals(total, elements, false)
        } else {
            total
        }
    }
}
