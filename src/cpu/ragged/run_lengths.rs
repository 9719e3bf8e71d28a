//! Run-length encoding: a run begins at each element that differs from the one before it.
//!
//! Blocks of fixed size are read twice: their runs are counted, which says where in the output each block writes, then written. A run's length
//! is known where the next one begins.

use core::mem::MaybeUninit;

use bytemuck::Pod;

use super::super::buffer::{Output, Shared};
use super::super::compact::{count_true, fill_default};
use super::super::moves::{self, Index, Moved};
use super::super::parallel;
use super::super::rows::PARALLEL;
use super::super::simd::vectorize;

/// Elements of a block, which stay in the first-level cache while their runs are told and moved: 2^24 `i32` in runs of four take 0.9 of the time that
/// they take in blocks of four times the size.
const BLOCK: usize = 1 << 12;

/// The runs of a sequence.
pub(crate) struct RunLengths<T, I> {
    /// The value of each run.
    pub(crate) values: Vec<T>,
    pub(crate) lengths: Vec<I>,
    /// Of the runs.
    pub(crate) count: usize,
}

/// The runs of equal elements, compared as `V` and moved as `T`; followed by zeros up to the number of elements if `padded`.
///
/// # Panics
///
/// If both types are not of one size.
pub(crate) fn run_lengths<V: Pod + PartialEq + Send + Sync, T: Moved + Pod, I: Index>(
    elements: &[V],
    padded: bool,
) -> RunLengths<T, I> {
    let moved: &[T] = bytemuck::cast_slice(elements);
    assert_eq!(moved.len(), elements.len());
    let blocks = elements.len().div_ceil(BLOCK);
    // Behind the last block: the number of all runs.
    let mut firsts = vec![0; blocks + 1];
    let count_block = |block: usize, count: &mut [usize]| {
        let heads = &mut [0; BLOCK];
        count[0] = count_true(heads_of(elements, block, heads));
    };
    let in_parallel = elements.len() >= PARALLEL;
    each(in_parallel, &mut firsts[1..], &count_block);
    for block in 0..blocks {
        firsts[block + 1] += firsts[block];
    }
    let count = firsts[blocks];
    let len = if padded { elements.len() } else { count };
    let (mut values, mut lengths) = (Output::new(len), Output::<I>::new(len));
    {
        let (values, starts) = (Shared::new(values.slots()), Shared::new(lengths.slots()));
        let write_block = |block: usize, _: &mut [()]| {
            let heads = &mut [0; BLOCK];
            let heads = heads_of(elements, block, heads);
            let first = block * BLOCK;
            let place = firsts[block]..firsts[block + 1];
            // SAFETY: the places of blocks lie one behind the other.
            let (values, starts) = unsafe { (values.slice(place.clone()), starts.slice(place)) };
            let written = moves::pack(&moved[first..first + heads.len()], heads, values);
            assert_eq!(written, values.len());
            moves::positions(heads, first, starts);
        };
        each(in_parallel, &mut vec![(); blocks], &write_block);
    }
    fill_default(&mut values.slots()[count..]);
    let (starts, tail) = lengths.slots().split_at_mut(count);
    fill_default(tail);
    subtract_neighbours(starts, elements.len());
    RunLengths {
        // SAFETY: the runs and what is behind them are all slots.
        values: unsafe { values.finish() },
        // SAFETY: as above.
        lengths: unsafe { lengths.finish() },
        count,
    }
}

/// Turns where each run begins into its length, the last run ending at `end`. Every start has been written.
fn subtract_neighbours<I: Index>(starts: &mut [MaybeUninit<I>], end: usize) {
    // SAFETY: the caller's promise.
    let start = |slot: &MaybeUninit<I>| unsafe { slot.assume_init() }.to_usize();
    // Read before the blocks are written.
    let behind = starts.iter().skip(BLOCK).step_by(BLOCK).map(start);
    let ends: Vec<usize> = behind.chain([end]).collect();
    let block = |first: usize, starts: &mut [MaybeUninit<I>]| {
        let last = starts.len() - 1;
        for run in 0..last {
            let length = start(&starts[run + 1]) - start(&starts[run]);
            starts[run].write(I::from_usize(length));
        }
        let length = ends[first / BLOCK] - start(&starts[last]);
        starts[last].write(I::from_usize(length));
    };
    match starts.len() {
        ..PARALLEL => (starts.chunks_mut(BLOCK).enumerate())
            .for_each(|(at, starts)| block(at * BLOCK, starts)),
        _ => parallel::for_each_part(starts, BLOCK, &block),
    }
}

/// Calls `body` with each number and its place.
fn each<T: Send>(in_parallel: bool, slots: &mut [T], body: &(dyn Fn(usize, &mut [T]) + Sync)) {
    match in_parallel {
        true => parallel::for_each_part(slots, 1, body),
        false => (slots.chunks_mut(1).enumerate()).for_each(|(at, slot)| body(at, slot)),
    }
}

/// For each element of a block, whether a run begins there.
fn heads_of<'a, V: PartialEq>(
    elements: &[V],
    block: usize,
    heads: &'a mut [u8; BLOCK],
) -> &'a [u8] {
    let first = block * BLOCK;
    let own = &elements[first..elements.len().min(first + BLOCK)];
    let heads = &mut heads[..own.len()];
    vectorize(|| {
        let neighbours = own.iter().zip(&own[1..]);
        for (head, (before, element)) in heads[1..].iter_mut().zip(neighbours) {
            *head = u8::from(before != element);
        }
    });
    heads[0] = u8::from(first == 0 || elements[first - 1] != own[0]);
    heads
}
