//! A tile of a row in lanes.
//!
//! A scan in order is bound by the latency of its operator: each element waits for the one before it. In a tile only
//! the lanes' last elements wait: a vector is scanned on its own, then its carry is combined with every lane. The tile
//! is scanned from the identity, and what precedes it is combined with the results last:
//!
//! ```text
//! x         | x0 x1 .. x7          | x8 ..               | ..
//! local     | x0 x0⊕x1 .. x0⊕..⊕x7 | x8 x8⊕x9 ..         |      three steps of shuffles
//! prefix    | local                | last(prefix) ⊕ local|      in order: one ⊕ a vector
//! output    | start ⊕ prefix       | start ⊕ prefix      |
//! ```
//!
//! So the carry out of a tile is `start ⊕ last(prefix)`, the last thing that the tile writes, and [`totals`] finds
//! `last(prefix)` without `start`, and without the other lanes of local scans. Where any order is exact, the prefix
//! begins with `start`, and the total is that of [`RowTotal`](super::total::RowTotal). An exclusive scan writes the same
//! values one place further along. Each step adds a later part to an earlier one that stays, so sums of numbers that are
//! not negative do not fall.
//!
//! Where floats leave the range of their type, `start ⊕ prefix` may differ from the sequential result by more than
//! rounding. The walk watches the prefixes for that, and a tile in which it happens is scanned once more, in order. A
//! result that is out of range only after `start` comes back into range if later elements bring it back.
//!
//! A reverse scan goes through vectors and lanes from the last to the first.

mod walk;

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::element::TILE;
use super::lanes::{self, Kernel};
use super::total::{RowTotal, first_of_equals};
use super::traits::{Accumulator, Combine, ElementType, Lanes, MOST_LANES};

/// Scans rows of `len` elements tile by tile, each row from `carry`. Returns the carry out of the last row.
pub(super) fn scan_rows<T: ElementType, O: Combine<T::Acc>, const REVERSE: bool>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    len: usize,
    carry: T::Acc,
    exclusive: bool,
) -> T::Acc {
    lanes::run(Rows::<T, O, REVERSE> {
        input,
        output,
        len,
        carry,
        exclusive,
        operator: PhantomData,
    })
}

/// As [`scan_rows`], in either direction.
pub(super) fn scan_rows_of<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    len: usize,
    carry: T::Acc,
    exclusive: bool,
    reverse: bool,
) -> T::Acc {
    if reverse {
        scan_rows::<T, O, true>(input, output, len, carry, exclusive)
    } else {
        scan_rows::<T, O, false>(input, output, len, carry, exclusive)
    }
}

/// Finds the totals of whole tiles.
pub(super) fn find_totals<T: ElementType, O: Combine<T::Acc>>(
    tiles: &[T],
    totals: &mut [TileTotal<T::Acc>],
    reverse: bool,
) {
    if O::EXACT {
        let scratch = &mut T::Scratch::default();
        for (tile, total) in tiles.chunks_exact(TILE).zip(totals) {
            let elements = T::widen(tile, scratch);
            let found = lanes::run(RowTotal::<T::Acc, O>::new(elements));
            *total = TileTotal::exact::<O>(first_of_equals(found, elements, reverse));
        }
    } else {
        find_rounded_totals::<T, O>(tiles, totals, reverse);
    }
}

fn find_rounded_totals<T: ElementType, O: Combine<T::Acc>>(
    tiles: &[T],
    totals: &mut [TileTotal<T::Acc>],
    reverse: bool,
) {
    lanes::run(Totals::<T, O> {
        tiles,
        totals,
        reverse,
        operator: PhantomData,
    });
}

/// The work of [`scan_rows`].
pub(super) struct Rows<'a, T: ElementType, O, const REVERSE: bool> {
    pub(super) input: &'a [T],
    pub(super) output: &'a mut [MaybeUninit<T>],
    pub(super) len: usize,
    pub(super) carry: T::Acc,
    pub(super) exclusive: bool,
    pub(super) operator: PhantomData<O>,
}

impl<T: ElementType, O: Combine<T::Acc>, const REVERSE: bool> Kernel<T>
    for Rows<'_, T, O, REVERSE>
{
    type Output = T::Acc;

    #[inline(always)]
    fn run<L: Lanes<T>>(self, proof: L::Proof) -> T::Acc {
        let mut carry = self.carry;
        let rows = self.input.chunks_exact(self.len);
        for (input, output) in rows.zip(self.output.chunks_exact_mut(self.len)) {
            carry = self.carry;
            let tiles = input.len().div_ceil(TILE);
            // A loop, since a closure would not be compiled for the lanes.
            for tile in 0..tiles {
                let first = if REVERSE { tiles - 1 - tile } else { tile } * TILE;
                let last = input.len().min(first + TILE);
                let (input, output) = (&input[first..last], &mut output[first..last]);
                carry = scan::<T, O, L, REVERSE>(proof, input, output, carry, self.exclusive);
            }
        }
        carry
    }
}

/// The totals of whole tiles, one in each lane, as many tiles at once as there are lanes.
struct Totals<'a, T: ElementType, O> {
    tiles: &'a [T],
    totals: &'a mut [TileTotal<T::Acc>],
    reverse: bool,
    operator: PhantomData<O>,
}

impl<T: ElementType, O: Combine<T::Acc>> Kernel<T> for Totals<'_, T, O> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<T>>(self, proof: L::Proof) {
        let Self {
            tiles,
            totals,
            reverse,
            ..
        } = self;
        assert!(tiles.len() == totals.len() * TILE);
        let sets = tiles.chunks(L::COUNT * TILE);
        for (tiles, totals) in sets.zip(totals.chunks_mut(L::COUNT)) {
            // A set that is not full repeats its last tile.
            let mut starts = [tiles.as_ptr(); MOST_LANES];
            for (index, start) in starts.iter_mut().enumerate() {
                *start = tiles[index.min(totals.len() - 1) * TILE..].as_ptr();
            }
            // SAFETY: a tile begins at each of them.
            let (last, seen) = unsafe { last_prefixes::<T, O, L>(proof, starts, reverse) };
            let (last, least, most) = (last.array(), seen.0.array(), seen.1.array());
            for (lane, total) in totals.iter_mut().enumerate() {
                *total = TileTotal {
                    total: last[lane],
                    seen: (least[lane], most[lane]),
                };
            }
        }
    }
}

/// The last prefix of a tile, and what the operator has noted of the prefixes that it is made of.
#[derive(Clone, Copy)]
pub(super) struct TileTotal<A> {
    total: A,
    seen: (A, A),
}

impl<A: Accumulator> TileTotal<A> {
    pub(super) fn nothing<O: Combine<A>>() -> Self {
        Self::exact::<O>(O::IDENTITY)
    }

    /// A total that does not depend on the order.
    pub(super) fn exact<O: Combine<A>>(total: A) -> Self {
        Self {
            total,
            seen: (O::IDENTITY, O::IDENTITY),
        }
    }

    /// Whether `start ⊕ total` may stand for folding the elements in order.
    #[inline(always)]
    fn is_regular<O: Combine<A>>(self, start: A) -> bool {
        O::is_regular(start, self.total)
            & O::is_regular(start, self.seen.0)
            & O::is_regular(start, self.seen.1)
    }
}

/// The last prefix of the tile at each of `starts`, and what the operator has noted of the prefixes before.
///
/// # Safety
///
/// A whole tile begins at each of the first `COUNT` of them.
#[inline(always)]
unsafe fn last_prefixes<T: ElementType, O: Combine<T::Acc>, L: Lanes<T>>(
    proof: L::Proof,
    starts: [*const T; MOST_LANES],
    reverse: bool,
) -> (L, (L, L)) {
    let identity = L::splat(proof, O::IDENTITY);
    let (mut prefix, mut seen) = (identity, (identity, identity));
    let vectors = TILE / L::COUNT;
    for step in 0..vectors {
        let vector = if reverse { vectors - 1 - step } else { step };
        let mut of_tiles = [identity; MOST_LANES];
        for tile in 0..L::COUNT {
            // SAFETY: the vector lies in the tile.
            of_tiles[tile] = unsafe { L::load(proof, starts[tile].add(vector * L::COUNT)) };
        }
        prefix = O::combine_lanes(prefix, L::folds::<O>(of_tiles));
        seen = O::watch(seen, prefix);
    }
    (prefix, seen)
}

/// Scans a tile, or what is left of a row after the last whole one, from `start`. Returns the carry out of it.
#[inline(always)]
fn scan<T: ElementType, O: Combine<T::Acc>, L: Lanes<T>, const REVERSE: bool>(
    proof: L::Proof,
    input: &[T],
    output: &mut [MaybeUninit<T>],
    start: T::Acc,
    exclusive: bool,
) -> T::Acc {
    let (total, is_regular) =
        walk::walk::<T, O, L, REVERSE>(proof, input, output, start, exclusive);
    if O::EXACT {
        // The tile was scanned from `start`.
        return total;
    }
    if is_regular {
        return O::combine(start, total);
    }
    scan_again::<T, O, REVERSE>(input, output, start, exclusive)
}

/// The carry out of a tile whose total is known.
#[inline(always)]
pub(super) fn carry_out<T: ElementType, O: Combine<T::Acc>>(
    tile: &[T],
    start: T::Acc,
    total: TileTotal<T::Acc>,
    reverse: bool,
) -> T::Acc {
    if total.is_regular::<O>(start) {
        O::combine(start, total.total)
    } else {
        walk_in_order::<T, O>(tile, &mut [], start, false, reverse)
    }
}

/// Scans a tile in order. Returns the carry out of it, as [`carry_out`] finds it.
#[cold]
fn scan_again<T: ElementType, O: Combine<T::Acc>, const REVERSE: bool>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    start: T::Acc,
    exclusive: bool,
) -> T::Acc {
    let carry = walk_in_order::<T, O>(input, output, start, exclusive, REVERSE);
    if input.len() < TILE {
        return carry;
    }
    // The prefixes between those of whole vectors do not count here.
    let mut total = [TileTotal::nothing::<O>()];
    find_rounded_totals::<T, O>(input, &mut total, REVERSE);
    carry_out::<T, O>(input, start, total[0], REVERSE)
}

/// Scans from `carry` one by one, or folds if there is no output. Returns the carry out of the elements.
#[cold]
fn walk_in_order<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    mut carry: T::Acc,
    exclusive: bool,
    reverse: bool,
) -> T::Acc {
    for step in 0..input.len() {
        let at = if reverse {
            input.len() - 1 - step
        } else {
            step
        };
        let before = carry;
        carry = O::combine(carry, input[at].to_acc());
        if let Some(slot) = output.get_mut(at) {
            slot.write(T::from_acc(if exclusive { before } else { carry }));
        }
    }
    carry
}
