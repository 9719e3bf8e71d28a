//! A strip of a plane, and the survivors that wait to be written, a column side by side.

use core::ops::Range;

use super::super::compress::{GROUP, Word};
use super::Lines;
use super::strip::{Strip, WIDEST};

/// Bytes of the buffer. With half as many [2048, 2048] takes 1.1 to 1.3 times as long.
const BUFFER: usize = 1 << 20;

/// Survivors that all columns have are written whenever this part of the lines that the buffer has room for was read.
pub(super) const PARTS: usize = 4;

/// A strip, with room for a group of elements after the last survivor of each column.
pub(super) struct Survivors<'a, T> {
    pub(super) lines: &'a Lines<'a, T>,
    pub(super) strip: Strip,
    /// The survivors of a column side by side.
    pub(super) waiting: Vec<T>,
    /// How many the buffer holds of a column.
    pub(super) room: usize,
    /// Elements from a column of the buffer to the next: not a power of two, so that columns do not compete for the places
    /// in a cache.
    pub(super) apart: usize,
    /// How many wait in each column.
    pub(super) filled: [usize; WIDEST],
    /// How many each column has written.
    pub(super) written: [usize; WIDEST],
}

impl<'a, T: Word> Survivors<'a, T> {
    /// Room for `len` lines of any strip, or as many as the buffer holds.
    pub(super) fn new(lines: &'a Lines<'a, T>, len: usize) -> Self {
        let width = lines.width;
        let room = (BUFFER / size_of::<T>() / width).min(len);
        let room = room.next_multiple_of(PARTS * GROUP);
        let apart = room + 2 * GROUP;
        Self {
            lines,
            strip: lines.strip(0),
            // Whole groups of columns are read, too.
            waiting: vec![T::default(); width.next_multiple_of(GROUP) * apart],
            room,
            apart,
            filled: [0; WIDEST],
            written: [0; WIDEST],
        }
    }

    /// Where the survivors of a column wait.
    pub(super) fn of_column(&self, column: usize) -> Range<usize> {
        let begin = column * self.apart;
        begin..begin + self.filled[column]
    }

    /// Takes in the survivors of some lines, one element after the other.
    ///
    /// # Safety
    ///
    /// Every column has room for as many more.
    pub(super) unsafe fn take_lines(&mut self, lines: Range<usize>) {
        for line in lines {
            let place = self.lines.place(self.strip, line);
            let place = place..place + self.strip.width;
            let (values, mask) = (&self.lines.values[place.clone()], &self.lines.mask[place]);
            let apart = self.apart;
            let mut begin = 0;
            for ((&value, &byte), filled) in values.iter().zip(mask).zip(&mut self.filled) {
                // SAFETY: the caller's promise, and the elements between columns have room for one more.
                unsafe { *self.waiting.get_unchecked_mut(begin + *filled) = value };
                *filled += usize::from(byte != 0);
                begin += apart;
            }
        }
    }

    /// Writes what waits at place `at` of some columns to a line, and what follows to the next lines, one element after
    /// the other.
    ///
    /// # Safety
    ///
    /// No other thread has access to the output of these columns.
    pub(super) unsafe fn write_columns(
        &self,
        at: usize,
        lines: Range<usize>,
        columns: Range<usize>,
    ) {
        for (at, line) in (at..).zip(lines) {
            let place = self.lines.place(self.strip, line);
            // SAFETY: the caller's promise.
            let slots =
                unsafe { (self.lines.output).slice(place + columns.start..place + columns.end) };
            for (slot, column) in slots.iter_mut().zip(columns.clone()) {
                slot.write(self.waiting[column * self.apart + at]);
            }
        }
    }
}
