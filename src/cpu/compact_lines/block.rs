//! A strip of a plane, and the survivors that wait to be written, a column side by side.

use core::ops::Range;

use super::super::compress::{GROUP, Word};
use super::Lines;
use super::strip::{Strip, WIDEST};

/// Bytes of the buffer. With half as many [2048, 2048] takes 1.1 to 1.3 times as long.
const BUFFER: usize = 1 << 20;

/// What all columns have is written after this part of the lines that the buffer has room for.
pub(super) const PARTS: usize = 4;

/// A strip with room for a group of elements after the last survivor of each.
pub(super) struct Block<'a, T> {
    pub(super) lines: &'a Lines<'a, T>,
    pub(super) strip: Strip,
    /// The survivors of a column side by side.
    pub(super) waiting: Vec<T>,
    /// How many the buffer holds of a column.
    pub(super) room: usize,
    /// How many wait in each column.
    pub(super) filled: [usize; WIDEST],
    /// How many each column has written.
    pub(super) written: [usize; WIDEST],
}

impl<'a, T: Word> Block<'a, T> {
    /// Room for any strip.
    pub(super) fn new(lines: &'a Lines<'a, T>) -> Self {
        let width = lines.width;
        let room = (BUFFER / size_of::<T>() / width).min(lines.len);
        let room = room.next_multiple_of(PARTS * GROUP);
        let mut block = Self {
            lines,
            strip: lines.strip(0),
            waiting: Vec::new(),
            room,
            filled: [0; WIDEST],
            written: [0; WIDEST],
        };
        // Whole groups of columns are read, too.
        let all = width.next_multiple_of(GROUP);
        block.waiting = vec![T::default(); all * block.apart()];
        block
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

    /// Takes in the survivors of some lines, for which every column has room, one element after the other.
    pub(super) fn take_lines(&mut self, lines: Range<usize>) {
        for line in lines {
            let place = self.lines.place(self.strip, line);
            let place = place..place + self.strip.width;
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
                slot.write(self.waiting[column * self.apart() + at]);
            }
        }
    }
}
