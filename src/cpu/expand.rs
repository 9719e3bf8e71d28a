//! The inverse of compaction: values go back to where the mask is true.
//!
//! As in `compact`, the mask is cut into blocks and their trues are counted; the counts say with which value each
//! block begins. Inside a block there is no branch on the mask: a group of bytes looks at as many of the next values
//! as it could take, and every place reads one of them or the zero beside them.

use core::mem::MaybeUninit;

use rayon::prelude::*;

use super::buffer::Output;
use super::compact::{BLOCK, GROUP, NOTHING, block_counts, pick_rows};
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
    let blocks = starts
        .zip(mask.chunks(BLOCK))
        .zip(output.slots().chunks_mut(BLOCK));
    if mask.len() < PARALLEL {
        blocks.for_each(|((values, mask), slots)| expand_block(values, mask, slots));
    } else {
        let blocks: Vec<_> = blocks.collect();
        blocks
            .into_par_iter()
            .for_each(|((values, mask), slots)| expand_block(values, mask, slots));
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
    let len = values.len().checked_div(outer * inner).unwrap_or(0);
    assert_eq!(
        values.len(),
        outer * len * inner,
        "the values are not [{outer}, k, {inner}]"
    );
    let mut cursor = 0;
    let plan: Vec<usize> = mask
        .iter()
        .map(|&byte| {
            let source = if byte != 0 && cursor < len {
                cursor
            } else {
                NOTHING
            };
            cursor += usize::from(byte != 0);
            source
        })
        .collect();
    pick_rows(values, len, outer, inner, &plan, mask.len())
}

fn expand_block<T: Copy + Default>(values: &[T], mask: &[u8], slots: &mut [MaybeUninit<T>]) {
    let mut values = values;
    let (groups, rest) = mask.as_chunks::<GROUP>();
    let (slot_groups, rest_slots) = slots.as_chunks_mut::<GROUP>();
    for (bytes, slots) in groups.iter().zip(slot_groups) {
        let Some(&next) = values.first_chunk::<GROUP>() else {
            values = expand_last(values, bytes, slots);
            continue;
        };
        // Reading at an index that is zero for a false cannot be compiled to a branch, unlike a choice of two values,
        // which took four times as long under a random mask.
        let mut choices = [T::default(); GROUP + 1];
        choices[1..].copy_from_slice(&next);
        let mut taken = 0;
        for (slot, &byte) in slots.iter_mut().zip(bytes) {
            let kept = usize::from(byte != 0);
            taken += kept;
            // SAFETY: `taken` has grown by at most one for each of `GROUP` bytes.
            slot.write(unsafe { *choices.get_unchecked(taken & kept.wrapping_neg()) });
        }
        values = &values[taken..];
    }
    expand_last(values, rest, rest_slots);
}

/// As [`expand_block`], where the values may end. Returns the values that are left.
fn expand_last<'a, T: Copy + Default>(
    mut values: &'a [T],
    mask: &[u8],
    slots: &mut [MaybeUninit<T>],
) -> &'a [T] {
    for (slot, &byte) in slots.iter_mut().zip(mask) {
        let mut value = T::default();
        if byte != 0
            && let Some((&first, rest)) = values.split_first()
        {
            (value, values) = (first, rest);
        }
        slot.write(value);
    }
    values
}
