//! One long row on all threads, in one pass over memory.
//!
//! The row is cut into blocks of [`TILES`] tiles, which fit a second-level cache. Threads take blocks in the order of
//! the scan. Of each they compute the totals of its tiles, wait for the carry out of the block before, hand on their
//! own, and scan their tiles from the carries into them, while the block is still in their cache:
//!
//! ```text
//! thread 0  | totals 0 | carry 0→1 | scan 0       | totals 2 | carry 2→3 | scan 2 ..
//! thread 1  | totals 1 |            carry 1→2 | scan 1       | totals 3 | ..
//! ```
//!
//! A thread that has waited for longer than the totals of a block take finds the carry out of that block itself, in
//! case the system runs something else where it was being found ([`carries`](super::carries)). Carries are combined
//! tile by tile in order, hence the bits of a result do not depend on who took which block, or found which carry.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::Shared;
use super::carries::Carries;
use super::element::{Element, TILE};
use super::lanes::{Kernel, Lanes, run};
use super::operator::Operator;
use super::parallel;
use super::tile;

/// Tiles in a block: 128 KiB of `f32`, which the totals leave in a second-level cache for the scan. The totals then
/// take a fifth of the time of the scan.
const TILES: usize = 32;
const BLOCK: usize = TILES * TILE;

/// Looks at the number of carries before a thread finds the next one itself: some 10 µs, twice what the totals of a
/// block take.
const PATIENCE: usize = 200;

/// Scans whole tiles from `carry`. Returns the carry behind them.
pub(super) fn scan<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    carry: T::Acc,
    exclusive: bool,
) -> T::Acc {
    let shared_row = SharedRow::<T, O> {
        input,
        output: Shared::new(output),
        exclusive,
        carries: Carries::new(carry),
        operator: PhantomData,
    };
    let threads = rayon::current_num_threads().min(shared_row.blocks());
    parallel::on_threads(threads, &|| shared_row.work::<REVERSE>());
    shared_row.carries.get(shared_row.blocks())
}

struct SharedRow<'a, T: Element, O: Operator<T::Acc>> {
    input: &'a [T],
    output: Shared<'a, T>,
    exclusive: bool,
    carries: Carries<T::Acc>,
    operator: PhantomData<O>,
}

impl<T: Element, O: Operator<T::Acc>> SharedRow<'_, T, O> {
    fn blocks(&self) -> usize {
        self.input.len().div_ceil(BLOCK)
    }

    /// The input's part of a block. Blocks are numbered in the order of the scan.
    fn block<const REVERSE: bool>(&self, step: usize) -> Range<usize> {
        let block = if REVERSE {
            self.blocks() - 1 - step
        } else {
            step
        };
        block * BLOCK..self.input.len().min((block + 1) * BLOCK)
    }

    fn work<const REVERSE: bool>(&self) {
        loop {
            let step = self.carries.take();
            if step >= self.blocks() {
                return;
            }
            let block = self.block::<REVERSE>(step);
            let input = &self.input[block.clone()];
            let mut starts = self.totals::<REVERSE>(input);
            let find = |step, carry| self.carry_behind::<REVERSE>(step, carry);
            let carry = self.carries.wait(step, PATIENCE, find);
            let carry = self.to_starts::<REVERSE>(input, &mut starts, carry);
            self.carries.publish(step + 1, carry);
            run(Scan::<T, O, REVERSE> {
                input,
                // SAFETY: each block is taken once.
                output: unsafe { self.output.slice(block) },
                starts: &starts,
                exclusive: self.exclusive,
                operator: PhantomData,
            });
        }
    }

    fn totals<const REVERSE: bool>(&self, input: &[T]) -> [T::Acc; TILES] {
        let mut totals = [O::IDENTITY; TILES];
        run(Totals::<T, O, REVERSE> {
            input,
            totals: &mut totals,
            operator: PhantomData,
        });
        totals
    }

    /// Puts the carry into each tile in the place of the tile's total, and returns the carry behind them all.
    fn to_starts<const REVERSE: bool>(
        &self,
        input: &[T],
        totals: &mut [T::Acc; TILES],
        mut carry: T::Acc,
    ) -> T::Acc {
        let place = |(total, tile): (&mut T::Acc, &[T])| {
            let behind = tile::carry_behind::<T, O, REVERSE>(tile, carry, *total);
            *total = core::mem::replace(&mut carry, behind);
        };
        let tiles = totals[..input.len() / TILE]
            .iter_mut()
            .zip(input.chunks_exact(TILE));
        if REVERSE {
            tiles.rev().for_each(place);
        } else {
            tiles.for_each(place);
        }
        carry
    }

    /// The carry behind a block, from that into it.
    fn carry_behind<const REVERSE: bool>(&self, step: usize, carry: T::Acc) -> T::Acc {
        let input = &self.input[self.block::<REVERSE>(step)];
        let mut totals = self.totals::<REVERSE>(input);
        self.to_starts::<REVERSE>(input, &mut totals, carry)
    }
}

/// The total of each tile.
struct Totals<'a, T: Element, O, const REVERSE: bool> {
    input: &'a [T],
    totals: &'a mut [T::Acc],
    operator: PhantomData<O>,
}

impl<T: Element, O: Operator<T::Acc>, const REVERSE: bool> Kernel<T> for Totals<'_, T, O, REVERSE> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<T>>(self) {
        for (total, tile) in self.totals.iter_mut().zip(self.input.chunks_exact(TILE)) {
            *total = tile::total::<T, O, L, REVERSE>(tile);
        }
    }
}

/// The scan of each tile from its start. It is not that of `rows`: no total is computed a second time, which is a twentieth of the time
/// where all is in the cache.
struct Scan<'a, T: Element, O, const REVERSE: bool> {
    input: &'a [T],
    output: &'a mut [MaybeUninit<T>],
    starts: &'a [T::Acc],
    exclusive: bool,
    operator: PhantomData<O>,
}

impl<T: Element, O: Operator<T::Acc>, const REVERSE: bool> Kernel<T> for Scan<'_, T, O, REVERSE> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes<T>>(self) {
        let tiles = self
            .input
            .chunks_exact(TILE)
            .zip(self.output.chunks_exact_mut(TILE));
        for (&start, (input, output)) in self.starts.iter().zip(tiles) {
            tile::scan::<T, O, L, REVERSE>(input, output, start, self.exclusive);
        }
    }
}
