//! The inverse of compaction: values go back to where the mask is true.
//!
//! The number of [trues](super::trues) before each block of the mask says which value is its first.

use super::buffer::{Output, Shared};
use super::compress::{self, Word};
use super::row_major::RowMajor;
use super::trues::Trues;

/// The `i`-th true receives `values[i]`. Places that are false are zero, and so are trues beyond the values.
pub(crate) fn expand<T: Word>(values: &[T], mask: &RowMajor<'_, u8>) -> Vec<T> {
    let mut output = Output::new(mask.len());
    let shared = Shared::new(output.slots());
    Trues::of(mask, |trues| {
        trues.for_each_block(1, &|block| {
            let values = &values[values.len().min(block.trues.start)..];
            // SAFETY: no other block has these entries.
            let slots = unsafe { shared.slice(block.entries) };
            compress::expand(values, block.words, slots);
        })
    });
    // SAFETY: each block has written all its slots.
    unsafe { output.finish() }
}
