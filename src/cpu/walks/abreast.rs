//! Rows abreast: short rows that lie one after the other in memory.
//!
//! A walk takes one element of each row at a time, a line. The elements of a line lie a row apart, so a block of rows is
//! transposed before its first line is read, and a block of results after its last line is written. In planes of several
//! columns, the line of a plane moves as one element.

use core::mem::MaybeUninit;

use super::super::compress::GROUP;
use super::super::short_rows::SHORT;
use super::super::transpose::transpose;
use super::WIDEST;
use super::lines::MANY;

/// Elements of a block, unless a plane has more. They are in the first-level cache while all lines are walked.
/// In blocks of half the size, positions of maxima of [2^18, 4] take 1.2 times as long; larger blocks change nothing.
const BLOCK: usize = 1 << 11;

/// Columns of a block: those of whole planes, as many as tiles of a transpose, if there are enough.
pub(super) fn columns_of_block(len: usize, columns: usize) -> usize {
    let planes = (BLOCK / len).min(WIDEST) / columns;
    let in_tiles = planes / GROUP * GROUP;
    let planes = if in_tiles > 0 {
        in_tiles
    } else {
        planes.max(1)
    };
    planes * columns
}

/// Room for a line, or for all lines of a block of planes.
pub(super) struct Turned<T> {
    slots: [MaybeUninit<T>; SHORT * MANY],
    /// Elements of the block that are here.
    held: usize,
}

impl<T> Default for Turned<T> {
    fn default() -> Self {
        Self {
            slots: [const { MaybeUninit::uninit() }; SHORT * MANY],
            held: 0,
        }
    }
}

impl<T: Copy> Turned<T> {
    /// Room for a line of planes that are not transposed.
    pub(super) fn room(&mut self) -> &mut [MaybeUninit<T>] {
        &mut self.slots
    }

    /// A line of a block whose planes have `len` lines of `columns` elements. All calls are of one block.
    pub(super) fn line_of(
        &mut self,
        planes: &[T],
        [len, columns]: [usize; 2],
        line: usize,
    ) -> &[T] {
        let slots = &mut self.slots[..planes.len()];
        let size = planes.len() / len;
        if self.held == 0 {
            assert!(size * len == planes.len() && size.is_multiple_of(columns));
            let (bytes, shape) = (size_of::<T>() * columns, [size / columns, len]);
            let (from, to) = (planes.as_ptr().cast(), slots.as_mut_ptr().cast());
            // SAFETY: the planes have these elements, and there are as many slots.
            unsafe { transpose(from, bytes, shape, to) };
            self.held = planes.len();
        }
        assert!(self.held == planes.len());
        // SAFETY: all elements of the block were written.
        unsafe { slots[line * size..][..size].assume_init_ref() }
    }

    /// Lets `fill` write a line of a block. The last line of all completes `planes`.
    ///
    /// # Safety
    ///
    /// All calls are of one block, and have each of its lines once. `fill` writes each slot.
    pub(super) unsafe fn fill(
        &mut self,
        [len, columns]: [usize; 2],
        line: usize,
        fill: &mut dyn FnMut(&mut [MaybeUninit<T>]),
        planes: &mut [MaybeUninit<T>],
    ) {
        let slots = &mut self.slots[..planes.len()];
        let size = planes.len() / len;
        fill(&mut slots[line * size..][..size]);
        self.held += size;
        if self.held == planes.len() {
            assert!(size * len == planes.len() && size.is_multiple_of(columns));
            let (bytes, shape) = (size_of::<T>() * columns, [len, size / columns]);
            let (from, to) = (slots.as_ptr().cast(), planes.as_mut_ptr().cast());
            // SAFETY: the caller has written each line, and the planes have as many slots.
            unsafe { transpose(from, bytes, shape, to) };
        }
    }
}
