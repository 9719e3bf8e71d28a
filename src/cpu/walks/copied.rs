//! Copies of a tensor with any strides, in row-major order.
//!
//! Rows whose elements lie apart are copied in tiles: neighbouring rows often share the lines of the cache that a tile
//! reads, as the rows of a transposed matrix do.

use core::ops::Range;

use super::super::buffer::{Output, Shared};
use super::super::parallel::{self, GRAIN};
use super::View;

/// Rows of a tile, and its columns: 16 elements of 32 bits are a line of the cache.
const TILE: usize = 16;

impl<T: Copy + Send + Sync> View<'_, T> {
    /// The elements of a view along its last dimension, in row-major order.
    pub(crate) fn copied(&self) -> Vec<T> {
        let (rows, len) = (self.planes.len(), self.lines);
        let mut output = Output::new(rows * len);
        let slots = Shared::new(output.slots());
        let (blocks, pieces) = (rows.div_ceil(TILE), len.div_ceil(GRAIN));
        let share = GRAIN.div_ceil(TILE * len.clamp(1, GRAIN));
        parallel::for_each_of(rows * len, blocks * pieces, share, &|task| {
            let (block, first) = (task / pieces * TILE, task % pieces * GRAIN);
            let rows = block..rows.min(block + TILE);
            // SAFETY: no other task has these elements.
            unsafe { self.copy(rows, first..len.min(first + GRAIN), 0, &slots) };
        });
        // SAFETY: the tiles are all elements.
        unsafe { output.finish() }
    }

    /// Those of these numbers, copied on this thread.
    pub(in crate::cpu) fn copied_part(&self, part: Range<usize>) -> Vec<T> {
        let len = self.lines;
        let mut output = Output::new(part.len());
        let slots = Shared::new(output.slots());
        let mut next = part.start;
        while next < part.end {
            let (row, column, left) = (next / len, next % len, part.end - next);
            let rows = if column == 0 {
                (left / len).clamp(1, TILE)
            } else {
                1
            };
            let columns = column..len.min(column + left);
            next += rows * columns.len();
            // SAFETY: this thread has all slots.
            unsafe { self.copy(row..row + rows, columns, part.start, &slots) };
        }
        // SAFETY: the rows are all elements of the part.
        unsafe { output.finish() }
    }

    /// Copies some columns of up to [`TILE`] rows. `slots` begin with the element of number `start`.
    ///
    /// # Safety
    ///
    /// No other thread has access to the slots of these elements.
    unsafe fn copy(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        start: usize,
        slots: &Shared<'_, T>,
    ) {
        // Neighbours are moved at once.
        let width = if self.step.abs() == 1 { GRAIN } else { TILE };
        for column in columns.clone().step_by(width) {
            let columns = column..columns.end.min(column + width);
            for row in rows.clone() {
                let place = |column: usize| row * self.lines + column - start;
                // SAFETY: the caller's promise.
                let slots = unsafe { slots.slice(place(columns.start)..place(columns.end)) };
                let first = self.at(row, columns.start);
                match (self.step, first as usize) {
                    (1, at) => {
                        slots.write_copy_of_slice(&self.elements[at..at + columns.len()]);
                    }
                    (-1, at) => {
                        let neighbours = &self.elements[at + 1 - columns.len()..=at];
                        for (slot, &element) in slots.iter_mut().rev().zip(neighbours) {
                            slot.write(element);
                        }
                    }
                    (step, _) => self.gather(first, step, slots),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_stride() {
        let elements: Vec<u32> = (0..500_000).collect();
        for shape in [
            [1, 1, 1],
            [3, 40, 50],
            [1, 33, 4],
            [0, 3, 2],
            [2, 1, 70_000],
            [5, 7, 0],
        ] {
            let [_, b, c] = shape.map(|size| size as isize);
            for strides in [
                [b * c, c, 1],
                [1, 40, 3],
                [0, 1, 3],
                [b * c, -c, -1],
                [c, 0, -2],
            ] {
                let start = 200_000;
                let view = View::new(&elements, start, &shape, &strides, 2);
                let at = |index: usize| {
                    let places = [
                        index / (shape[1] * shape[2]),
                        index / shape[2] % shape[1],
                        index % shape[2],
                    ];
                    let far = places
                        .iter()
                        .zip(strides)
                        .map(|(&at, stride)| at as isize * stride);
                    elements[start.wrapping_add_signed(far.sum())]
                };
                let expected: Vec<u32> = (0..shape.iter().product()).map(at).collect();
                assert_eq!(view.copied(), expected, "{shape:?} {strides:?}");
                let (first, last) = (expected.len() / 3, expected.len() / 7 * 6);
                for part in [0..last, first..last, first..expected.len(), last..last] {
                    assert_eq!(
                        view.copied_part(part.clone()),
                        expected[part],
                        "{shape:?} {strides:?}"
                    );
                }
            }
        }
    }
}
