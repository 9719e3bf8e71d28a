//! Planes of few columns, split along the axis.
//!
//! A plane is split into pieces of about [`PIECE`] elements. Each piece is first reduced to its totals, then the
//! carries into all pieces are combined in order, then every piece is scanned from its carries. [`STRETCH`] pieces take
//! these steps together, while they are in the shared cache.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::Shared;
use super::super::parallel;
use super::super::traits::{Element, Operator};
use super::Plane;

/// Elements of a narrow plane that are walked in order: the work of one task.
pub(super) const PIECE: usize = 1 << 14;

/// Pieces that are reduced and then scanned together: 4 MiB of `f32`.
const STRETCH: usize = 64;

/// Scans a plane that is split along the axis.
pub(super) fn scan<T: Element, O: Operator<T::Acc>>(
    plane: Plane,
    input: &[T],
    output: &mut [MaybeUninit<T>],
) {
    let narrow = Narrow {
        plane,
        input,
        lines: (PIECE / plane.inner).max(1),
    };
    let pieces = plane.len.div_ceil(narrow.lines);
    let output = Shared::new(output);
    let mut carries = vec![O::IDENTITY; plane.inner];
    let mut starts = vec![O::IDENTITY; STRETCH.min(pieces) * plane.inner];
    for first in (0..pieces).step_by(STRETCH) {
        let starts = &mut starts[..STRETCH.min(pieces - first) * plane.inner];
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
}

impl<T: Element> Narrow<'_, T> {
    /// The lines of a piece. They are numbered in the order of the scan, and so are the pieces.
    fn piece(&self, index: usize) -> Range<usize> {
        index * self.lines..self.plane.len.min((index + 1) * self.lines)
    }

    /// Finds the totals of the pieces from `first` on.
    fn reduce<O: Operator<T::Acc>>(&self, first: usize, totals: &mut [T::Acc]) {
        let inner = self.plane.inner;
        parallel::for_each_part(totals, inner, &|at, totals| {
            totals.fill(O::IDENTITY);
            let lines = self.piece(first + at / inner);
            self.plane.fold::<T, O>(self.input, lines, totals);
        });
    }

    /// Replaces the totals of the pieces from `first` on by the carries into them. `carries` precede the first piece,
    /// and are then those behind the last.
    fn to_starts<O: Operator<T::Acc>>(
        &self,
        first: usize,
        totals: &mut [T::Acc],
        carries: &mut [T::Acc],
    ) {
        for (index, totals) in totals.chunks_exact_mut(self.plane.inner).enumerate() {
            let is_regular = carries
                .iter()
                .zip(&*totals)
                .all(|(&carry, &total)| O::is_regular(carry, total));
            for (carry, start) in carries.iter_mut().zip(totals) {
                let total = core::mem::replace(start, *carry);
                if is_regular {
                    *carry = O::combine(*carry, total);
                }
            }
            if !is_regular {
                let lines = self.piece(first + index);
                self.plane.fold::<T, O>(self.input, lines, carries);
            }
        }
    }

    /// Scans the pieces from `first` on, each from its carries.
    fn scan<O: Operator<T::Acc>>(
        &self,
        first: usize,
        starts: &mut [T::Acc],
        output: &Shared<'_, T>,
    ) {
        let inner = self.plane.inner;
        parallel::for_each_part(starts, inner, &|at, carries| {
            let lines = self.piece(first + at / inner);
            // SAFETY: each piece is written by one task.
            unsafe {
                let plane = self.plane;
                plane.walk::<T, O>(self.input, output, lines, 0..inner, carries);
            };
        });
    }
}
