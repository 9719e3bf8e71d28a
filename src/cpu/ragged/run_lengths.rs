//! Run-length encoding: a run starts at each element that differs from the element before it. This element is its head.
//!
//! ```text
//! elements   a a b b b a | a c c        two blocks
//! heads      1 0 1 0 0 1 | 0 1 0
//! positions  0   2     5 |   7          of the heads
//! values     a   b     a |   c          the element at each position
//! lengths    2   3     2 |   2          the next position − this one
//! ```
//!
//! One pass over memory. Threads take blocks in order, find the heads of each, and publish how many runs start up to
//! its end and where the last of them starts, see [`carries`](super::super::carries). Then they write the block's
//! values and lengths while it is in a first-level cache. The length of a block's last run is written by the block in
//! which the next run starts.

use core::mem::MaybeUninit;
use core::ops::Range;

use bytemuck::Zeroable;

use super::super::buffer::{Output, Shared};
use super::super::carries::Carries;
use super::super::compact::clear;
use super::super::compress::{self, BITS, Index};
use super::super::parallel::{self, PARALLEL};
use super::super::processor::vectorize;

/// Elements of a block: blocks of half, twice and four times the size take the same time.
const BLOCK: usize = 1 << 12;

/// How often a thread looks for a carry before it finds a missing one itself.
const SPIN_LIMIT: usize = 200;

/// The values and the lengths of the runs of equal elements, each followed by zeros up to the number of elements if
/// `padded`, and how many runs there are.
pub(crate) fn run_lengths<T, I>(elements: &[T], padded: bool) -> (Vec<T>, Vec<I>, usize)
where
    T: Copy + Default + PartialEq + Zeroable + Send + Sync,
    I: Index,
{
    let len = elements.len();
    let (mut values, mut lengths) = (Output::new(len), Output::new(len));
    let encoder = Encoder {
        elements,
        values: Shared::new(values.slots()),
        lengths: Shared::new(lengths.slots()),
        carries: Carries::new(Carry { runs: 0, head: 0 }),
    };
    let threads = match len {
        ..PARALLEL => 1,
        _ => rayon::current_num_threads(),
    };
    parallel::on_threads(threads, &|| encoder.work());
    let all = encoder.carries.get(encoder.blocks());
    let count = all.runs;
    if let Some(last) = count.checked_sub(1) {
        lengths.slots()[last].write(I::from_usize(len - all.head));
    }
    let slots = if padded { len } else { count };
    clear(&mut values.slots()[count..slots]);
    clear(&mut lengths.slots()[count..slots]);
    // SAFETY: all runs have been written, and the zeros after them up to `slots`.
    let (values, lengths) = unsafe { (values.finish_first(slots), lengths.finish_first(slots)) };
    (values, lengths, count)
}

/// The runs of the elements before a block.
#[derive(Clone, Copy)]
struct Carry {
    runs: usize,
    /// The place of the last head.
    head: usize,
}

struct Encoder<'a, T, I> {
    elements: &'a [T],
    values: Shared<'a, T>,
    lengths: Shared<'a, I>,
    carries: Carries<Carry>,
}

impl<T: Copy + PartialEq, I: Index> Encoder<'_, T, I> {
    fn blocks(&self) -> usize {
        self.elements.len().div_ceil(BLOCK)
    }

    /// Takes and encodes blocks until none is left.
    fn work(&self) {
        let heads = &mut [0; BLOCK];
        let positions = &mut [MaybeUninit::uninit(); BLOCK];
        loop {
            let block = self.carries.take();
            if block >= self.blocks() {
                return;
            }
            let heads = self.heads_of(block, heads);
            let positions = positions_of(heads, positions);
            let find = |block, carry| self.carry_out(block, carry);
            let before = self.carries.wait(block, SPIN_LIMIT, find);
            let after = advance(before, block, positions);
            self.carries.publish(block + 1, after);
            self.write(block, positions, before);
        }
    }

    /// The elements of a block.
    fn range(&self, block: usize) -> Range<usize> {
        block * BLOCK..self.elements.len().min((block + 1) * BLOCK)
    }

    /// For each element of a block, whether it is a head.
    fn heads_of<'h>(&self, block: usize, heads: &'h mut [u8; BLOCK]) -> &'h [u8] {
        let range = self.range(block);
        let first = range.start;
        let own = &self.elements[range];
        let heads = &mut heads[..own.len()];
        vectorize!({
            for (head, [a, b]) in heads[1..].iter_mut().zip(own.array_windows()) {
                *head = u8::from(a != b);
            }
        });
        heads[0] = u8::from(first == 0 || self.elements[first - 1] != own[0]);
        heads
    }

    /// The carry out of a block, from the carry into it.
    fn carry_out(&self, block: usize, carry: Carry) -> Carry {
        let heads = &mut [0; BLOCK];
        let positions = &mut [MaybeUninit::uninit(); BLOCK];
        advance(
            carry,
            block,
            positions_of(self.heads_of(block, heads), positions),
        )
    }

    /// Writes the values of the runs of a block, the length of the last run before them, and all their lengths but the
    /// last.
    fn write(&self, block: usize, positions: &[u32], before: Carry) {
        let Some(&head) = positions.first() else {
            return;
        };
        let range = self.range(block);
        let first = range.start;
        let own = &self.elements[range];
        let runs = before.runs..before.runs + positions.len();
        // SAFETY: each run starts in one block, which alone writes its value.
        let values = unsafe { self.values.slice(runs.clone()) };
        // SAFETY: the last length of a block is written by the next block with a head, and by no other.
        let lengths = unsafe {
            self.lengths
                .slice(runs.start.saturating_sub(1)..runs.end - 1)
        };
        let lengths = match lengths.split_first_mut() {
            Some((length, lengths)) if before.runs > 0 => {
                length.write(I::from_usize(first + head as usize - before.head));
                lengths
            }
            _ => lengths,
        };
        vectorize!({
            for (value, &position) in values.iter_mut().zip(positions) {
                // SAFETY: the position is one of an element of the block.
                value.write(unsafe { *own.get_unchecked(position as usize) });
            }
            for (length, [head, next]) in lengths.iter_mut().zip(positions.array_windows()) {
                length.write(I::from_usize((next - head) as usize));
            }
        });
    }
}

/// The positions of a block's heads within it.
fn positions_of<'p>(heads: &[u8], positions: &'p mut [MaybeUninit<u32>; BLOCK]) -> &'p [u32] {
    let words = &mut [MaybeUninit::uninit(); BLOCK / BITS];
    let words = &mut words[..heads.len().div_ceil(BITS)];
    let positions = &mut positions[..compress::pack(heads, words)];
    // SAFETY: they have been packed.
    compress::positions(unsafe { words.assume_init_ref() }, 0, positions);
    // SAFETY: a position has been written for each head.
    unsafe { positions.assume_init_ref() }
}

/// The carry out of a block with heads at `positions`.
fn advance(carry: Carry, block: usize, positions: &[u32]) -> Carry {
    match positions.last() {
        Some(&last) => Carry {
            runs: carry.runs + positions.len(),
            head: block * BLOCK + last as usize,
        },
        None => carry,
    }
}
