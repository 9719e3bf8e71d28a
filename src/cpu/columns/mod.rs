//! Scans along an axis whose elements do not lie side by side.
//!
//! A plane is `len` lines of `inner` elements, and each of its columns is scanned on its own. A line of carries walks
//! along the axis and is combined with one line of the plane after the other. Neighbouring columns are neighbours in
//! memory, so every step is a plain vector loop. No column waits for another, so nothing has to be split to hide
//! latency.
//!
//! - Wide planes are split into blocks of columns, one for each task.
//! - Planes of few columns are split along the axis instead, see [`narrow`].
//!
//! Sums and products of floats are made in tiles of [`TILE`] lines, and the carry out of a tile is found from the carry
//! into it and the total of the tile. So a column has the same bits however the plane is split. After the first one, a
//! tile of sums is scanned from the identity, and what precedes it is added to each result: the carry out of it is the
//! last thing that it writes. Products leave the range of the type too easily for that: a tile of them is walked from
//! its carry, and its total is found on the way. Other operators are exact in any order.

pub(super) mod lines;
mod narrow;

use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::Shared;
use super::element::TILE;
use super::parallel::{self, GRAIN, PARALLEL};
use super::processor::{compiled_for, vectorize, widest};
use super::traits::{Accumulator, Combine, ElementType};
use lines::{MOST, fold_lines, scan_lines};

/// The most columns in a block: the carries of a block stay in the first-level cache.
///
/// On 4096 x 4096 `f32`, blocks of 256 columns take 1.4 times the time: the shorter the part of a line, the less of it
/// the processor has fetched ahead.
const WIDEST: usize = 1024;

/// The fewest columns in a block. Blocks are narrower than [`WIDEST`] where some threads would otherwise have none.
const SLIMMEST: usize = 256;

/// The widest plane that is split along the axis, in columns: below it there are too few blocks for all threads.
const NARROW: usize = 2 * SLIMMEST;

/// The shortest narrow plane that is split, in elements: enough pieces for all threads.
const LONG_PLANE: usize = 8 * narrow::PIECE;

/// The shape of a plane and the direction it is scanned in.
#[derive(Clone, Copy)]
struct Plane {
    len: usize,
    inner: usize,
    exclusive: bool,
    reverse: bool,
}

/// What a walk through a tile does in addition to the scan.
enum Extra<'a, A> {
    Nothing,
    /// It combines what precedes the tile with each result.
    Starts(&'a [A]),
    /// It folds the elements into these totals.
    Total(&'a mut [A]),
}

impl<A: Accumulator> Extra<'_, A> {
    /// Scans whole lines from `carries`.
    ///
    /// If wide lines are inlined, lines of 4,096 `f32` take a fifth more time. If narrow ones are a call, lines of 16 take
    /// up to a third more.
    #[inline(never)]
    fn walk<O: Combine<A>>(
        &mut self,
        input: &[A],
        output: &mut [MaybeUninit<A>],
        carries: &mut [A],
        plane: Plane,
    ) {
        match widest() {
            Some(vectors) if carries.len() <= MOST => compiled_for!(
                vectors,
                self.walk_lines::<O, false>(input, output, carries, plane)
            ),
            _ => vectorize!(self.walk_lines::<O, true>(input, output, carries, plane)),
        }
    }

    #[inline(always)]
    fn walk_lines<O: Combine<A>, const WIDE: bool>(
        &mut self,
        input: &[A],
        output: &mut [MaybeUninit<A>],
        carries: &mut [A],
        plane: Plane,
    ) {
        match self {
            Self::Starts(starts) if Self::has_starts::<O>() => {
                scan_lines::<A, O, true, WIDE>(input, output, carries, starts, plane);
            }
            Self::Total(total) if Self::has_totals::<O>() => {
                scan_lines::<A, O, false, WIDE>(input, output, carries, &[], plane);
                fold_lines::<A, O, WIDE>(input, total, plane.reverse);
            }
            _ => scan_lines::<A, O, false, WIDE>(input, output, carries, &[], plane),
        }
    }

    /// Whether a tile is scanned from the identity. Otherwise the compiler leaves that loop out, a third of the code.
    const fn has_starts<O: Combine<A>>() -> bool {
        O::IN_TILES && !A::EXACT
    }

    /// Whether totals are found apart from the carries.
    const fn has_totals<O: Combine<A>>() -> bool {
        !O::EXACT && !Self::has_starts::<O>()
    }
}

/// Scans each plane of `len` lines of `inner` elements along its lines.
pub(super) fn scan<T: ElementType, O: Combine<T::Acc>>(
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
                narrow::scan::<T, O>(plane, input, output);
            }
        });
        return;
    }
    scan_wide::<T, O>(plane, input, output);
}

/// Scans planes that are split into blocks of columns.
fn scan_wide<T: ElementType, O: Combine<T::Acc>>(
    plane: Plane,
    input: &[T],
    output: &mut [MaybeUninit<T>],
) {
    let Plane { len, inner, .. } = plane;
    let size = len * inner;
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
                // SAFETY: no other thread writes this plane.
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
    /// Scans some columns.
    ///
    /// # Safety
    ///
    /// No other thread has access to the output of these columns.
    unsafe fn scan_block<T: ElementType, O: Combine<T::Acc>>(
        self,
        input: &[T],
        output: &Shared<'_, T>,
        columns: Range<usize>,
    ) {
        let mut carries = [O::IDENTITY; WIDEST];
        // SAFETY: the caller's promise.
        unsafe { self.walk::<T, O>(input, output, 0..self.len, columns, &mut carries) };
    }

    /// The place in memory of some lines, which are numbered in the order of the scan.
    fn place(self, lines: Range<usize>) -> Range<usize> {
        if self.reverse {
            self.len - lines.end..self.len - lines.start
        } else {
            lines
        }
    }

    /// How many lines are taken together: as many as fit a tile if all columns are asked for, since these lie side by
    /// side, and one otherwise.
    fn lines_in_tile(self, columns: usize) -> usize {
        if columns == self.inner {
            (TILE / columns).max(1)
        } else {
            1
        }
    }

    /// The tiles of some lines.
    fn tiles<T: ElementType, O: Combine<T::Acc>>(
        lines: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> {
        let step = if O::EXACT { lines.len().max(1) } else { TILE };
        let end = lines.end;
        let tile = move |first| first..end.min(first + step);
        lines.step_by(step).map(tile)
    }

    /// Scans one column of some lines in order, or folds it if there is no output. Returns the carry out of them.
    ///
    /// # Safety
    ///
    /// No other thread has access to the output of this column.
    #[cold]
    unsafe fn walk_column<T: ElementType, O: Combine<T::Acc>>(
        self,
        input: &[T],
        output: Option<&Shared<'_, T>>,
        lines: Range<usize>,
        column: usize,
        carry: T::Acc,
    ) -> T::Acc {
        lines.fold(carry, |before, line| {
            let at = self.place(line..line + 1).start * self.inner + column;
            let carry = O::combine(before, input[at].to_acc());
            if let Some(output) = output {
                let result = T::from_acc(if self.exclusive { before } else { carry });
                // SAFETY: the caller's promise.
                unsafe { output.set(at, MaybeUninit::new(result)) };
            }
            carry
        })
    }

    /// Folds whole lines into `carries`.
    fn fold<T: ElementType, O: Combine<T::Acc>>(
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
            fold_tile::<T::Acc, O>(tile, carries, self.reverse);
        }
    }

    /// Scans some columns of some lines from `carries`. The first line is the first of a tile.
    ///
    /// # Safety
    ///
    /// No other thread has access to their output.
    unsafe fn walk<T: ElementType, O: Combine<T::Acc>>(
        self,
        input: &[T],
        output: &Shared<'_, T>,
        lines: Range<usize>,
        columns: Range<usize>,
        carries: &mut [T::Acc],
    ) {
        let carries = &mut carries[..columns.len()];
        let last = lines.end;
        for tile in Self::tiles::<T, O>(lines) {
            let is_last = tile.end == last;
            let is_first = tile.start == 0;
            if Extra::<T::Acc>::has_starts::<O>() && !is_first {
                // Clearing room for the widest block would take as long as walking a tile of few columns.
                let mut room = [const { MaybeUninit::uninit() }; WIDEST];
                let local = &mut room[..columns.len()];
                local.fill(MaybeUninit::new(O::IDENTITY));
                // SAFETY: all slots were written.
                let local = unsafe { local.assume_init_mut() };
                // SAFETY: the caller's promise.
                unsafe {
                    let extra = Extra::Starts(&*carries);
                    self.walk_tile::<T, O>(input, output, tile.clone(), &columns, local, extra);
                }
                for ((carry, &total), column) in
                    carries.iter_mut().zip(&*local).zip(columns.clone())
                {
                    let (lines, output) = (tile.clone(), Some(output));
                    *carry = if O::is_regular(*carry, total) {
                        O::combine(*carry, total)
                    } else {
                        // SAFETY: the caller's promise.
                        unsafe { self.walk_column::<T, O>(input, output, lines, column, *carry) }
                    };
                }
            } else if is_last || is_first || !Extra::<T::Acc>::has_totals::<O>() {
                // The total of a first tile is the carry out of it.
                let extra = Extra::Nothing;
                // SAFETY: the caller's promise.
                unsafe { self.walk_tile::<T, O>(input, output, tile, &columns, carries, extra) };
            } else {
                let [mut starts, mut room] = [[O::IDENTITY; WIDEST]; 2];
                let (starts, local) = (&mut starts[..columns.len()], &mut room[..columns.len()]);
                starts.copy_from_slice(carries);
                let extra = Extra::Total(local);
                // SAFETY: the caller's promise.
                unsafe { self.walk_tile::<T, O>(input, output, tile, &columns, carries, extra) };
                for ((carry, &start), &total) in carries.iter_mut().zip(&*starts).zip(&*local) {
                    if O::is_regular(start, total) {
                        *carry = O::combine(start, total);
                    }
                }
            }
        }
    }

    /// Scans some columns of some lines from `carries`, and does the `extra` work.
    ///
    /// # Safety
    ///
    /// No other thread has access to their output.
    unsafe fn walk_tile<T: ElementType, O: Combine<T::Acc>>(
        self,
        input: &[T],
        output: &Shared<'_, T>,
        lines: Range<usize>,
        columns: &Range<usize>,
        carries: &mut [T::Acc],
        mut extra: Extra<'_, T::Acc>,
    ) {
        let width = columns.len();
        let scratch = &mut T::Scratch::default();
        let step = self.lines_in_tile(width);
        for start in lines.clone().step_by(step) {
            let tile = self.place(start..lines.end.min(start + step));
            let first = tile.start * self.inner + columns.start;
            let place = first..first + tile.len() * width;
            // SAFETY: several lines are only taken when they are whole. So the place has only these columns, and no
            // other thread has access to them.
            let output = unsafe { output.slice(place.clone()) };
            T::map(&input[place], output, scratch, |input, output| {
                extra.walk::<O>(input, output, carries, self);
            });
        }
    }
}

/// Folds the whole lines of a tile into `carries`.
#[inline(never)]
fn fold_tile<A: Accumulator, O: Combine<A>>(tile: &[A], carries: &mut [A], reverse: bool) {
    match widest() {
        Some(vectors) => compiled_for!(vectors, fold_lines::<A, O, false>(tile, carries, reverse)),
        None => fold_lines::<A, O, true>(tile, carries, reverse),
    }
}
