//! The inverse of compaction: values go back to where the mask is true.
//!
//! As in `compact`, the mask is split into blocks and their trues are counted. The counts say which value is the first
//! of each block.

use rayon::prelude::*;

use super::buffer::Output;
use super::compact::{BLOCK, block_counts};
use super::compress::{self, Word};
use super::rows::PARALLEL;

/// The `i`-th true receives `values[i]`. Places that are false are zero, and so are trues beyond the values.
pub(crate) fn expand<T: Word>(values: &[T], mask: &[u8]) -> Vec<T> {
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
        blocks.for_each(|((values, mask), slots)| compress::expand(values, mask, slots));
    } else {
        let blocks: Vec<_> = blocks.collect();
        blocks
            .into_par_iter()
            .for_each(|((values, mask), slots)| compress::expand(values, mask, slots));
    }
    // SAFETY: each block has written all its slots.
    unsafe { output.finish() }
}
