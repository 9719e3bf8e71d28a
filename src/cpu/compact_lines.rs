//! Compaction of each line on its own: survivors first and in order, zeros behind them.
//!
//! Lines whose elements lie side by side are packed one after the other. Other lines are walked a block of columns at a time: each element is written
//! where the next survivor of its column goes, and one that does not survive is overwritten by what comes.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::{Output, Shared};
use super::compact::{BLOCK, compact_padded};
use super::moves::{self, Index, Moved};
use super::parallel;
use super::rows::PARALLEL;

/// Columns of a block: a cache line of `f32` of each line.
const COLUMNS: usize = 16;

/// Bytes of a block that is put together apart from the output, where its lines are neighbours, and copied there: what the second-level cache
/// holds. Lines of the output are often a power of two apart and meet in few sets of the first: `[2^12, 2^10]` `f32` take 0.65 of the
/// time.
const ASIDE: usize = 1 << 20;

/// Compacts the lines of a contiguous `[outer, len, inner]` along its middle dimension, and counts the survivors of each.
///
/// # Panics
///
/// If there is not one mask entry for each value.
pub(crate) fn compact_lines<T: Moved, I: Index>(
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
                    _ => lines.columns(plane, columns, counts),
                }
            }
        };
        let tasks = outer * blocks;
        if values.len() < PARALLEL {
            (0..tasks).for_each(one);
        } else {
            let share = BLOCK.div_ceil(len * block.min(inner));
            parallel::for_each(tasks.div_ceil(share), &|first| {
                (first * share..tasks.min((first + 1) * share)).for_each(one);
            });
        }
    }
    // SAFETY: each task has written all of its lines.
    (unsafe { output.finish() }, counts)
}

/// What is initialised may be written as if it were not.
fn as_slots<T: Copy>(values: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: the layout is the same, and nobody writes anything but values of the type.
    unsafe { &mut *(core::ptr::from_mut(values) as *mut [MaybeUninit<T>]) }
}

struct Lines<'a, T> {
    values: &'a [T],
    mask: &'a [u8],
    len: usize,
    inner: usize,
    output: Shared<'a, T>,
}

impl<T: Moved> Lines<'_, T> {
    /// # Safety
    ///
    /// No other thread has access to the row's output.
    unsafe fn row<I: Index>(&self, row: usize, count: &mut MaybeUninit<I>) {
        let place = row * self.len..(row + 1) * self.len;
        // SAFETY: the caller's promise.
        let slots = unsafe { self.output.slice(place.clone()) };
        let survivors = moves::pack(&self.values[place.clone()], &self.mask[place], slots);
        slots[survivors..].fill(MaybeUninit::new(T::default()));
        count.write(I::from_usize(survivors));
    }

    /// # Safety
    ///
    /// No other thread has access to the output of these columns.
    unsafe fn columns<I: Index>(
        &self,
        plane: usize,
        columns: Range<usize>,
        counts: &mut [MaybeUninit<I>],
    ) {
        let place = |line: usize| {
            let first = (plane * self.len + line) * self.inner;
            first + columns.start..first + columns.end
        };
        let width = columns.len();
        let first = place(0).start;
        let mut room = [0; COLUMNS];
        let survivors = &mut room[..width];
        if self.len * width * size_of::<T>() <= ASIDE {
            let mut aside = vec![T::default(); self.len * width];
            self.pack_columns(place, width, survivors, |at, value| aside[at] = value);
            for (line, values) in aside.chunks_exact(width).enumerate() {
                // SAFETY: the caller has these columns to itself.
                unsafe { self.output.slice(place(line)) }.write_copy_of_slice(values);
            }
        } else {
            self.pack_columns(place, self.inner, survivors, |at, value| {
                // SAFETY: as above; the place is one of a column's.
                let slot = unsafe { self.output.slice(first + at..first + at + 1) };
                slot[0].write(value);
            });
        }
        for line in 0..self.len {
            // SAFETY: as above.
            let slots = unsafe { self.output.slice(place(line)) };
            for (slot, &survivors) in slots.iter_mut().zip(&*survivors) {
                if line >= survivors {
                    slot.write(T::default());
                }
            }
        }
        for (count, &survivors) in counts.iter_mut().zip(&*survivors) {
            count.write(I::from_usize(survivors));
        }
    }

    /// Hands each element to `write` with the place where the next survivor of its column goes, lines being `step` apart; and counts them.
    #[inline(always)]
    fn pack_columns(
        &self,
        place: impl Fn(usize) -> Range<usize>,
        step: usize,
        survivors: &mut [usize],
        mut write: impl FnMut(usize, T),
    ) {
        let mut cursors: [usize; COLUMNS] = core::array::from_fn(|column| column);
        for line in 0..self.len {
            let (values, mask) = (&self.values[place(line)], &self.mask[place(line)]);
            for ((&value, &byte), cursor) in values.iter().zip(mask).zip(&mut cursors) {
                write(*cursor, value);
                *cursor += step & usize::from(byte != 0).wrapping_neg();
            }
        }
        for (column, (survivors, cursor)) in survivors.iter_mut().zip(cursors).enumerate() {
            *survivors = (cursor - column) / step;
        }
    }
}
