//! The inverse of compaction: values go back to where the mask is true.
//!
//! As in `compact`, the mask is split into blocks and their trues are counted. The counts say which value is the first
//! of each block.

use super::buffer::Output;
use super::compact::{BLOCK, block_counts};
use super::compress::{self, Word};
use super::parallel;

/// The `i`-th true receives `values[i]`. Places that are false are zero, and so are trues beyond the values.
pub(crate) fn expand<T: Word>(values: &[T], mask: &[u8]) -> Vec<T> {
    let mut start = 0;
    let mut starts = block_counts(mask);
    for count in &mut starts {
        start += core::mem::replace(count, values.len().min(start));
    }
    let mut output = Output::new(mask.len());
    parallel::for_each_part_of(mask.len(), output.slots(), BLOCK, &|first, slots| {
        let values = &values[starts[first / BLOCK]..];
        compress::expand(values, &mask[first..][..slots.len()], slots);
    });
    // SAFETY: each block has written all its slots.
    unsafe { output.finish() }
}
