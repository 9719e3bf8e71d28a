//! Columns of a plane, compacted in the order of memory.
//!
//! Survivors written to their columns one by one would drive each other out of the caches. They wait in a buffer, the
//! survivors of a column side by side, and what all columns of the block have is written line by line:
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

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::compress::{Index, Word};
#[cfg(target_arch = "x86_64")]
use super::super::processor::HasAvx2;
#[cfg(target_arch = "x86_64")]
use super::tiles;
use super::{COLUMNS, Lines};

/// Bytes of the buffer. With half as many [2048, 2048] takes 1.1 to 1.3 times as long.
const BUFFER: usize = 1 << 20;

/// What all columns have is written after this part of the lines that the buffer has room for.
const PARTS: usize = 4;

/// Lines that are taken in together, and elements that may be written after the last survivor of a column.
pub(super) const GROUP: usize = 8;

/// Some columns of a plane, and their survivors that wait.
pub(super) struct WaitingColumns<'a, T> {
    pub(super) lines: &'a Lines<'a, T>,
    /// The first element of the columns.
    pub(super) first: usize,
    pub(super) width: usize,
    /// The survivors of a column side by side.
    pub(super) waiting: Vec<T>,
    /// How many the buffer holds of a column.
    room: usize,
    /// How many wait in each column.
    pub(super) filled: [usize; COLUMNS],
    /// How many each column has written.
    written: [usize; COLUMNS],
}

impl<'a, T: Word> WaitingColumns<'a, T> {
    /// Room for blocks of up to `width` columns.
    pub(super) fn new(lines: &'a Lines<'a, T>, width: usize) -> Self {
        let room = (BUFFER / size_of::<T>() / width).min(lines.len);
        let room = room.next_multiple_of(PARTS * GROUP);
        let mut columns = Self {
            lines,
            first: 0,
            width,
            waiting: Vec::new(),
            room,
            filled: [0; COLUMNS],
            written: [0; COLUMNS],
        };
        // Whole groups of columns are read, too.
        let all = width.next_multiple_of(GROUP);
        columns.waiting = vec![T::default(); all * columns.apart()];
        columns
    }

    /// From a column of the buffer to the next: these share no place in a cache.
    pub(super) fn apart(&self) -> usize {
        self.room + 2 * GROUP
    }

    /// Where the survivors of a column wait.
    pub(super) fn of_column(&self, column: usize) -> Range<usize> {
        let begin = column * self.apart();
        begin..begin + self.filled[column]
    }

    /// The survivors of a column so far.
    fn found(&self, column: usize) -> usize {
        self.written[column] + self.filled[column]
    }

    /// # Safety
    ///
    /// No other thread has access to the output of these columns.
    pub(super) unsafe fn compact<I: Index>(
        &mut self,
        plane: usize,
        columns: Range<usize>,
        counts: &mut [MaybeUninit<I>],
    ) {
        let len = self.lines.len;
        self.first = plane * len * self.lines.inner + columns.start;
        self.width = columns.len();
        self.filled[..self.width].fill(0);
        self.written[..self.width].fill(0);
        let part = if len <= self.room {
            len
        } else {
            self.room / PARTS
        };
        for begin in (0..len).step_by(part) {
            let end = len.min(begin + part);
            self.take(begin..end);
            if end < len {
                // SAFETY: the caller's promise.
                unsafe { self.make_room(part) };
            }
        }
        for (column, count) in counts.iter_mut().enumerate() {
            count.write(I::from_usize(self.found(column)));
        }
        // SAFETY: as above.
        unsafe { self.write_rest() };
    }

    /// Takes in the survivors of some lines, for which every column has room.
    fn take(&mut self, lines: Range<usize>) {
        #[cfg(target_arch = "x86_64")]
        if let Some(_avx2) = HasAvx2::test() {
            // SAFETY: `_avx2` proves AVX2 and POPCNT.
            return unsafe { tiles::take(self, lines) };
        }
        self.take_lines(lines);
    }

    /// [`take`](Self::take), one element after the other.
    pub(super) fn take_lines(&mut self, lines: Range<usize>) {
        for line in lines {
            let place = self.first + line * self.lines.inner;
            let place = place..place + self.width;
            let (values, mask) = (&self.lines.values[place.clone()], &self.lines.mask[place]);
            let apart = self.apart();
            let mut begin = 0;
            for ((&value, &byte), filled) in values.iter().zip(mask).zip(&mut self.filled) {
                // SAFETY: every column has room for as many more, and the elements between columns for the last one.
                unsafe { *self.waiting.get_unchecked_mut(begin + *filled) = value };
                *filled += usize::from(byte != 0);
                begin += apart;
            }
        }
    }

    /// Writes the lines that all columns have, and the columns that lack room for so many lines.
    unsafe fn make_room(&mut self, lines: usize) {
        let written = self.written[..self.width].iter().copied();
        let begin = written.max().unwrap_or(0);
        let found = (0..self.width).map(|column| self.found(column));
        let end = found.min().unwrap_or(0);
        if begin < end {
            for column in 0..self.width {
                // SAFETY: the caller's promise.
                unsafe { self.write_alone(column, begin - self.written[column]) };
            }
            // SAFETY: as above.
            unsafe { self.write_lines(begin..end) };
            for column in 0..self.width {
                self.drop_first(column, end - begin);
            }
        }
        for column in 0..self.width {
            if self.filled[column] + lines > self.room {
                // SAFETY: as above.
                unsafe { self.write_alone(column, self.filled[column]) };
            }
        }
    }

    /// Writes lines whose elements wait at the front of all columns.
    unsafe fn write_lines(&self, lines: Range<usize>) {
        #[cfg(target_arch = "x86_64")]
        if let Some(_avx2) = HasAvx2::test() {
            // SAFETY: `_avx2` proves AVX2; the caller's promise.
            return unsafe { tiles::write(self, lines) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.write_columns(0, lines, 0..self.width) };
    }

    /// Writes what waits at place `at` of some columns to a line, and what follows to the next lines, one element after
    /// the other.
    ///
    /// # Safety
    ///
    /// As [`compact`](Self::compact).
    pub(super) unsafe fn write_columns(
        &self,
        at: usize,
        lines: Range<usize>,
        columns: Range<usize>,
    ) {
        for (at, line) in (at..).zip(lines) {
            let place = self.first + line * self.lines.inner;
            // SAFETY: the caller's promise.
            let slots =
                unsafe { (self.lines.output).slice(place + columns.start..place + columns.end) };
            for (slot, column) in slots.iter_mut().zip(columns.clone()) {
                slot.write(self.waiting[column * self.apart() + at]);
            }
        }
    }

    /// Writes the first survivors that wait in a column.
    unsafe fn write_alone(&mut self, column: usize, count: usize) {
        if count == 0 {
            return;
        }
        let written = self.written[column];
        // SAFETY: the caller's promise.
        unsafe { self.write_columns(0, written..written + count, column..column + 1) };
        self.drop_first(column, count);
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
        let written = self.written[..self.width].iter().copied();
        let begin = written.max().unwrap_or(0);
        let found = (0..self.width).map(|column| self.found(column));
        let waiting = found.max().unwrap_or(0) - begin;
        let end = self.lines.len.min(begin + waiting.next_multiple_of(GROUP));
        for column in 0..self.width {
            // SAFETY: the caller's promise.
            unsafe { self.level(column, begin) };
            let waiting = self.of_column(column);
            let missing = waiting.end..waiting.start + (end - begin);
            self.waiting[missing].fill(T::default());
        }
        // SAFETY: as above.
        unsafe { self.write_lines(begin..end) };
        for line in end..self.lines.len {
            let place = self.first + line * self.lines.inner;
            // SAFETY: as above.
            let slots = unsafe { self.lines.output.slice(place..place + self.width) };
            slots.fill(MaybeUninit::new(T::default()));
        }
    }

    /// Writes a column up to a line: what waits, and zeros after it.
    unsafe fn level(&mut self, column: usize, line: usize) {
        let missing = line - self.written[column];
        let count = missing.min(self.filled[column]);
        // SAFETY: the caller's promise.
        unsafe { self.write_alone(column, count) };
        for line in self.written[column]..line {
            let slot = self.first + line * self.lines.inner + column;
            // SAFETY: as above.
            unsafe { self.lines.output.set(slot, MaybeUninit::new(T::default())) };
        }
        self.written[column] = line;
    }
}
