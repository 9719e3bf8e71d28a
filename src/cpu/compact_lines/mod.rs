//! Compaction of each line on its own: survivors first and in order, zeros after them.
//!
//! Rows are compressed one after the other. Other lines are walked together, a block of columns at a time and in the
//! order of memory. A column is filled from both ends, so that each of its slots is written once: from the front with
//! survivors, and from the back with a zero for each element that does not survive. [`waiting`] has the lines whose
//! places in the caches collide.

mod waiting;

use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::{Output, Shared, as_slots};
use super::compact::{BLOCK, compact_padded};
use super::compress::{self, Index, Word};
use super::parallel;
use waiting::WaitingColumns;

/// Columns of a block. Their cursors and their part of a line stay in the first-level cache.
const COLUMNS: usize = 512;

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
        let block = if inner == 1 { 1 } else { COLUMNS };
        let columns_of = |first: usize| first..inner.min(first + block);
        let blocks = inner.div_ceil(block);
        let counted = Shared::new(as_slots(&mut counts));
        let one = |task: usize| {
            let (plane, columns) = (task / blocks, columns_of(task % blocks * block));
            let first = plane * inner;
            // SAFETY: no other task has these columns of this plane, neither their elements nor their counts.
            unsafe {
                let counts = counted.slice(first + columns.start..first + columns.end);
                match inner {
                    1 => lines.row(plane, &mut counts[0]),
                    _ if WaitingColumns::are_in(&lines) => {
                        WaitingColumns::new(&lines, plane, columns).compact(counts);
                    }
                    _ => lines.columns(plane, columns, counts),
                }
            }
        };
        let tasks = outer * blocks;
        let share = BLOCK.div_ceil(len * block.min(inner));
        parallel::for_each_of(values.len(), tasks, share, &one);
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
    /// Compacts a row.
    ///
    /// # Safety
    ///
    /// No other thread has access to the row's output.
    unsafe fn row<I: Index>(&self, row: usize, count: &mut MaybeUninit<I>) {
        let place = row * self.len..(row + 1) * self.len;
        // SAFETY: the caller's promise.
        let slots = unsafe { self.output.slice(place.clone()) };
        let survivors = compress::compress(&self.values[place.clone()], &self.mask[place], slots);
        slots[survivors..].fill(MaybeUninit::new(T::default()));
        count.write(I::from_usize(survivors));
    }

    /// Compacts some columns of a plane.
    ///
    /// # Safety
    ///
    /// No other thread has access to the output of these columns.
    unsafe fn columns<I: Index>(
        &self,
        plane: usize,
        columns: Range<usize>,
        counts: &mut [MaybeUninit<I>],
    ) {
        let (step, first) = (self.inner, plane * self.len * self.inner);
        // The place in the plane of the next survivor of each column.
        let mut cursors: [usize; COLUMNS] = core::array::from_fn(|column| columns.start + column);
        let cursors = &mut cursors[..columns.len()];
        for line in 0..self.len {
            let place = first + line * step;
            let place = place + columns.start..place + columns.end;
            let (values, mask) = (&self.values[place.clone()], &self.mask[place]);
            // The distance from a column's next survivor to its next zero, if this element does not survive.
            let tail = (self.len - 1 - line) * step;
            for ((&value, &byte), cursor) in values.iter().zip(mask).zip(&mut *cursors) {
                let survives = usize::from(byte != 0).wrapping_neg();
                let slot = first + *cursor + (tail & !survives);
                let choices = [T::default(), value];
                // SAFETY: the place lies in the column, which the caller has alone.
                let slots = unsafe { self.output.slice(slot..slot + 1) };
                slots[0].write(choices[survives & 1]);
                *cursor += step & survives;
            }
        }
        for ((count, &cursor), column) in counts.iter_mut().zip(&*cursors).zip(columns) {
            count.write(I::from_usize((cursor - column) / step));
        }
    }
}
