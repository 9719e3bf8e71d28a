//! One long row on all threads, in one pass over memory.
//!
//! The row is split into blocks of [`TILES`] tiles, which fit a second-level cache. Threads take blocks in the order of
//! the scan. For each block a thread computes the totals of the tiles, waits for the carry out of the previous block,
//! publishes the carry out of this one, and scans the tiles from the carries into them, while the block is still in its
//! cache:
//!
//! ```text
//! thread 0  | totals 0 | carry 0→1 | scan 0       | totals 2 | carry 2→3 | scan 2 ..
//! thread 1  | totals 1 |            carry 1→2 | scan 1       | totals 3 | ..
//! ```
//!
//! If a thread has waited for longer than the totals of a block take, it finds the missing carry itself: the system may
//! have stopped the thread that should find it, see [`carries`](super::carries). Carries are combined tile by tile in
//! order. So the bits of a result do not depend on which thread took which block, or found which carry.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::Shared;
use super::carries::Carries;
use super::element::TILE;
use super::parallel;
use super::tile::{self, TileTotal, scan_rows_of};
use super::traits::{Combine, ElementType};

/// Tiles in a block: 128 KiB of `f32`, which the totals leave in a second-level cache for the scan. The totals then
/// take a fifth of the time of the scan.
const TILES: usize = 32;
const BLOCK: usize = TILES * TILE;

/// How often a thread looks for a carry before it finds a missing one itself: some 10 µs, twice the time of the totals
/// of a block.
const SPIN_LIMIT: usize = 200;

/// Scans whole tiles from `carry`. Returns the carry out of them.
pub(super) fn scan<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    carry: T::Acc,
    exclusive: bool,
    reverse: bool,
) -> T::Acc {
    let shared_row = SharedRow::<T, O> {
        input,
        output: Shared::new(output),
        exclusive,
        reverse,
        carries: Carries::new(carry),
        operator: PhantomData,
    };
    let threads = rayon::current_num_threads().min(shared_row.blocks());
    parallel::on_threads(threads, &|| shared_row.work());
    shared_row.carries.get(shared_row.blocks())
}

/// A row that threads scan together.
struct SharedRow<'a, T: ElementType, O: Combine<T::Acc>> {
    input: &'a [T],
    output: Shared<'a, T>,
    exclusive: bool,
    reverse: bool,
    carries: Carries<T::Acc>,
    operator: PhantomData<O>,
}

impl<T: ElementType, O: Combine<T::Acc>> SharedRow<'_, T, O> {
    fn blocks(&self) -> usize {
        self.input.len().div_ceil(BLOCK)
    }

    /// The place of a block in memory. Blocks are numbered in the order of the scan.
    fn block(&self, step: usize) -> Range<usize> {
        let block = if self.reverse {
            self.blocks() - 1 - step
        } else {
            step
        };
        block * BLOCK..self.input.len().min((block + 1) * BLOCK)
    }

    /// Takes and scans blocks until none is left.
    fn work(&self) {
        loop {
            let step = self.carries.take();
            if step >= self.blocks() {
                return;
            }
            let block = self.block(step);
            let input = &self.input[block.clone()];
            let totals = self.totals(input);
            let find = |step, carry| self.carry_out(step, carry);
            let carry = self.carries.wait(step, SPIN_LIMIT, find);
            (self.carries).publish(
                step + 1,
                carry_out_of_tiles::<T, O>(input, &totals, carry, self.reverse),
            );
            // SAFETY: each block is taken once.
            let output = unsafe { self.output.slice(block) };
            let len = input.len();
            scan_rows_of::<T, O>(input, output, len, carry, self.exclusive, self.reverse);
        }
    }

    /// The totals of the tiles of a block.
    fn totals(&self, input: &[T]) -> [TileTotal<T::Acc>; TILES] {
        let mut totals = [TileTotal::nothing::<O>(); TILES];
        tile::find_totals::<T, O>(input, &mut totals[..input.len() / TILE], self.reverse);
        totals
    }

    /// The carry out of a block, from the carry into it.
    fn carry_out(&self, step: usize, carry: T::Acc) -> T::Acc {
        let input = &self.input[self.block(step)];
        carry_out_of_tiles::<T, O>(input, &self.totals(input), carry, self.reverse)
    }
}

/// The carry out of tiles of these totals.
fn carry_out_of_tiles<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    totals: &[TileTotal<T::Acc>; TILES],
    mut carry: T::Acc,
    reverse: bool,
) -> T::Acc {
    let tiles = input.len() / TILE;
    for step in 0..tiles {
        let at = if reverse { tiles - 1 - step } else { step };
        let tile = &input[at * TILE..(at + 1) * TILE];
        carry = tile::carry_out::<T, O>(tile, carry, totals[at], reverse);
    }
    carry
}
