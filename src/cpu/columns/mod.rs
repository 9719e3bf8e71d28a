//! Scans along an axis whose elements do not lie side by side.
//!
//! A plane is `len` lines of `inner` elements, and each of its columns is scanned on its own. A line of carries walks
//! along the axis and is combined with one line of the plane after the other. Neighbouring columns are neighbours in
//! memory, so every step is a plain vector loop. No column waits for another, so nothing has to be split to hide
//! latency. How planes are split among threads is that of all [`walks`](super::walks).
//!
//! Sums and products of floats are made in tiles of [`TILE`] lines, and the carry out of a tile is found from the carry
//! into it and the total of the tile. So a column has the same bits however the plane is split. After the first one, a
//! tile of sums is scanned from the identity, and what precedes it is added to each result: the carry out of it is the
//! last thing that it writes. Products leave the range of the type too easily for that: a tile of them is walked from
//! its carry, and its total is found on the way. Other operators are exact in any order.

pub(super) mod lines;

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::Shared;
use super::element::TILE;
use super::processor::{Widest, compiled_for, vectorize};
use super::traits::{Accumulator, Combine, ElementType};
use super::walks::{Block, PIECE, WIDEST, Walk, WalkShape, run, states_of};
use lines::{MOST, fold_lines, scan_lines};

/// Scans each plane of a contiguous `[outer, len, inner]` along its lines.
pub(super) fn scan<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    shape: [usize; 3],
    initial: Option<&[T]>,
    exclusive: bool,
    reverse: bool,
) {
    assert!(input.len() == output.len());
    run(&Columns::<T, O> {
        input,
        initial,
        output: Shared::new(output),
        shape: WalkShape::new(shape, reverse),
        exclusive,
        operator: PhantomData,
    });
}

struct Columns<'a, T, O> {
    input: &'a [T],
    /// What each column begins with.
    initial: Option<&'a [T]>,
    output: Shared<'a, T>,
    shape: WalkShape,
    exclusive: bool,
    operator: PhantomData<O>,
}

impl<T: ElementType, O: Combine<T::Acc>> Walk for Columns<'_, T, O> {
    type State = T::Acc;

    // A tile ends by joining its total.
    fn rounds(&self) -> bool {
        false
    }

    fn lines(&self) -> WalkShape {
        self.shape
    }

    fn piece(&self) -> usize {
        if O::EXACT {
            (PIECE / self.shape.inner).max(1)
        } else {
            TILE
        }
    }

    fn begin(&self, plane: usize, columns: Range<usize>) -> Vec<T::Acc> {
        match self.initial {
            None => vec![O::IDENTITY; columns.len()],
            Some(initial) => states_of(initial, self.shape.inner, plane, columns, |state| state),
        }
    }

    fn identity(&self) -> T::Acc {
        O::IDENTITY
    }

    fn fold(&self, block: Block, totals: &mut [T::Acc]) {
        self.fold_by::<O::Parts>(&block, totals);
    }

    fn after(&self, carry: T::Acc, total: T::Acc) -> Option<T::Acc> {
        O::is_regular(carry, total).then(|| O::combine(carry, total))
    }

    unsafe fn walk(&self, block: Block, carries: &mut [T::Acc], writes: bool) {
        if !writes {
            return self.fold_by::<O>(&block, carries);
        }
        let end = block.lines.end;
        let step = if O::EXACT { end } else { TILE };
        for start in block.lines.clone().step_by(step) {
            let tile = Block {
                lines: start..end.min(start + step),
                ..block.clone()
            };
            let follows = start > 0 || self.initial.is_some();
            // The total of a tile that follows nothing is the carry out of it, and no tile follows the last.
            let needs_total = follows && tile.lines.end < end;
            // SAFETY: the caller's promise.
            unsafe {
                if Extra::<T::Acc>::has_starts::<O>() && follows {
                    self.walk_after(&tile, carries);
                } else if Extra::<T::Acc>::has_totals::<O>() && needs_total {
                    self.walk_and_fold(&tile, carries);
                } else {
                    self.walk_tile(&tile, carries, Extra::Nothing);
                }
            }
        }
    }
}

impl<T: ElementType, O: Combine<T::Acc>> Columns<'_, T, O> {
    /// Folds a block into `carries`, by the operator or by that of parts.
    fn fold_by<P: Combine<T::Acc>>(&self, block: &Block, carries: &mut [T::Acc]) {
        let scratch = &mut T::Scratch::default();
        for place in self.places(block) {
            let tile = T::widen(&self.input[place], scratch);
            fold_tile::<T::Acc, P>(tile, carries, self.shape.reverse);
        }
    }

    /// The places of a block in memory, in the order of the walk: of as many lines as fit a tile if they lie side by
    /// side, and of one line otherwise.
    fn places(&self, block: &Block) -> impl Iterator<Item = Range<usize>> {
        let shape = self.shape;
        let Block {
            plane,
            lines,
            columns,
        } = block.clone();
        let step = if columns.len() == shape.inner {
            (TILE / columns.len()).max(1)
        } else {
            1
        };
        lines.clone().step_by(step).map(move |start| {
            let lines = start..lines.end.min(start + step);
            let (first, columns) = shape.joined(&lines, &columns);
            shape.place(plane, first, &columns)
        })
    }

    /// Scans a tile from the identity, and combines the carries with each result.
    ///
    /// # Safety
    ///
    /// As [`Walk::walk`], with which it writes.
    unsafe fn walk_after(&self, tile: &Block, carries: &mut [T::Acc]) {
        // Clearing room for the widest block would take as long as walking a tile of few columns.
        let mut room = [const { MaybeUninit::uninit() }; WIDEST];
        let local = &mut room[..carries.len()];
        local.fill(MaybeUninit::new(O::IDENTITY));
        // SAFETY: all slots were written.
        let local = unsafe { local.assume_init_mut() };
        // SAFETY: the caller's promise.
        unsafe { self.walk_tile(tile, local, Extra::Starts(&*carries)) };
        for ((carry, &total), column) in carries.iter_mut().zip(&*local).zip(tile.columns.clone()) {
            *carry = if O::is_regular(*carry, total) {
                O::combine(*carry, total)
            } else {
                // SAFETY: the caller's promise.
                unsafe { self.walk_column(tile, column, *carry) }
            };
        }
    }

    /// Walks a tile from the carries, and finds those out of it by its totals.
    ///
    /// # Safety
    ///
    /// As [`Walk::walk`], with which it writes.
    unsafe fn walk_and_fold(&self, tile: &Block, carries: &mut [T::Acc]) {
        let [mut starts, mut room] = [[O::IDENTITY; WIDEST]; 2];
        let (starts, totals) = (&mut starts[..carries.len()], &mut room[..carries.len()]);
        starts.copy_from_slice(carries);
        // SAFETY: the caller's promise.
        unsafe { self.walk_tile(tile, carries, Extra::Total(totals)) };
        for ((carry, &start), &total) in carries.iter_mut().zip(&*starts).zip(&*totals) {
            *carry = self.after(start, total).unwrap_or(*carry);
        }
    }

    /// Walks a tile from the carries, and does the extra work.
    ///
    /// # Safety
    ///
    /// As [`Walk::walk`], with which it writes.
    unsafe fn walk_tile(&self, tile: &Block, carries: &mut [T::Acc], mut extra: Extra<T::Acc>) {
        let (exclusive, reverse) = (self.exclusive, self.shape.reverse);
        let scratch = &mut T::Scratch::default();
        for place in self.places(tile) {
            // SAFETY: the place has only columns of the block, and no other thread has access to them.
            let output = unsafe { self.output.slice(place.clone()) };
            T::map(&self.input[place], output, scratch, |input, output| {
                extra.walk::<O>(input, output, carries, exclusive, reverse);
            });
        }
    }

    /// Scans one column of a tile in order. Returns the carry out of it.
    ///
    /// # Safety
    ///
    /// As [`Walk::walk`], with which it writes.
    #[cold]
    unsafe fn walk_column(&self, tile: &Block, column: usize, carry: T::Acc) -> T::Acc {
        tile.lines.clone().fold(carry, |before, line| {
            let column = column..column + 1;
            let stored = self.shape.stored(line);
            let at = self.shape.place(tile.plane, stored, &column).start;
            let carry = O::combine(before, self.input[at].to_acc());
            let result = T::from_acc(if self.exclusive { before } else { carry });
            // SAFETY: the caller's promise.
            unsafe { self.output.set(at, MaybeUninit::new(result)) };
            carry
        })
    }
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
        exclusive: bool,
        reverse: bool,
    ) {
        match Widest::test() {
            Some(vectors) if carries.len() <= MOST => compiled_for!(
                vectors,
                self.walk_lines::<O, false>(input, output, carries, exclusive, reverse)
            ),
            _ => vectorize!(self.walk_lines::<O, true>(input, output, carries, exclusive, reverse)),
        }
    }

    #[inline(always)]
    fn walk_lines<O: Combine<A>, const WIDE: bool>(
        &mut self,
        input: &[A],
        output: &mut [MaybeUninit<A>],
        carries: &mut [A],
        exclusive: bool,
        reverse: bool,
    ) {
        let total = match self {
            Self::Starts(starts) if Self::has_starts::<O>() => {
                return scan_lines::<A, O, true, WIDE>(
                    input, output, carries, starts, exclusive, reverse,
                );
            }
            Self::Total(total) if Self::has_totals::<O>() => Some(total),
            _ => None,
        };
        scan_lines::<A, O, false, WIDE>(input, output, carries, &[], exclusive, reverse);
        if let Some(total) = total {
            fold_lines::<A, O::Parts, WIDE>(input, total, reverse);
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

/// Folds the whole lines of a tile into `carries`.
#[inline(never)]
fn fold_tile<A: Accumulator, O: Combine<A>>(tile: &[A], carries: &mut [A], reverse: bool) {
    match Widest::test() {
        Some(vectors) => compiled_for!(vectors, fold_lines::<A, O, false>(tile, carries, reverse)),
        None => fold_lines::<A, O, true>(tile, carries, reverse),
    }
}
