//! The inverse of compaction: values go back to where the mask is true.
//!
//! As in `compact`, the mask is cut into blocks and their trues are counted; the counts say with which value each block
//! begins. Inside a block there is no branch on the mask: every place reads the value at the cursor and keeps it or zero,
//! and the cursor moves on by the mask.

use core::hint::select_unpredictable;
use core::mem::MaybeUninit;

use rayon::prelude::*;

use super::buffer::Output;
use super::compact::{BLOCK, NOTHING, block_counts, pick_rows};
use super::rows::PARALLEL;

/// The `i`-th true receives `values[i]`. Places that are false are zero, and so are trues beyond the values.
pub(crate) fn expand<T: Copy + Default + Send + Sync>(values: &[T], mask: &[u8]) -> Vec<T> {
    let mut start = 0;
    let starts = block_counts(mask).into_iter().map(|count| {
        let from = values.len().min(start);
        start += count;
        &values[from..]
    });
    let mut output = Output::new(mask.len());
    let blocks = starts.zip(mask.chunks(BLOCK)).zip(output.slots().chunks_mut(BLOCK));
    if mask.len() < PARALLEL {
        blocks.for_each(|((values, mask), slots)| expand_block(values, mask, slots));
    } else {
        let blocks: Vec<_> = blocks.collect();
        blocks.into_par_iter().for_each(|((values, mask), slots)| expand_block(values, mask, slots));
    }
    // SAFETY: each block has written all its slots.
    unsafe { output.finish() }
}

/// Slices of a `[outer, k, inner]` go back to where they were before `compact_rows`: the result is
/// `[outer, mask.len(), inner]`, and the slices it has no values for are zero.
pub(crate) fn expand_rows<T: Copy + Default + Send + Sync>(
    values: &[T],
    mask: &[u8],
    outer: usize,
    inner: usize,
) -> Vec<T> {
    if outer * inner == 1 {
        return expand(values, mask);
    }
    let len = if outer * inner == 0 { 0 } else { values.len() / (outer * inner) };
    assert_eq!(values.len(), outer * len * inner, "the values are not [{outer}, k, {inner}]");
    let mut cursor = 0;
    let plan: Vec<usize> = mask
        .iter()
        .map(|&byte| {
            let source = if byte != 0 && cursor < len { cursor } else { NOTHING };
            cursor += usize::from(byte != 0);
            source
        })
        .collect();
    pick_rows(values, len, outer, inner, &plan, mask.len())
}

fn expand_block<T: Copy + Default>(values: &[T], mask: &[u8], slots: &mut [MaybeUninit<T>]) {
    let mut cursor = 0;
    // The cursor is at most the number of bytes before the place, so that these places need no check.
    let unchecked = mask.len().min(values.len());
    let (mask, rest) = mask.split_at(unchecked);
    let (slots, rest_slots) = slots.split_at_mut(unchecked);
    for (slot, &byte) in slots.iter_mut().zip(mask) {
        // SAFETY: the cursor is less than `unchecked`, which is at most the number of values.
        let value = unsafe { *values.get_unchecked(cursor) };
        slot.write(select_unpredictable(byte != 0, value, T::default()));
        cursor += usize::from(byte != 0);
    }
    for (slot, &byte) in rest_slots.iter_mut().zip(rest) {
        let value = values.get(cursor).copied().unwrap_or_default();
        slot.write(select_unpredictable(byte != 0, value, T::default()));
        cursor += usize::from(byte != 0);
    }
}
