//! Compaction of each line on its own: survivors first and in order, zeros after them.
//!
//! [Rows](rows) are compressed one after the other. Other lines are walked together, in the order of memory: [few
//! columns](narrow) write each survivor at once; of more, a block at a time, survivors [wait](waiting) until they can be
//! written in that order.

mod block;
mod narrow;
mod rows;
#[cfg(target_arch = "x86_64")]
mod tiles;
mod waiting;

use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::{Output, Shared, as_slots};
use super::compact::compact_padded;
use super::compress::{Index, Word};
use super::parallel;
use super::trues::BLOCK;
use block::Block;

/// Columns of a block. With 64 [2048, 2048] takes 1.3 to 1.9 times as long: lines of many pages are read in pieces.
const COLUMNS: usize = 512;

/// The fewest columns of a block, if there are more. With 16, two threads take as long for [2^16, 64].
const SLIMMEST: usize = 64;

/// Compacts the lines of a contiguous `[outer, len, inner]` along its middle dimension, and counts the survivors of
/// each line.
///
/// # Panics
///
/// If there is not one mask entry for each value.
pub(crate) fn compact_lines<T: Word, I: Index>(
    values: &[T],
    mask: &[u8],
    [outer, len, inner]: [usize; 3],
) -> (Vec<T>, Vec<I>) {
    assert!(values.len() == outer * len * inner && mask.len() == values.len());
    if outer * inner == 1 {
        let (values, count) = compact_padded(values, mask);
        return (values, vec![I::from_usize(count)]);
    }
    let mut output = Output::new(values.len());
    let mut counts = vec![I::default(); outer * inner];
    if !values.is_empty() {
        let lines = Lines {
            values,
            mask,
            len,
            inner,
            output: Shared::new(output.slots()),
        };
        // Columns are independent: the width of a block changes no result, so the number of threads may decide.
        let threads = rayon::current_num_threads().div_ceil(outer);
        let is_narrow = inner <= narrow::WIDEST;
        let block = if is_narrow {
            inner
        } else {
            let width = inner.div_ceil(threads).next_multiple_of(SLIMMEST);
            width.min(COLUMNS).min(inner)
        };
        let blocks = inner.div_ceil(block);
        let counted = Shared::new(as_slots(&mut counts));
        let tasks = outer * blocks;
        let share = BLOCK.div_ceil(len * block);
        parallel::for_each_of(values.len(), tasks.div_ceil(share), 1, &|group| {
            let mut waiting = (!is_narrow).then(|| Block::new(&lines, block));
            let tasks = group * share..tasks.min((group + 1) * share);
            if inner == 1 {
                // SAFETY: no other task has these rows, neither their elements nor their counts.
                return unsafe { lines.compact_rows(tasks.clone(), counted.slice(tasks)) };
            }
            for task in tasks {
                let (plane, first) = (task / blocks, task % blocks * block);
                let columns = first..inner.min(first + block);
                let place = plane * inner;
                // SAFETY: no other task has these columns of this plane, neither their elements nor their counts.
                unsafe {
                    let counts = counted.slice(place + columns.start..place + columns.end);
                    match &mut waiting {
                        None => lines.compact_plane(plane, counts),
                        Some(waiting) => waiting.compact(plane, columns, counts),
                    }
                }
            }
        });
    }
    // SAFETY: each task has written all of its lines.
    (unsafe { output.finish() }, counts)
}

struct Lines<'a, T> {
    values: &'a [T],
    mask: &'a [u8],
    len: usize,
    inner: usize,
    output: Shared<'a, T>,
}

impl<T: Word> Lines<'_, T> {
    /// Compacts some rows.
    ///
    /// # Safety
    ///
    /// No other thread has access to the output of these rows.
    unsafe fn compact_rows<I: Index>(&self, rows: Range<usize>, counts: &mut [MaybeUninit<I>]) {
        let place = rows.start * self.len..rows.end * self.len;
        let (values, mask) = (&self.values[place.clone()], &self.mask[place.clone()]);
        // SAFETY: the caller's promise.
        rows::compact(
            values,
            mask,
            self.len,
            unsafe { self.output.slice(place) },
            counts,
        );
    }

    /// Compacts a plane of few columns.
    ///
    /// # Safety
    ///
    /// No other thread has access to the plane's output.
    unsafe fn compact_plane<I: Index>(&self, plane: usize, counts: &mut [MaybeUninit<I>]) {
        let size = self.len * self.inner;
        let place = plane * size..(plane + 1) * size;
        let (values, mask) = (&self.values[place.clone()], &self.mask[place.clone()]);
        // SAFETY: the caller's promise.
        narrow::compact(values, mask, unsafe { self.output.slice(place) }, counts);
    }
}
