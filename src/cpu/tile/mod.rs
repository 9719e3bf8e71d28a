//! A tile of a row in lanes.
//!
//! A scan in order is bound by the latency of its operator: each element waits for the one before it. In a tile only
//! the lanes' last elements wait: a vector is scanned on its own, then its carry is combined with every lane. The tile is
//! scanned from the identity, and what precedes it comes last:
//!
//! ```text
//! x         | x0 x1 .. x7          | x8 ..               | ..
//! local     | x0 x0⊕x1 .. x0⊕..⊕x7 | x8 x8⊕x9 ..         |      three steps of shuffles
//! prefix    | local                | last(prefix) ⊕ local|      in order: one ⊕ a vector
//! output    | start ⊕ prefix       | start ⊕ prefix      |
//! ```
//!
//! So the carry behind a tile is `start ⊕ last(prefix)`, the last thing that the tile writes, and [`total`] finds
//! `last(prefix)` without `start`. An exclusive scan writes the same values one place further along. Each step adds a
//! later part to an earlier one that stays, so sums of numbers that are not negative do not fall.
//!
//! Where floats leave the range of their type, `start ⊕ prefix` may differ from the sequential result by more than
//! rounding. The walk watches the prefixes for that, and a tile in which it happens is scanned once more, in order. A
//! result that is out of range only behind `start` comes back into range if later elements bring it back.
//!
//! A reverse scan goes through vectors and lanes from the last to the first.

mod walk;

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::element::TILE;
use super::traits::{Accumulator, Element, Lanes, Operator};

/// The last prefix of a tile, and what the operator has noted of the prefixes that it is made of.
#[derive(Clone, Copy)]
pub(super) struct Total<A> {
    total: A,
    seen: (A, A),
}

impl<A: Accumulator> Total<A> {
    pub(super) fn nothing<O: Operator<A>>() -> Self {
        Self {
            total: O::IDENTITY,
            seen: (O::IDENTITY, O::IDENTITY),
        }
    }

    /// Whether `start ⊕ total` may stand for folding the elements in order.
    #[inline(always)]
    fn is_regular<O: Operator<A>>(self, start: A) -> bool {
        O::is_regular(start, self.total)
            & O::is_regular(start, self.seen.0)
            & O::is_regular(start, self.seen.1)
    }
}

/// The total of a whole tile.
#[inline(always)]
pub(super) fn total<T: Element, O: Operator<T::Acc>, L: Lanes<T>, const REVERSE: bool>(
    proof: L::Proof,
    tile: &[T],
) -> Total<T::Acc> {
    assert!(tile.len() == TILE);
    let mut carry = Carry::<O, L>::new(proof);
    let vectors = TILE / L::COUNT;
    for step in 0..vectors {
        let vector = if REVERSE { vectors - 1 - step } else { step };
        // SAFETY: the vector lies in the tile.
        let x = unsafe { L::load(proof, tile.as_ptr().add(vector * L::COUNT)) };
        let x = if REVERSE { x.reversed() } else { x };
        carry.advance::<T>(x.inclusive_scan::<O>());
    }
    carry.total()
}

/// The last prefix so far, in every lane.
struct Carry<O, L> {
    prefix: L,
    seen: (L, L),
    operator: PhantomData<O>,
}

impl<O, L: Copy> Carry<O, L> {
    #[inline(always)]
    fn new<T: Element>(proof: L::Proof) -> Self
    where
        O: Operator<T::Acc>,
        L: Lanes<T>,
    {
        let identity = L::splat(proof, O::IDENTITY);
        Self {
            prefix: identity,
            seen: (identity, identity),
            operator: PhantomData,
        }
    }

    /// Takes in a vector, which is scanned on its own.
    #[inline(always)]
    fn advance<T: Element>(&mut self, local: L)
    where
        O: Operator<T::Acc>,
        L: Lanes<T>,
    {
        self.prefix = O::combine_lanes(self.prefix, local.last());
        self.seen = O::watch(self.seen, self.prefix);
    }

    #[inline(always)]
    fn total<T: Element>(&self) -> Total<T::Acc>
    where
        O: Operator<T::Acc>,
        L: Lanes<T>,
    {
        let first = |lanes: L| {
            let mut any = O::IDENTITY;
            lanes.for_each(|lane| any = lane);
            any
        };
        Total {
            total: first(self.prefix),
            seen: (first(self.seen.0), first(self.seen.1)),
        }
    }
}

/// Scans a tile, or what is left of a row behind the last whole one, from `start`. Returns the carry behind it.
#[inline(always)]
pub(super) fn scan<T: Element, O: Operator<T::Acc>, L: Lanes<T>, const REVERSE: bool>(
    proof: L::Proof,
    input: &[T],
    output: &mut [MaybeUninit<T>],
    start: T::Acc,
    exclusive: bool,
) -> T::Acc {
    let (total, is_regular) = if exclusive {
        walk::walk::<T, O, L, REVERSE, true>(proof, input, output, start)
    } else {
        walk::walk::<T, O, L, REVERSE, false>(proof, input, output, start)
    };
    if !is_regular {
        scan_in_order::<T, O, REVERSE>(input, output, start, exclusive);
    }
    carry_behind::<T, O, REVERSE>(input, start, total)
}

/// The carry behind a tile whose total is known.
#[inline(always)]
pub(super) fn carry_behind<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    tile: &[T],
    start: T::Acc,
    total: Total<T::Acc>,
) -> T::Acc {
    if total.is_regular::<O>(start) {
        O::combine(start, total.total)
    } else {
        fold_in_order::<T, O, REVERSE>(tile, start)
    }
}

/// Scans from `carry` one by one.
#[cold]
fn scan_in_order<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    mut carry: T::Acc,
    exclusive: bool,
) {
    let step = |(output, element): (&mut MaybeUninit<T>, &T)| {
        let before = carry;
        carry = O::combine(carry, element.to_acc());
        output.write(T::from_acc(if exclusive { before } else { carry }));
    };
    let pairs = output.iter_mut().zip(input);
    if REVERSE {
        pairs.rev().for_each(step);
    } else {
        pairs.for_each(step);
    }
}

/// Folds the elements into `carry` one by one.
#[cold]
fn fold_in_order<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    input: &[T],
    carry: T::Acc,
) -> T::Acc {
    let step = |carry, element: &T| O::combine(carry, element.to_acc());
    if REVERSE {
        input.iter().rev().fold(carry, step)
    } else {
        input.iter().fold(carry, step)
    }
}
