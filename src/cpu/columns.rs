//! Scans along an axis whose elements do not lie next to each other.
//!
//! A plane is `len` lines of `inner` elements, and each of its columns is scanned on its own: a line of carries walks
//! along the axis, combined with one line of the plane after the other. Neighbouring columns are neighbours in
//! memory, so every step is a plain vector loop, and there is nothing to cut for the sake of latency.
//!
//! - Wide planes are split into blocks of columns, one a task.
//! - A plane of few columns is cut along the axis instead, into pieces of about [`PIECE`] elements. As in `rows`, a
//!   piece is first reduced, then the carries into all pieces are combined in order, then every piece is walked from
//!   its carries; a stretch of pieces at a time, while it is in the shared cache.
//!
//! Which of the two it is depends on the shape alone, hence so do the bits of the result.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::Shared;
use super::column_groups::column_groups;
use super::element::{Accumulator, Element, TILE};
use super::operator::Operator;
use super::parallel;
use super::rows::{GRAIN, PARALLEL};
use super::simd::vectorize;

/// The most columns in a block: the carries of a block stay in the first-level cache.
///
/// On 4096 x 4096 `f32`, blocks of 256 columns take 1.4 times the time: the shorter the piece of a line, the less of
/// it the processor has fetched ahead.
const WIDEST: usize = 1024;

/// The fewest columns in a block, where the threads would otherwise go without.
const SLIMMEST: usize = 256;

/// The widest plane that is cut along the axis, in columns: below it there are too few blocks to go round.
const NARROW: usize = 2 * SLIMMEST;

/// Elements of a narrow plane that are walked in order: the work of one task.
const PIECE: usize = 1 << 14;

/// Pieces that are reduced and then scanned before the next ones are looked at: 4 MiB of `f32`.
const STRETCH: usize = 64;

/// The shortest narrow plane that is cut, in elements: enough pieces to go round.
const LONG_PLANE: usize = 8 * PIECE;

/// The shape of a plane and the direction it is scanned in.
#[derive(Clone, Copy)]
struct Plane {
    len: usize,
    inner: usize,
    exclusive: bool,
    reverse: bool,
}

/// Scans each plane of `len` lines of `inner` elements along its lines.
pub(super) fn scan<T: Element, O: Operator<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    len: usize,
    inner: usize,
    exclusive: bool,
    reverse: bool,
) {
    let plane = Plane {
        len,
        inner,
        exclusive,
        reverse,
    };
    let size = len * inner;
    if inner <= NARROW && size >= LONG_PLANE {
        parallel::inside(&mut || {
            for (input, output) in input.chunks_exact(size).zip(output.chunks_exact_mut(size)) {
                plane.scan_narrow::<T, O>(input, output);
            }
        });
        return;
    }
    // Columns are independent: the width of a block changes no bit, so the number of threads may decide.
    let width = (inner / (2 * rayon::current_num_threads()))
        .next_multiple_of(64)
        .clamp(SLIMMEST, WIDEST);
    let blocks = inner.div_ceil(width);
    let block = |block: usize| block * width..inner.min((block + 1) * width);
    let scan_blocks = |input: &[T], output: &mut [MaybeUninit<T>]| {
        for (input, output) in input.chunks_exact(size).zip(output.chunks_exact_mut(size)) {
            let output = Shared::new(output);
            for columns in (0..blocks).map(block) {
                // SAFETY: nobody else writes this plane.
                unsafe { plane.scan_block::<T, O>(input, &output, columns) };
            }
        }
    };
    if input.len() < PARALLEL {
        scan_blocks(input, output);
    } else if size < GRAIN {
        let share = GRAIN.div_ceil(size) * size;
        parallel::for_each_part(output, share, &|first, output| {
            scan_blocks(&input[first..first + output.len()], output);
        });
    } else {
        parallel::for_each_part(output, size, &|first, output| {
            let (input, output) = (&input[first..first + size], Shared::new(output));
            parallel::for_each(blocks, &|index| {
                // SAFETY: each block of this plane is written by one task.
                unsafe { plane.scan_block::<T, O>(input, &output, block(index)) };
            });
        });
    }
}

impl Plane {
    /// # Safety
    ///
    /// No other thread has access to the output of these columns.
    unsafe fn scan_block<T: Element, O: Operator<T::Acc>>(
        self,
        input: &[T],
        output: &Shared<'_, T>,
        columns: Range<usize>,
    ) {
        let mut carries = [O::IDENTITY; WIDEST];
        // SAFETY: the caller's promise.
        unsafe { self.walk::<T, O>(input, output, 0..self.len, columns, &mut carries) };
    }

    /// Scans a plane that is cut along the axis.
    fn scan_narrow<T: Element, O: Operator<T::Acc>>(
        self,
        input: &[T],
        output: &mut [MaybeUninit<T>],
    ) {
        let Self { len, inner, .. } = self;
        let lines = (PIECE / inner).max(1);
        let pieces = len.div_ceil(lines);
        let output = Shared::new(output);
        let mut carry = vec![O::IDENTITY; inner];
        let mut starts = vec![O::IDENTITY; STRETCH.min(pieces) * inner];
        for first in (0..pieces).step_by(STRETCH) {
            // Lines are numbered in the order of the scan.
            let piece =
                |index: usize| (first + index) * lines..len.min((first + index + 1) * lines);
            let starts = &mut starts[..STRETCH.min(pieces - first) * inner];
            parallel::for_each_part(starts, inner, &|first, totals| {
                totals.fill(O::IDENTITY);
                self.fold::<T, O>(input, piece(first / inner), totals);
            });
            for (index, starts) in starts.chunks_exact_mut(inner).enumerate() {
                let regular = carry
                    .iter()
                    .zip(&*starts)
                    .all(|(&carry, &total)| O::is_regular(carry, total));
                for (carry, start) in carry.iter_mut().zip(&mut *starts) {
                    let total = core::mem::replace(start, *carry);
                    if regular {
                        *carry = O::combine(*carry, total);
                    }
                }
                if !regular {
                    self.fold::<T, O>(input, piece(index), &mut carry);
                }
            }
            parallel::for_each_part(starts, inner, &|first, carries| {
                let lines = piece(first / inner);
                // SAFETY: each piece is written by one task.
                unsafe { self.walk::<T, O>(input, &output, lines, 0..inner, carries) };
            });
        }
    }

    /// The place in memory of some lines, which are numbered in the order of the scan.
    fn place(self, lines: Range<usize>) -> Range<usize> {
        if self.reverse {
            self.len - lines.end..self.len - lines.start
        } else {
            lines
        }
    }

    /// Lines that lie next to each other and fit a tile, if whole lines are asked for; single lines otherwise.
    fn lines_in_tile(self, columns: usize) -> usize {
        if columns == self.inner {
            (TILE / columns).max(1)
        } else {
            1
        }
    }

    /// Folds whole lines into `carries`.
    fn fold<T: Element, O: Operator<T::Acc>>(
        self,
        input: &[T],
        lines: Range<usize>,
        carries: &mut [T::Acc],
    ) {
        let scratch = &mut T::Scratch::default();
        let step = self.lines_in_tile(self.inner);
        for start in lines.clone().step_by(step) {
            let tile = self.place(start..lines.end.min(start + step));
            let tile = T::widen(
                &input[tile.start * self.inner..tile.end * self.inner],
                scratch,
            );
            vectorize(|| fold_lines::<T::Acc, O>(tile, carries, self.reverse));
        }
    }

    /// Scans some columns of some lines from `carries`.
    ///
    /// # Safety
    ///
    /// No other thread has access to their output.
    unsafe fn walk<T: Element, O: Operator<T::Acc>>(
        self,
        input: &[T],
        output: &Shared<'_, T>,
        lines: Range<usize>,
        columns: Range<usize>,
        carries: &mut [T::Acc],
    ) {
        let width = columns.len();
        let carries = &mut carries[..width];
        let scratch = &mut T::Scratch::default();
        let step = self.lines_in_tile(width);
        for start in lines.clone().step_by(step) {
            let tile = self.place(start..lines.end.min(start + step));
            let first = tile.start * self.inner + columns.start;
            let place = first..first + tile.len() * width;
            // SAFETY: several lines are only taken when they are whole, so that the place holds these columns alone,
            // which the caller has to itself.
            let output = unsafe { output.slice(place.clone()) };
            T::map(&input[place], output, scratch, |input, output| {
                vectorize(|| {
                    scan_lines::<T::Acc, O>(input, output, carries, self.exclusive, self.reverse)
                });
            });
        }
    }
}

/// Calls `kernel` with the carries.
///
/// Where lines are so short that the loop over one costs more than the work in it, the carries are copied to an
/// array of constant length, for which the inlined kernel has no such loop and no carry in memory: four columns take
/// half the time.
#[inline(always)]
fn with_carries<A: Copy>(carries: &mut [A], mut kernel: impl FnMut(&mut [A])) {
    #[inline(always)]
    fn with_array<A: Copy, const WIDTH: usize>(
        carries: &mut [A],
        kernel: &mut impl FnMut(&mut [A]),
    ) {
        let mut array: [A; WIDTH] = core::array::from_fn(|column| carries[column]);
        kernel(&mut array);
        carries.copy_from_slice(&array);
    }

    match carries.len() {
        2 => with_array::<A, 2>(carries, &mut kernel),
        3 => with_array::<A, 3>(carries, &mut kernel),
        4 => with_array::<A, 4>(carries, &mut kernel),
        8 => with_array::<A, 8>(carries, &mut kernel),
        _ => kernel(carries),
    }
}

#[inline(always)]
fn fold_lines<A: Accumulator, O: Operator<A>>(input: &[A], carries: &mut [A], reverse: bool) {
    with_carries(
        carries,
        #[inline(always)]
        |carries| {
            let width = carries.len();
            let fold_line = |line: &[A]| {
                column_groups::<A>(width, reverse, |columns| {
                    let carries = &mut carries[columns.clone()];
                    for (carry, &element) in carries.iter_mut().zip(&line[columns]) {
                        *carry = O::combine(*carry, element);
                    }
                });
            };
            if reverse {
                input.chunks_exact(width).rev().for_each(fold_line);
            } else {
                input.chunks_exact(width).for_each(fold_line);
            }
        },
    );
}

#[inline(always)]
fn scan_lines<A: Accumulator, O: Operator<A>>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    carries: &mut [A],
    exclusive: bool,
    reverse: bool,
) {
    with_carries(
        carries,
        #[inline(always)]
        |carries| {
            let width = carries.len();
            let lines = input
                .chunks_exact(width)
                .zip(output.chunks_exact_mut(width));
            let scan_line = |(line, output): (&[A], &mut [MaybeUninit<A>])| {
                column_groups::<A>(width, reverse, |columns| {
                    let carries = &mut carries[columns.clone()];
                    let output = &mut output[columns.clone()];
                    for ((output, &element), carry) in
                        output.iter_mut().zip(&line[columns]).zip(carries)
                    {
                        let before = *carry;
                        *carry = O::combine(before, element);
                        output.write(if exclusive { before } else { *carry });
                    }
                });
            };
            if reverse {
                lines.rev().for_each(scan_line);
            } else {
                lines.for_each(scan_line);
            }
        },
    );
}
