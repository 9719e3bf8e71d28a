//! A copy of a tensor with any strides, in row-major order.
//!
//! Rows whose elements lie apart are copied in tiles: neighbouring rows often share the lines of the cache that a tile
//! reads, as the rows of a transposed matrix do.

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
            let last = len.min(first + GRAIN);
            // Neighbours are moved at once.
            let width = if self.step.abs() == 1 { GRAIN } else { TILE };
            for column in (first..last).step_by(width) {
                let columns = column..last.min(column + width);
                for row in block..rows.min(block + TILE) {
                    let place = row * len;
                    // SAFETY: no other task has these elements.
                    let slots = unsafe { slots.slice(place + columns.start..place + columns.end) };
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
        });
        // SAFETY: the tiles are all elements.
        unsafe { output.finish() }
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
            }
        }
    }
}
