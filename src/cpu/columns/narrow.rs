//! Planes of few columns, split along the axis.
//!
//! A plane is split into pieces of about [`PIECE`] elements, or of one tile of lines where floats round. Each piece is
//! first reduced to its totals, then the carries into all pieces are combined in order, then every piece is scanned
//! from its carries. Some pieces take these steps together, while they are in the shared cache.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::Shared;
use super::super::element::TILE;
use super::super::parallel;
use super::super::traits::{Combine, ElementType};
use super::Plane;

/// Elements of a narrow plane that are walked in order: the work of one task.
pub(super) const PIECE: usize = 1 << 14;

/// Elements that are reduced and then scanned together: 4 MiB of `f32`.
const STRETCH: usize = 64 * PIECE;

/// Scans a plane that is split along the axis.
pub(super) fn scan<T: ElementType, O: Combine<T::Acc>>(
    plane: Plane,
    input: &[T],
    output: &mut [MaybeUninit<T>],
) {
    let lines = if O::EXACT {
        (PIECE / plane.inner).max(1)
    } else {
        TILE
    };
    let narrow = Narrow {
        plane,
        input,
        lines,
        in_task: (PIECE / (lines * plane.inner)).max(1),
    };
    let pieces = plane.len.div_ceil(lines);
    // At least two tasks, however long a tile is.
    let stretch = (STRETCH / (lines * plane.inner)).max(2);
    let output = Shared::new(output);
    let mut carries = vec![O::IDENTITY; plane.inner];
    let mut starts = vec![O::IDENTITY; stretch.min(pieces) * plane.inner];
    for first in (0..pieces).step_by(stretch) {
        let starts = &mut starts[..stretch.min(pieces - first) * plane.inner];
        narrow.reduce::<O>(first, starts);
        narrow.to_starts::<O>(first, starts, &mut carries);
        narrow.scan::<O>(first, starts, &output);
    }
}

/// A narrow plane, and how many lines a piece of it has.
struct Narrow<'a, T> {
    plane: Plane,
    input: &'a [T],
    lines: usize,
    /// Pieces of a task.
    in_task: usize,
}

impl<T: ElementType> Narrow<'_, T> {
    /// The lines of a piece. They are numbered in the order of the scan, and so are the pieces.
    fn piece(&self, index: usize) -> Range<usize> {
        index * self.lines..self.plane.len.min((index + 1) * self.lines)
    }

    /// Finds the totals of the pieces from `first` on.
    fn reduce<O: Combine<T::Acc>>(&self, first: usize, totals: &mut [T::Acc]) {
        self.for_each_piece(first, totals, &|lines, totals| {
            totals.fill(O::IDENTITY);
            self.plane.fold::<T, O>(self.input, lines, totals);
        });
    }

    /// Replaces the totals of the pieces from `first` on with the carries into them. `carries` precede the first piece,
    /// and are then the carries out of the last.
    fn to_starts<O: Combine<T::Acc>>(
        &self,
        first: usize,
        totals: &mut [T::Acc],
        carries: &mut [T::Acc],
    ) {
        for (index, totals) in totals.chunks_exact_mut(self.plane.inner).enumerate() {
            for (column, (carry, start)) in carries.iter_mut().zip(totals).enumerate() {
                let (before, total) = (*carry, core::mem::replace(start, *carry));
                *carry = if O::is_regular(before, total) {
                    O::combine(before, total)
                } else {
                    let lines = self.piece(first + index);
                    let (input, plane) = (self.input, self.plane);
                    // SAFETY: nothing is written.
                    unsafe { plane.walk_column::<T, O>(input, None, lines, column, before) }
                };
            }
        }
    }

    /// Calls `each` with the lines of every piece from `first` on, and with its states.
    fn for_each_piece(
        &self,
        first: usize,
        states: &mut [T::Acc],
        each: &(impl Fn(Range<usize>, &mut [T::Acc]) + Sync),
    ) {
        let inner = self.plane.inner;
        parallel::for_each_part(states, inner * self.in_task, &|at, states| {
            for (index, states) in states.chunks_exact_mut(inner).enumerate() {
                each(self.piece(first + at / inner + index), states);
            }
        });
    }

    /// Scans the pieces from `first` on, each from its carries.
    fn scan<O: Combine<T::Acc>>(
        &self,
        first: usize,
        starts: &mut [T::Acc],
        output: &Shared<'_, T>,
    ) {
        let plane = self.plane;
        self.for_each_piece(first, starts, &|lines, carries| {
            // SAFETY: each piece is written by one task.
            unsafe { plane.walk::<T, O>(self.input, output, lines, 0..plane.inner, carries) };
        });
    }
}
