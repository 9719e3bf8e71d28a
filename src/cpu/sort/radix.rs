//! The sort of one line of keys.
//!
//! ```text
//! split    a large line, once: a stable counting sort by the highest digit that is not the same in all keys, into
//!          buckets that fit a cache; large buckets are split again; see [`combining`] for the moves
//! passes   the line, or each bucket: the other digits, least significant first, each pass a stable counting sort
//! few      lines and buckets of few items: by comparison, where counts would cost more than the sort
//! ```
//!
//! A counting sort by a digit has two steps: each block counts its digits, and a scan of the counts, digit by digit and
//! block by block within a digit, gives each block its first place of each digit; then each block moves its items
//! there. A line that one thread sorts is one block. Passes go up to the highest bit that is not the same in all keys. A
//! digit that all keys have in common needs none. Items move back and forth between two buffers.

use core::mem::MaybeUninit;

use super::super::buffer::{Shared, SharedSlice, as_slots};
use super::super::parallel;
use super::combining::{self, Counts, SPLIT};
use super::item::Item;
use super::keys::Bits;

/// Counters that take as long as an item does in one pass. On an EPYC, passes of 8 bits took 0.6 to 0.8 of the time of 11
/// bits for 600 keys of 32 bits, and 1.2 for 4000.
const COUNTERS_OF_ITEM: usize = 6;

/// Bits of the widest digit of a pass.
const WIDEST_DIGIT: usize = 12;

/// Larger lines are split: this many items of 32 bits are half a mebibyte, which fits a second-level cache. Not
/// measured.
const LARGE: usize = 1 << 17;

/// Items in a block. Between 2^12 and 2^20 the time differed by less than a tenth.
const BLOCK: usize = 1 << 17;

/// Sorts `items`, which are in the order of their positions, by the bits of their keys under `mask`; on all threads if
/// the line `is_long`. `spare` is as long.
pub(super) fn sort<B: Bits, T: Item<B>>(
    items: &mut [T],
    spare: &mut [MaybeUninit<T>],
    mask: B,
    is_long: bool,
) {
    sort_into(items, spare, mask, is_long, false);
}

/// As [`sort`], into `spare` if that is wanted.
fn sort_into<B: Bits, T: Item<B>>(
    items: &mut [T],
    spare: &mut [MaybeUninit<T>],
    mask: B,
    is_long: bool,
    into_spare: bool,
) {
    let bits = (varying(items, block_of(items, is_long)) & mask).width();
    if items.len() >= LARGE && bits > 0 {
        split(items, spare, mask, bits, is_long, into_spare);
    } else {
        passes(items, spare, mask, bits, into_spare);
    }
}

/// Sorts a large line, bucket by bucket. Its keys differ in no more than the lowest `bits` bits.
fn split<B: Bits, T: Item<B>>(
    items: &mut [T],
    spare: &mut [MaybeUninit<T>],
    mask: B,
    bits: usize,
    is_long: bool,
    into_spare: bool,
) {
    let block = block_of(items, is_long);
    let from = bits.saturating_sub(SPLIT);
    let digit = |item: T| (item.key() & mask).digit(from, SPLIT);
    let mut counts = vec![[0; 1 << SPLIT]; items.len().div_ceil(block)];
    for_each_block(items, &mut counts, block, &|items, counts| {
        for &item in items {
            counts[digit(item)] += 1;
        }
    });
    place(&mut counts);
    let far = size_of_val(items) >= combining::FAR;
    let to: Shared<T> = SharedSlice::new(spare);
    for_each_block(items, &mut counts, block, &|items, places| {
        // SAFETY: each item has a place of its own, since the places were counted from these items.
        unsafe { combining::move_items(items, places, &to, &digit, far) };
    });
    // The places of the last block have moved on to the end of each bucket.
    let ends = counts[counts.len() - 1];
    let len = items.len();
    let (items, spare) = (SharedSlice::new(items), SharedSlice::new(spare));
    let place_of = |number: usize| match number.checked_sub(1) {
        None => 0..ends[0],
        Some(before) => ends[before]..ends[number],
    };
    let bucket = |number: usize, is_long: bool| {
        let place = place_of(number);
        // SAFETY: buckets do not overlap, and each is taken by one task.
        let (other, own) = unsafe { (items.slice(place.clone()), spare.slice(place)) };
        // SAFETY: the split has written every slot.
        let (own, other) = (unsafe { own.assume_init_mut() }, as_slots(other));
        if own.len() >= LARGE {
            sort_into(own, other, mask, is_long, !into_spare);
        } else {
            passes(own, other, mask, from, !into_spare);
        }
    };
    let is_large = |number: usize| is_long && place_of(number).len() >= LARGE;
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

/// The items of a block.
fn block_of<T>(items: &[T], is_long: bool) -> usize {
    if is_long { BLOCK } else { items.len() }
}

/// The bits that are not the same in all keys.
fn varying<B: Bits, T: Item<B>>(items: &[T], block: usize) -> B {
    let first = items[0].key();
    let mut of_blocks = vec![B::zeroed(); items.len().div_ceil(block)];
    for_each_block(items, &mut of_blocks, block, &|items, bits| {
        for item in items {
            *bits = *bits | (item.key() ^ first);
        }
    });
    of_blocks.into_iter().fold(B::zeroed(), B::bitor)
}

/// Sorts items on this thread by the lowest `bits` bits of their keys, into `spare` if that is wanted.
fn passes<B: Bits, T: Item<B>>(
    items: &mut [T],
    spare: &mut [MaybeUninit<T>],
    mask: B,
    bits: usize,
    into_spare: bool,
) {
    let digits = |width| bits.div_ceil(width);
    let cost = |width: &usize| digits(*width) * (COUNTERS_OF_ITEM * items.len() + (1 << width));
    let in_spare = if items.len() <= T::FEW_PER_BYTE * B::BYTES {
        T::sort_few(items, mask);
        false
    } else {
        let width = [8, 11, WIDEST_DIGIT].into_iter().min_by_key(cost);
        let width = width.expect("three widths");
        passes_by(items, spare, mask, digits(width), width)
    };
    match (in_spare, into_spare) {
        // SAFETY: the last pass has written every slot of the spare buffer.
        (true, false) => items.copy_from_slice(unsafe { spare.assume_init_ref() }),
        (false, true) => spare.copy_from_slice(as_slots(items)),
        _ => {}
    }
}

/// As [`passes`], by a number of digits of `width` bits. Returns whether the items are in `spare` now.
fn passes_by<B: Bits, T: Item<B>>(
    items: &mut [T],
    spare: &mut [MaybeUninit<T>],
    mask: B,
    digits: usize,
    width: usize,
) -> bool {
    // An index below its length needs no check.
    const LAST: usize = (1 << WIDEST_DIGIT) - 1;
    let mut places = [0u32; LAST + 1];
    let mut in_spare = false;
    for at in 0..digits {
        let digit = |item: T| (item.key() & mask).digit(at * width, width) & LAST;
        let all = as_slots(items);
        let (from, to) = if in_spare {
            (&mut *spare, all)
        } else {
            (all, &mut *spare)
        };
        // SAFETY: the items are initialised, and the pass before has written every slot of the spare buffer.
        let from = unsafe { from.assume_init_ref() };
        places[..1 << width].fill(0);
        for &item in from {
            places[digit(item)] += 1;
        }
        if places[digit(from[0])] as usize == from.len() {
            continue;
        }
        let mut next = 0;
        for place in &mut places[..1 << width] {
            next += core::mem::replace(place, next);
        }
        for &item in from {
            let place = &mut places[digit(item)];
            to[*place as usize].write(item);
            *place += 1;
        }
        in_spare = !in_spare;
    }
    in_spare
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
