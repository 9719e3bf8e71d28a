//! Columns of a plane, compacted in the order of memory.
//!
//! Survivors written to their columns one by one would drive each other out of the caches. They wait in a buffer, the
//! survivors of a column side by side, and what all columns of the strip have is written line by line:
//!
//! ```text
//! values   a b c      waiting   a d …      output   a b f      until one more of each column is there
//!          d e f                b …
//! mask     1 1 0                f …
//!          1 0 1
//! ```
//!
//! A column that is too far ahead of the others is written alone. With AVX2, [`tiles`](super::tiles) fills the buffer
//! and writes lines.

use core::ops::Range;

use super::super::compress::{GROUP, Word};
#[cfg(target_arch = "x86_64")]
use super::super::processor::Widest;
use super::Lines;
use super::strip::{Strip, WIDEST};
use super::survivors::{PARTS, Survivors};
#[cfg(target_arch = "x86_64")]
use super::tiles;

pub(super) fn compact<T: Word>(lines: &Lines<'_, T>) {
    lines.for_each_task(&|strips| {
        let mut survivors = Survivors::new(lines, lines.len);
        let kept = &mut [0; WIDEST];
        for strip in strips.map(|at| lines.strip(at)) {
            let kept = &mut kept[..strip.width];
            kept.fill(0);
            // SAFETY: no other task has these columns of this plane, neither their elements nor their counts.
            unsafe {
                survivors.compact(strip, 0..lines.len, kept);
                survivors.write_rest();
            }
            (lines.write_counts)(strip.column, kept);
        }
    });
}

/// A [`CompactPart`](super::split::CompactPart).
pub(super) unsafe fn compact_part<T: Word>(
    lines: &Lines<'_, T>,
    strip: Strip,
    part: Range<usize>,
    kept: &mut [usize],
) {
    let mut survivors = Survivors::new(lines, part.len());
    // SAFETY: the caller's promise.
    unsafe {
        survivors.compact(strip, part, kept);
        survivors.make_room(survivors.room);
    }
}

impl<T: Word> Survivors<'_, T> {
    /// The survivors of a column so far.
    fn found(&self, column: usize) -> usize {
        self.written[column] + self.filled[column]
    }

    /// The first line that no column has written.
    fn begin(&self) -> usize {
        let written = self.written[..self.strip.width].iter().copied();
        written.max().unwrap_or(0)
    }

    /// Takes in the survivors of some lines, and writes survivors whenever there is no room for more lines.
    ///
    /// # Safety
    ///
    /// No other thread has access to the slots of these survivors.
    unsafe fn compact(&mut self, strip: Strip, lines: Range<usize>, kept: &mut [usize]) {
        self.strip = strip;
        self.filled[..strip.width].fill(0);
        self.written[..strip.width].copy_from_slice(kept);
        let step = if lines.len() <= self.room {
            lines.len()
        } else {
            self.room / PARTS
        };
        for begin in lines.clone().step_by(step) {
            let end = lines.end.min(begin + step);
            // SAFETY: every column has room for as many.
            unsafe { self.take(begin..end) };
            if end < lines.end {
                // SAFETY: the caller's promise.
                unsafe { self.make_room(step) };
            }
        }
        for (column, kept) in kept.iter_mut().enumerate() {
            *kept = self.found(column);
        }
    }

    /// As [`Self::take_lines`].
    unsafe fn take(&mut self, lines: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if let Some(_avx2) = Widest::test() {
                // `_avx2` proves AVX2 and POPCNT.
                return tiles::take(self, lines);
            }
            self.take_lines(lines);
        }
    }

    /// Writes the lines that all columns have, in whole groups, and then each column that has no room for `lines`
    /// more.
    unsafe fn make_room(&mut self, lines: usize) {
        let begin = self.begin();
        let found = (0..self.strip.width).map(|column| self.found(column));
        let common = found.min().unwrap_or(0).saturating_sub(begin);
        let end = begin + common / GROUP * GROUP;
        if begin < end {
            for column in 0..self.strip.width {
                // SAFETY: the caller's promise.
                unsafe { self.write_alone(column, begin) };
            }
            // SAFETY: as above.
            unsafe { self.write_lines(begin..end) };
            for column in 0..self.strip.width {
                self.drop_first(column, end - begin);
            }
        }
        for column in 0..self.strip.width {
            if self.filled[column] + lines > self.room {
                // SAFETY: as above.
                unsafe { self.write_alone(column, self.lines.len) };
            }
        }
    }

    /// Writes lines whose elements wait at the front of all columns.
    unsafe fn write_lines(&self, lines: Range<usize>) {
        #[cfg(target_arch = "x86_64")]
        if let Some(_avx2) = Widest::test() {
            // SAFETY: `_avx2` proves AVX2; the caller's promise.
            return unsafe { tiles::write(self, lines) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.write_columns(0, lines, 0..self.strip.width) };
    }

    /// Writes what waits in a column, before a line.
    unsafe fn write_alone(&mut self, column: usize, line: usize) {
        let written = self.written[column];
        let count = self.filled[column].min(line - written);
        if count > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.write_columns(0, written..written + count, column..column + 1) };
            self.drop_first(column, count);
        }
    }

    /// Forgets the first survivors that wait in a column, which are written.
    fn drop_first(&mut self, column: usize, count: usize) {
        let waiting = self.of_column(column);
        let left = waiting.start + count..waiting.end;
        self.waiting.copy_within(left, waiting.start);
        self.filled[column] -= count;
        self.written[column] += count;
    }

    /// Writes all that waits, and zeros after it.
    unsafe fn write_rest(&mut self) {
        let begin = self.begin();
        let found = (0..self.strip.width).map(|column| self.found(column));
        let waiting = found.max().unwrap_or(0) - begin;
        let end = self.lines.len.min(begin + waiting.next_multiple_of(GROUP));
        for column in 0..self.strip.width {
            // SAFETY: the caller's promise.
            unsafe { self.write_alone(column, begin) };
            let waiting = self.of_column(column);
            let missing = waiting.end..waiting.start + (end - begin);
            self.waiting[missing].fill(T::default());
        }
        let written = &self.written[..self.strip.width];
        // SAFETY: as above.
        unsafe {
            self.lines.clear_rest(self.strip, 0..begin, written);
            self.write_lines(begin..end);
            self.lines.clear_rest(self.strip, end..self.lines.len, &[]);
        }
    }
}
