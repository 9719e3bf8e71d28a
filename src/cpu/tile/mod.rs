//! A tile of a row in lanes.
//!
//! A scan in order is bound by the latency of its operator: each element waits for the one before it. In a tile only
//! the lanes' last elements wait: a vector is scanned on its own, then its carry is combined with every lane.
//!
//! ```text
//! x         | x0 x1 .. x7          | x8 ..               | ..
//! local     | x0 x0⊕x1 .. x0⊕..⊕x7 | x8 x8⊕x9 ..         |      three steps of shuffles
//! carry     | start                | carry ⊕ last(local) |      in order: one ⊕ a vector
//! output    | carry ⊕ local        | carry ⊕ local       |
//! ```
//!
//! The total of a tile is a sum of its own, lane by lane. So [`total`] finds it without the scan, and it has the same
//! bits either way.
//!
//! Where floats leave the range of their type, `carry ⊕ local` may differ from the sequential result by more than
//! rounding. The walk watches the locals for that, and a tile in which it happens is scanned once more, in order. The
//! walk does not watch `carry ⊕ local`: where a loop would leave an infinity, the result comes back into range if the
//! total behind it does.
//!
//! A reverse scan goes through vectors and lanes from the last to the first.

mod walk;

use core::mem::MaybeUninit;

use super::element::TILE;
use super::traits::{Element, Lanes, Operator};

/// Vectors whose lanes a total keeps apart, which hides the latency of the operator.
const APART: usize = 4;

/// The total of a whole tile.
#[inline(always)]
pub(super) fn total<T: Element, O: Operator<T::Acc>, L: Lanes<T>, const REVERSE: bool>(
    proof: L::Proof,
    tile: &[T],
) -> T::Acc {
    assert!(tile.len() == TILE);
    let mut totals = [L::splat(proof, O::IDENTITY); APART];
    let groups = TILE / (APART * L::COUNT);
    for step in 0..groups {
        let group = if REVERSE { groups - 1 - step } else { step };
        for (index, total) in totals.iter_mut().enumerate() {
            let at = (group * APART + index) * L::COUNT;
            // SAFETY: the vector lies in the group, and the group in the tile.
            let x = unsafe { L::load(proof, tile.as_ptr().add(at)) };
            *total = O::combine_lanes(*total, x);
        }
    }
    fold_lanes::<T, O, L>(totals)
}

/// All lanes of all vectors, combined in pairs.
#[inline(always)]
fn fold_lanes<T: Element, O: Operator<T::Acc>, L: Lanes<T>>(totals: [L; APART]) -> T::Acc {
    let [a, b, c, d] = totals;
    let lanes = O::combine_lanes(O::combine_lanes(a, b), O::combine_lanes(c, d));
    let mut total = O::IDENTITY;
    lanes.inclusive_scan::<O>().for_each(|lane| total = lane);
    total
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
    total: T::Acc,
) -> T::Acc {
    if O::is_regular(start, total) {
        O::combine(start, total)
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
