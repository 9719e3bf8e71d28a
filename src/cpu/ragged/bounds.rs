//! Offsets in order and in range.

use core::ops::Range;

use super::super::compress::{Index, Indices};

/// The places in `0..len` where rows start, in order, and where the last row ends.
pub(crate) struct Bounds<'a> {
    offsets: Indices<'a>,
    len: usize,
}

impl<'a> Bounds<'a> {
    /// Offsets outside `0..=len` count as `len`, and offsets below an earlier one count as the earlier one.
    ///
    /// # Panics
    ///
    /// If there are no offsets.
    pub(crate) fn new<I: Index>(offsets: &'a [I], len: usize) -> Self {
        let last = offsets.last().expect("one offset more than there are rows");
        // A negative offset is above `len` as well.
        let are_valid = last.to_usize() <= len && offsets.is_sorted_by_key(|at| at.to_usize());
        let in_place = I::in_place(offsets).filter(|_| are_valid);
        let offsets = in_place.unwrap_or_else(|| {
            let mut least = 0;
            let offsets = offsets.iter().map(|offset| {
                least = offset.to_usize().clamp(least, len);
                least
            });
            Indices::Copied(offsets.collect())
        });
        Self { offsets, len }
    }

    pub(super) fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn row(&self, row: usize) -> Range<usize> {
        self.offsets.get(row)..self.offsets.get(row + 1)
    }

    /// The rows that start in some positions.
    pub(super) fn starting_in(&self, positions: Range<usize>) -> Range<usize> {
        let before = |at: usize| self.offsets.below(at).min(self.rows());
        before(positions.start)..before(positions.end)
    }

    /// The rows that end after the block of `block` positions in which they start, and the numbers of these blocks.
    pub(super) fn crossing(&self, block: usize) -> Vec<(usize, usize)> {
        let in_block = |number: usize| {
            let end = self.len.min((number + 1) * block);
            let row = self.starting_in(number * block..end).last()?;
            (self.row(row).end > end).then_some((row, number))
        };
        (0..=self.len / block).filter_map(in_block).collect()
    }

    /// Calls `each` with the part of each row that lies in some positions, in order. Positions before the first row
    /// count as row 0, and positions after the last row as one row more.
    pub(super) fn each_piece(
        &self,
        positions: Range<usize>,
        mut each: impl FnMut(usize, Range<usize>),
    ) {
        // The first row that ends after the first position.
        let mut row = self.offsets.below(positions.start + 1).saturating_sub(1);
        let mut at = positions.start;
        while at < positions.end {
            let end = if row < self.rows() {
                self.offsets.get(row + 1).min(positions.end)
            } else {
                positions.end
            };
            if end > at {
                each(row, at..end);
                at = end;
            }
            row += 1;
        }
    }
}
