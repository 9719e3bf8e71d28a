//! A tile of a row in lanes.
//!
//! A scan in order is bound by the latency of its operator: each element waits for the one before it. In a tile only
//! the lanes' last elements do: a vector is scanned on its own, then its carry is combined with every lane.
//!
//! ```text
//! x         | x0 x1 .. x7          | x8 ..               | ..
//! local     | x0 x0⊕x1 .. x0⊕..⊕x7 | x8 x8⊕x9 ..         |      three steps of shuffles
//! carry     | start                | carry ⊕ last(local) |      in order: one ⊕ a vector
//! output    | carry ⊕ local        | carry ⊕ local       |
//! ```
//!
//! The total of a tile is a sum of its own, lane by lane, so that it can be had without the scan, see [`total`], and
//! has the same bits either way.
//!
//! Where floats leave the range of their type, `carry ⊕ local` may differ from the sequential result by more than
//! rounding. The locals are watched for that, and a tile in which it happened is scanned once more, in order. Not watched is
//! `carry ⊕ local`: what a loop would leave infinite comes back into range where the total behind it does.
//!
//! A reverse scan goes through vectors and lanes from the last to the first.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::element::{Element, TILE};
use super::lanes::Lanes;
use super::operator::Operator;

/// Vectors whose lanes a total keeps apart, which hides the latency of the operator.
const APART: usize = 4;

/// No lanes are more than these.
const MOST_LANES: usize = 8;

/// The total of a whole tile.
#[inline(always)]
pub(super) fn total<T: Element, O: Operator<T::Acc>, L: Lanes<T>, const REVERSE: bool>(
    tile: &[T],
) -> T::Acc {
    assert!(tile.len() == TILE);
    let mut totals = [L::splat(O::IDENTITY); APART];
    let groups = TILE / (APART * L::COUNT);
    for step in 0..groups {
        let group = if REVERSE { groups - 1 - step } else { step };
        for (index, total) in totals.iter_mut().enumerate() {
            // SAFETY: the vector lies in the group, and the group in the tile.
            let x = unsafe { L::load(tile.as_ptr().add((group * APART + index) * L::COUNT)) };
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
    input: &[T],
    output: &mut [MaybeUninit<T>],
    start: T::Acc,
    exclusive: bool,
) -> T::Acc {
    let (total, is_regular) = if exclusive {
        walk::<T, O, L, REVERSE, true>(input, output, start)
    } else {
        walk::<T, O, L, REVERSE, false>(input, output, start)
    };
    if !is_regular {
        scan_in_order::<T, O, REVERSE>(input, output, start, exclusive);
    }
    carry_behind::<T, O, REVERSE>(input, start, total)
}

/// The carry behind a tile of which the total is known.
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

/// Scans from `start`. Returns the total, and whether all that was combined with a carry was regular.
#[inline(always)]
fn walk<
    T: Element,
    O: Operator<T::Acc>,
    L: Lanes<T>,
    const REVERSE: bool,
    const EXCLUSIVE: bool,
>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    start: T::Acc,
) -> (T::Acc, bool) {
    assert!(input.len() == output.len());
    let mut walk = Walk::<T, O, L> {
        carry: L::splat(start),
        seen: (L::splat(O::IDENTITY), L::splat(O::IDENTITY)),
        element: PhantomData,
    };
    let mut totals = [L::splat(O::IDENTITY); APART];
    let vectors = input.len() / L::COUNT;
    let groups = vectors / APART;
    let (from, to) = (input.as_ptr(), output.as_mut_ptr().cast::<T>());
    // SAFETY: each group and each vector lies in both slices, and the rest is all that lies behind them.
    unsafe {
        if REVERSE {
            let at = vectors * L::COUNT;
            walk.rest::<REVERSE, EXCLUSIVE>(
                from.add(at),
                to.add(at),
                input.len() - at,
                &mut totals[0],
            );
            for vector in (groups * APART..vectors).rev() {
                let at = vector * L::COUNT;
                walk.step::<REVERSE, EXCLUSIVE>(from.add(at), to.add(at), &mut totals[0]);
            }
        }
        for group in 0..groups {
            let group = if REVERSE { groups - 1 - group } else { group };
            for index in 0..APART {
                let index = if REVERSE { APART - 1 - index } else { index };
                let at = (group * APART + index) * L::COUNT;
                walk.step::<REVERSE, EXCLUSIVE>(from.add(at), to.add(at), &mut totals[index]);
            }
        }
        if !REVERSE {
            for vector in groups * APART..vectors {
                let at = vector * L::COUNT;
                walk.step::<REVERSE, EXCLUSIVE>(from.add(at), to.add(at), &mut totals[0]);
            }
            let at = vectors * L::COUNT;
            walk.rest::<REVERSE, EXCLUSIVE>(
                from.add(at),
                to.add(at),
                input.len() - at,
                &mut totals[0],
            );
        }
    }
    (fold_lanes::<T, O, L>(totals), walk.was_regular(start))
}

/// A walk from one vector to the next.
struct Walk<T, O, L> {
    carry: L,
    seen: (L, L),
    element: PhantomData<(T, O)>,
}

impl<T: Element, O: Operator<T::Acc>, L: Lanes<T>> Walk<T, O, L> {
    /// # Safety
    ///
    /// There is a vector at `from` and room for one at `to`.
    #[inline(always)]
    unsafe fn step<const REVERSE: bool, const EXCLUSIVE: bool>(
        &mut self,
        from: *const T,
        to: *mut T,
        total: &mut L,
    ) {
        // SAFETY: the caller has a vector there.
        let x = unsafe { L::load(from) };
        *total = O::combine_lanes(*total, x);
        let local = if REVERSE { x.reversed() } else { x }.inclusive_scan::<O>();
        self.seen = O::watch(self.seen, local);
        let shown = if EXCLUSIVE {
            local.shift_in(L::splat(O::IDENTITY))
        } else {
            local
        };
        let scanned = O::combine_lanes(self.carry, shown);
        self.carry = O::combine_lanes(self.carry, local.last());
        // SAFETY: the caller has room for a vector there.
        unsafe { if REVERSE { scanned.reversed() } else { scanned }.store(to) };
    }

    /// What is shorter than a vector is filled up with identities.
    ///
    /// # Safety
    ///
    /// There are `len` elements at `from` and room for as many at `to`, fewer than lanes.
    #[inline(always)]
    unsafe fn rest<const REVERSE: bool, const EXCLUSIVE: bool>(
        &mut self,
        from: *const T,
        to: *mut T,
        len: usize,
        total: &mut L,
    ) {
        if len == 0 {
            return;
        }
        let mut room = [T::from_acc(O::IDENTITY); MOST_LANES];
        // SAFETY: the room is that of a vector; the caller answers for the rest.
        unsafe {
            room.as_mut_ptr().copy_from_nonoverlapping(from, len);
            self.step::<REVERSE, EXCLUSIVE>(room.as_ptr(), room.as_mut_ptr(), total);
            to.copy_from_nonoverlapping(room.as_ptr(), len);
        }
    }

    #[inline(always)]
    fn was_regular(&self, start: T::Acc) -> bool {
        let mut was_regular = true;
        self.seen
            .0
            .for_each(|low| was_regular &= O::is_regular(start, low));
        self.seen
            .1
            .for_each(|high| was_regular &= O::is_regular(start, high));
        was_regular
    }
}

/// Scans from `start` one by one.
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
