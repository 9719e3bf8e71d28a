//! The trues of a mask: a bit for each of its bytes, and how many there are before each block.
//!
//! ```text
//! mask      1 0 0 1 … | 0 0 1 0 … | …       blocks of 2^14 bytes; a byte other than zero is true
//! words     …1001     | …0100     | …       64 bits each, the first byte in the lowest
//! starts    0         | 5         | … 9     trues before each block, and all
//! ```
//!
//! The mask is read once. What follows it reads an eighth of its bytes, and skips 64 falses at a time.

use core::mem::MaybeUninit;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::buffer::{Output, Shared, as_slots};
use super::compress::{self, BITS};
use super::parallel;
use super::processor::vectorize;
use super::row_major::{BLOCK, RowMajor};

/// The blocks of a task that only reads, and how little work that is: it reads one in less than a microsecond.
const READ: usize = 16;

/// The words of a block.
const WORDS: usize = BLOCK / BITS;

/// The number of trues.
pub(crate) fn count_true(mask: &RowMajor<'_, u8>) -> usize {
    let mut counts = vec![0; mask.len().div_ceil(BLOCK)];
    for_each_block_of(mask, &mut counts, &|_, mask| {
        let words = &mut [0; WORDS];
        compress::pack(mask, &mut as_slots(words)[..mask.len().div_ceil(BITS)])
    });
    counts.into_iter().sum()
}

/// Whether every entry is true. The first false that a thread finds ends the search.
pub(crate) fn all_true(mask: &RowMajor<'_, u8>) -> bool {
    let len = mask.len();
    let first = len.min(BLOCK);
    // Most masks have a false in their first block.
    if !are_true(&mask.read(0..first)) {
        return false;
    }
    let all = AtomicBool::new(true);
    let part = READ * BLOCK;
    parallel::for_each_of(
        (len - first) / READ,
        (len - first).div_ceil(part),
        1,
        &|at| {
            let start = first + at * part;
            if all.load(Relaxed) && !are_true(&mask.read(start..len.min(start + part))) {
                all.store(false, Relaxed);
            }
        },
    );
    all.into_inner()
}

fn are_true(mask: &[u8]) -> bool {
    vectorize!(mask.iter().fold(true, |all, &byte| all & (byte != 0)))
}

/// Sets the count of each block of a mask.
fn for_each_block_of(
    mask: &RowMajor<'_, u8>,
    counts: &mut [usize],
    count: &(dyn Fn(usize, &[u8]) -> usize + Sync),
) {
    let len = mask.len();
    parallel::for_each_part_of(len, counts, mask.blocks_at_once(), &|first, counts| {
        let entries = first * BLOCK..len.min((first + counts.len()) * BLOCK);
        let blocks = &mask.read(entries);
        for (at, (slot, block)) in counts.iter_mut().zip(blocks.chunks(BLOCK)).enumerate() {
            *slot = count(first + at, block);
        }
    });
}

/// The trues of a mask.
pub(super) struct Trues<'a> {
    words: &'a [u64],
    /// How many trues precede each block, and how many there are.
    starts: &'a [usize],
    /// The entries of the mask.
    pub(super) len: usize,
}

/// A part of a mask.
pub(super) struct MaskBlock<'a> {
    /// The entries of the block.
    pub(super) entries: Range<usize>,
    pub(super) words: &'a [u64],
    /// Its trues among all.
    pub(super) trues: Range<usize>,
}

impl Trues<'_> {
    /// Finds the trues of a mask, those of a single block in memory of the stack.
    pub(super) fn of<R>(mask: &RowMajor<'_, u8>, body: impl FnOnce(&Trues<'_>) -> R) -> R {
        let len = mask.len();
        let words = len.div_ceil(BITS);
        if len <= BLOCK {
            let room = &mut [MaybeUninit::uninit(); WORDS];
            let starts = &[0, compress::pack(&mask.read(0..len), &mut room[..words])];
            // SAFETY: the words have been written.
            let words = unsafe { room[..words].assume_init_ref() };
            return body(&Trues { words, starts, len });
        }
        let mut room = Output::new(words);
        let mut starts = vec![0; len.div_ceil(BLOCK) + 1];
        let shared = Shared::new(room.slots());
        for_each_block_of(mask, &mut starts[1..], &|block, mask| {
            let first = block * WORDS;
            // SAFETY: no other task has this block.
            let words = unsafe { shared.slice(first..first + mask.len().div_ceil(BITS)) };
            compress::pack(mask, words)
        });
        let mut before = 0;
        for start in &mut starts {
            before += *start;
            *start = before;
        }
        // SAFETY: each block has written its words.
        let words = &unsafe { room.finish() };
        let starts = &starts;
        body(&Trues { words, starts, len })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Calls `body` with `at_once` neighbouring blocks at a time, on all threads if the mask is long.
    pub(super) fn for_each_block(&self, at_once: usize, body: &(dyn Fn(MaskBlock<'_>) + Sync)) {
        let blocks = self.starts.len() - 1;
        parallel::for_each_of(self.len, blocks.div_ceil(at_once), 1, &|part| {
            let first = part * at_once;
            let last = blocks.min(first + at_once);
            body(MaskBlock {
                entries: first * BLOCK..self.len.min(last * BLOCK),
                words: &self.words[first * WORDS..self.words.len().min(last * WORDS)],
                trues: self.starts[first]..self.starts[last],
            });
        });
    }
}
