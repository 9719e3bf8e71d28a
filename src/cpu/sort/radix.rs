//! The sort of one line of keys.
//!
//! ```text
//! split    a large line, once: a stable counting sort by the highest digit that is not the same in all keys, into
//!          buckets that fit a cache; large buckets are split again
//! passes   the line, or each bucket: the other digits, least significant first, each pass a stable counting sort
//! few      lines and buckets of few items: by comparison, where counts would cost more than the sort
//! ```
//!
//! A counting sort by a digit has two steps: each block counts its digits, and a scan of the counts, digit by digit and
//! block by block within a digit, gives each block its first place of each digit; then each block moves its items
//! there. A line that one thread sorts is one block. One read counts the digits of all of its passes, and shows which
//! of them all keys have in common: these need no pass. Items move back and forth between two buffers.

use core::mem::MaybeUninit;

use super::super::buffer::{Shared, SharedSlice, as_slots};
use super::super::compress::Index;
use super::super::parallel;
use super::keys::Bits;

/// Bits of a digit.
const DIGIT: usize = 11;

/// Values of a digit of a pass.
const DIGITS: usize = 1 << DIGIT;

/// Bits of the digit by which a line is split. With 8 bits a sort took 60 ms, with 10 or 11 bits 68 to 76 ms, and
/// without a split, in four passes over the whole line, 90 ms.
const SPLIT: usize = 8;

/// Larger lines are split: this many items of 32 bits are half a mebibyte, which fits a second-level cache. Not
/// measured.
const LARGE: usize = 1 << 17;

/// Items in a block. Between 2^12 and 2^20 the time differed by less than a tenth.
const BLOCK: usize = 1 << 17;

/// The count of each digit of each pass, and then the place of the next item of each. Keys of fewer bits use the first
/// ones.
type Histogram = [[u32; DIGITS]; 64usize.div_ceil(DIGIT)];

/// The same for the digit of a split.
type Counts = [usize; 1 << SPLIT];

/// What is sorted: a key, alone or with its position.
pub(super) trait Item<B: Bits>: Copy + Send + Sync + 'static {
    /// Up to this many items for each byte of a key are sorted by comparison. For `f32`, passes took as long at 512
    /// keys, and at 256 keys with positions.
    const FEW_PER_BYTE: usize;

    fn new(key: B, position: usize) -> Self;
    fn key(self) -> B;
    /// Sorts a few items, which are in the order of their positions.
    fn sort_few(items: &mut [Self], mask: B);
}

impl<B: Bits> Item<B> for B {
    const FEW_PER_BYTE: usize = 128;

    #[inline(always)]
    fn new(key: B, _position: usize) -> Self {
        key
    }

    #[inline(always)]
    fn key(self) -> B {
        self
    }

    fn sort_few(items: &mut [Self], mask: B) {
        if mask == B::ALL {
            items.sort_unstable()
        } else {
            items.sort_by_key(|key| key.and(mask))
        }
    }
}

/// A key and its position in its line.
#[derive(Clone, Copy)]
pub(super) struct Placed<B, P> {
    key: B,
    pub(super) position: P,
}

impl<B: Bits, P: Index> Item<B> for Placed<B, P> {
    const FEW_PER_BYTE: usize = 64;

    #[inline(always)]
    fn new(key: B, position: usize) -> Self {
        Self {
            key,
            position: P::from_usize(position),
        }
    }

    #[inline(always)]
    fn key(self) -> B {
        self.key
    }

    fn sort_few(items: &mut [Self], mask: B) {
        items.sort_unstable_by_key(|item| (item.key.and(mask), item.position.to_usize()));
    }
}

/// Sorts `items`, which are in the order of their positions, by the bits of their keys under `mask`; on all threads if
/// the line `is_long`. `spare` is as long.
pub(super) fn sort<B: Bits, T: Item<B>>(
    items: &mut [T],
    spare: &mut [MaybeUninit<T>],
    mask: B,
    is_long: bool,
) {
    if items.len() >= LARGE {
        return split(items, spare, mask, is_long);
    }
    if passes(items, spare, mask) {
        // SAFETY: the last pass has written every slot of the spare buffer.
        items.copy_from_slice(unsafe { spare.assume_init_ref() });
    }
}

/// Sorts a large line, bucket by bucket.
fn split<B: Bits, T: Item<B>>(
    items: &mut [T],
    spare: &mut [MaybeUninit<T>],
    mask: B,
    is_long: bool,
) {
    let block = if is_long { BLOCK } else { items.len() };
    let highest = varying(items, block).and(mask).width();
    if highest == 0 {
        return;
    }
    let from = highest.saturating_sub(SPLIT);
    let digit = |item: T| item.key().and(mask).digit(from, SPLIT);
    let mut counts = vec![[0; 1 << SPLIT]; items.len().div_ceil(block)];
    count(items, &mut counts, block, &digit);
    place(&mut counts);
    pass(items, spare, &mut counts, block, &digit);
    // The places of the last block have moved on to the end of each bucket.
    let ends = counts[counts.len() - 1];
    let len = items.len();
    let (items, spare) = (SharedSlice::new(items), SharedSlice::new(spare));
    let bucket = |number: usize, is_long: bool| {
        let start = if number == 0 { 0 } else { ends[number - 1] };
        // SAFETY: buckets do not overlap, and each is taken by one task.
        let (to, own) = unsafe {
            (
                items.slice(start..ends[number]),
                spare.slice(start..ends[number]),
            )
        };
        // SAFETY: the split has written every slot.
        let own = unsafe { own.assume_init_mut() };
        let is_there = if own.len() >= LARGE {
            split(own, as_slots(to), mask, is_long);
            false
        } else {
            passes(own, as_slots(to), mask)
        };
        if !is_there {
            to.copy_from_slice(own);
        }
    };
    let is_large = |number: usize| {
        let start = if number == 0 { 0 } else { ends[number - 1] };
        is_long && ends[number] - start >= LARGE
    };
    let numbers = 0..ends.len();
    numbers
        .clone()
        .filter(|&number| is_large(number))
        .for_each(|number| bucket(number, true));
    let elements = if is_long { len } else { 0 };
    parallel::for_each_of(elements, ends.len(), 1, &|number| {
        if !is_large(number) {
            bucket(number, false);
        }
    });
}

/// The bits that are not the same in all keys.
fn varying<B: Bits, T: Item<B>>(items: &[T], block: usize) -> B {
    let first = items[0].key();
    let mut of_blocks = vec![first.xor(first); items.len().div_ceil(block)];
    for_each_block(items, &mut of_blocks, block, &|items, bits| {
        for item in items {
            *bits = bits.or(item.key().xor(first));
        }
    });
    of_blocks.into_iter().fold(first.xor(first), B::or)
}

/// Sorts items on this thread. Returns whether they are in `spare` now.
fn passes<B: Bits, T: Item<B>>(items: &mut [T], spare: &mut [MaybeUninit<T>], mask: B) -> bool {
    let len = items.len();
    if len <= T::FEW_PER_BYTE * B::BYTES {
        T::sort_few(items, mask);
        return false;
    }
    let mut in_spare = false;
    for (at, counts) in histogram(items, mask).iter_mut().enumerate() {
        if at >= digits::<B>() || counts.iter().any(|&count| count as usize == len) {
            continue;
        }
        let mut next = 0;
        for count in &mut *counts {
            next += core::mem::replace(count, next);
        }
        let all = as_slots(items);
        let (from, to) = if in_spare {
            (&mut *spare, all)
        } else {
            (all, &mut *spare)
        };
        // SAFETY: the items are initialised, and the pass before has written every slot of the spare buffer.
        for &item in unsafe { from.assume_init_ref() } {
            let place = &mut counts[item.key().and(mask).digit(at * DIGIT, DIGIT)];
            to[*place as usize].write(item);
            *place += 1;
        }
        in_spare = !in_spare;
    }
    in_spare
}

/// The digits of a key.
const fn digits<B: Bits>() -> usize {
    (8 * B::BYTES).div_ceil(DIGIT)
}

/// The count of each digit.
fn histogram<B: Bits, T: Item<B>>(items: &[T], mask: B) -> Histogram {
    let mut histogram = [[0; DIGITS]; _];
    for item in items {
        let key = item.key().and(mask);
        for at in 0..digits::<B>() {
            let counts: &mut [u32; DIGITS] = &mut histogram[at];
            counts[key.digit(at * DIGIT, DIGIT)] += 1;
        }
    }
    histogram
}

fn count<T: Copy + Sync>(
    items: &[T],
    counts: &mut [Counts],
    block: usize,
    digit: &(impl Fn(T) -> usize + Sync),
) {
    for_each_block(items, counts, block, &|items, counts| {
        for &item in items {
            counts[digit(item)] += 1;
        }
    });
}

/// Turns the counts of each block into the places of its first item of each digit.
fn place(counts: &mut [Counts]) {
    let mut next = 0;
    for digit in 0..1 << SPLIT {
        for counts in &mut *counts {
            let count = core::mem::replace(&mut counts[digit], next);
            next += count;
        }
    }
}

/// Moves the items of each block to their places.
fn pass<T: Copy + Send + Sync>(
    from: &[T],
    to: &mut [MaybeUninit<T>],
    places: &mut [Counts],
    block: usize,
    digit: &(impl Fn(T) -> usize + Sync),
) {
    let to: Shared<T> = SharedSlice::new(to);
    for_each_block(from, places, block, &|items, places| {
        for &item in items {
            let place = &mut places[digit(item)];
            // SAFETY: each item has a place of its own, since the places were counted from these items.
            unsafe { to.set(*place, MaybeUninit::new(item)) };
            *place += 1;
        }
    });
}

/// Calls `body` with each block of items and its entry of `of_blocks`, on all threads if there are several blocks.
fn for_each_block<T: Sync, S: Send>(
    items: &[T],
    of_blocks: &mut [S],
    block: usize,
    body: &(impl Fn(&[T], &mut S) + Sync),
) {
    if let [one] = of_blocks {
        return body(items, one);
    }
    parallel::for_each_part(of_blocks, 1, &|at, of_block| {
        let first = at * block;
        let end = items.len().min(first + block);
        body(&items[first..end], &mut of_block[0]);
    });
}
