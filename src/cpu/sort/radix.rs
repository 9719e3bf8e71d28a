//! The sort of one line: least significant digit first, a digit a byte, each pass a stable counting sort.
//!
//! ```text
//! count    all digits of all items in one read; a digit that is the same in all keys needs no pass
//! pass     each block counts its digits, has its first place of each digit from a scan of the counts,
//!          digit by digit and block by block within a digit, and moves its items there
//! ```
//!
//! Items go to and fro between two buffers. Blocks are of fixed size and run on all threads; a line that one thread
//! sorts is one block. Few items are sorted by comparison, where the counts would cost more than the sort.

use core::mem::MaybeUninit;

use super::super::buffer::{Shared, SharedSlice, as_slots};
use super::super::compress::Index;
use super::super::parallel;
use super::keys::{Bits, Order};

/// The values of a digit. With 8 bits a pass writes to 256 places at once, whose lines of 64 bytes fit the first-level
/// cache; 2,048 places would not. Not measured.
const DIGITS: usize = 256;

/// Items in a block: 256 of each digit on average. Not measured.
const BLOCK: usize = 1 << 16;

/// For each byte of a key, so many items or fewer are sorted by comparison. Not measured.
const FEW_PER_BYTE: usize = 128;

type Counts = [usize; DIGITS];

/// What is sorted: the bits of an element, alone or with its position.
pub(super) trait Item<B: Bits>: Copy + Send + Sync + 'static {
    fn new(bits: B, position: usize) -> Self;
    fn bits(self) -> B;
}

impl<B: Bits> Item<B> for B {
    #[inline(always)]
    fn new(bits: B, _position: usize) -> Self {
        bits
    }

    #[inline(always)]
    fn bits(self) -> B {
        self
    }
}

/// An element and its position in its line.
#[derive(Clone, Copy)]
pub(super) struct Placed<B, P> {
    bits: B,
    pub(super) position: P,
}

impl<B: Bits, P: Index> Item<B> for Placed<B, P> {
    #[inline(always)]
    fn new(bits: B, position: usize) -> Self {
        Self {
            bits,
            position: P::from_usize(position),
        }
    }

    #[inline(always)]
    fn bits(self) -> B {
        self.bits
    }
}

/// Sorts `items`, on all threads if it `is_long`. `spare` is as long.
pub(super) fn sort<B: Bits, T: Item<B>, O: Order<B>>(
    items: &mut [T],
    spare: &mut [MaybeUninit<T>],
    order: O,
    is_long: bool,
) {
    if items.len() <= FEW_PER_BYTE * B::BYTES {
        return items.sort_by_key(|item| order.key(item.bits()));
    }
    let len = items.len();
    let block = if is_long { BLOCK } else { len };
    let histograms = histograms(items, order, block);
    let mut passes = (0..B::BYTES)
        .filter(|&at| !is_constant(&histograms, len, at))
        .peekable();
    let Some(&first) = passes.peek() else { return };
    let mut counts: Vec<Counts> = histograms.iter().map(|all| all[first]).collect();
    let mut in_spare = false;
    for at in passes {
        let digit = |item: T| order.key(item.bits()).byte(at);
        let all = as_slots(items);
        let (from, to) = match in_spare {
            false => (all, &mut *spare),
            true => (&mut *spare, all),
        };
        // SAFETY: the items are initialised, and the pass before has written every slot of the spare buffer.
        let from = unsafe { from.assume_init_ref() };
        if at != first {
            count(from, &mut counts, block, &digit);
        }
        place(&mut counts);
        pass(from, to, &mut counts, block, &digit);
        in_spare = !in_spare;
    }
    if in_spare {
        // SAFETY: the last pass has written every slot of the spare buffer.
        let sorted = unsafe { spare.assume_init_ref() };
        parallel::for_each_part_of(sorted.len(), items, block, &|first, part| {
            part.copy_from_slice(&sorted[first..first + part.len()]);
        });
    }
}

/// For each block and each byte of the keys, how often each digit is there.
fn histograms<B: Bits, T: Item<B>, O: Order<B>>(
    items: &[T],
    order: O,
    block: usize,
) -> Vec<Vec<Counts>> {
    let mut histograms = vec![vec![[0; DIGITS]; B::BYTES]; items.len().div_ceil(block)];
    for_each_block(items, &mut histograms, block, &|items, histogram| {
        for item in items {
            let key = order.key(item.bits());
            for (at, counts) in histogram.iter_mut().enumerate() {
                counts[key.byte(at)] += 1;
            }
        }
    });
    histograms
}

/// Whether all keys have one digit in common.
fn is_constant(histograms: &[Vec<Counts>], len: usize, at: usize) -> bool {
    let Some(digit) = histograms[0][at].iter().position(|&count| count > 0) else {
        return true;
    };
    histograms.iter().map(|all| all[at][digit]).sum::<usize>() == len
}

fn count<T: Copy + Sync>(
    items: &[T],
    counts: &mut [Counts],
    block: usize,
    digit: &(impl Fn(T) -> usize + Sync),
) {
    for_each_block(items, counts, block, &|items, counts| {
        counts.fill(0);
        for &item in items {
            counts[digit(item)] += 1;
        }
    });
}

/// Turns the counts of each block into the places of its first item of each digit.
fn place(counts: &mut [Counts]) {
    let mut next = 0;
    for digit in 0..DIGITS {
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
            let slot = unsafe { to.slice(*place..*place + 1) };
            slot[0].write(item);
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
