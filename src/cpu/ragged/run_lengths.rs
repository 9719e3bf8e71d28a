//! Run-length encoding: a run begins at each element that differs from the one before it.
//!
//! Blocks of fixed size are read twice: their runs are counted, which says where in the output each block writes, then written. A run's length
//! is known where the next one begins.

use core::mem::MaybeUninit;

use bytemuck::Pod;

use super::super::buffer::{Output, Shared};
use super::super::compact::{BLOCK, count_true, fill_default};
use super::super::moves::{self, Index, Moved};
use super::super::parallel;
use super::super::rows::PARALLEL;
use super::super::simd::vectorize;

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
    let (mut values, mut starts) = (Output::new(len), Output::<I>::new(len));
    let mut lengths = Output::<I>::new(len);
    {
        let (values, starts) = (Shared::new(values.slots()), Shared::new(starts.slots()));
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
    fill_default(&mut lengths.slots()[count..]);
    let starts = &starts.slots()[..count];
    // SAFETY: every run has had its start written.
    let start = |slot: &MaybeUninit<I>| unsafe { slot.assume_init() }.to_usize();
    let differences = |first: usize, slots: &mut [MaybeUninit<I>]| {
        let starts = &starts[first..];
        for (slot, pair) in slots.iter_mut().zip(starts.windows(2)) {
            slot.write(I::from_usize(start(&pair[1]) - start(&pair[0])));
        }
        if let [last] = &starts[slots.len() - 1..] {
            slots[slots.len() - 1].write(I::from_usize(elements.len() - start(last)));
        }
    };
    let slots = &mut lengths.slots()[..count];
    match slots.len() {
        0 => {}
        ..PARALLEL => differences(0, slots),
        _ => parallel::for_each_part(slots, BLOCK, &differences),
    }
    RunLengths {
        // SAFETY: the runs and what is behind them are all slots.
        values: unsafe { values.finish() },
        // SAFETY: as above.
        lengths: unsafe { lengths.finish() },
        count,
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
        for (head, pair) in heads[1..].iter_mut().zip(own.windows(2)) {
            *head = u8::from(pair[0] != pair[1]);
        }
    });
    heads[0] = u8::from(first == 0 || elements[first - 1] != own[0]);
    heads
}
