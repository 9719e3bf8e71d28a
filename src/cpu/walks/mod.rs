//! Walks: scans whose state is more than an element, along any axis of inputs with any strides. The scans of
//! [`columns`](super::columns) are split in the same way.
//!
//! ```text
//!                 columns →
//!   axis    ┌────────┬────────┐
//!    ↓      │ piece  │ piece  │     a plane: `len` lines of `inner` columns. A walk goes down a block of columns with a
//!           ├────────┼────────┤     state for each, reads a line of every input and writes one of every output.
//!           │ piece  │ piece  │
//!           └────────┴────────┘
//! ```
//!
//! Lines are cut into pieces of a length that the walk alone decides. Where floats round, the state after a piece is
//! always found from the state before it and the total of the piece. So a column has the same bits whatever its
//! neighbours and the number of threads. Where there are too few columns for all threads, pieces are walked side by
//! side: each is first folded to its total, then the states before all pieces are found in order, then every piece is
//! walked from its state. Some pieces at a time take these steps, while they are in the shared cache.
//!
//! Small planes are walked as one, see [`WalkShape::abreast`].

mod abreast;
mod adjoint;
mod affine;
mod copied;
mod extremum;
mod fold;
mod fold_scan;
mod lines;
mod log_sum_exp;
mod places;
mod real;
mod recurrence;
mod row_part;
mod short_recurrence;
mod sink;
mod view;

pub(crate) use extremum::extremum;
pub(crate) use fold::{Plain, StateFold};
pub(crate) use fold_scan::fold_scan;
pub(crate) use lines::WalkShape;
pub(crate) use log_sum_exp::LogSumExpFold;
pub(crate) use recurrence::{recurrence, recurrence_adjoint};
pub(crate) use view::View;

use core::cell::LazyCell;
use core::ops::Range;

use super::element::TILE;
use super::parallel::{self, GRAIN};
use super::traits::ElementType;

/// The most columns of a block: a line of a block fits a tile. On 4096 x 4096 `f32`, sums in blocks of 256 columns take 1.4
/// times the time: the shorter the part of a line, the less of it the processor has fetched ahead.
pub(super) const WIDEST: usize = TILE;

/// The fewest columns of a block, if there are more: blocks are narrower than [`WIDEST`] where some threads would
/// otherwise have none. A piece of such a block and its decays take 2 MiB of `f32`.
const SLIMMEST: usize = 256;

/// The shortest block that is split along the axis, in pieces.
const SPLIT: usize = 8;

/// Lines of a piece of a single column, and elements that are worth a task.
pub(super) const PIECE: usize = 1 << 14;

/// Lines of a piece of several columns.
const PIECE_OF_COLUMNS: usize = 1 << 10;

/// Elements that are folded and then walked together.
const STRETCH: usize = 64 * PIECE;

/// Some columns of some lines of a plane. Lines are numbered in the order of the walk.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) plane: usize,
    pub(super) lines: Range<usize>,
    pub(super) columns: Range<usize>,
}

/// The state of a walk, and how an element changes it.
///
/// [`run`] calls a walk through a reference, a few times for each piece. So what splits and joins pieces is compiled
/// once for each type of state, and not for each walk.
pub(super) trait Walk: Sync {
    type State: Copy + Send + Sync;

    /// Whether walking through a piece rounds differently from joining its total.
    fn rounds(&self) -> bool;

    fn lines(&self) -> WalkShape;

    /// Lines of a piece.
    fn piece(&self) -> usize {
        if self.lines().are_rows() {
            PIECE
        } else {
            PIECE_OF_COLUMNS
        }
    }

    /// The states before the first line of some columns: see [`states_of`].
    fn begin(&self, _plane: usize, columns: Range<usize>) -> Vec<Self::State> {
        vec![self.identity(); columns.len()]
    }

    /// The total of no lines.
    fn identity(&self) -> Self::State;

    /// Finds the totals of a block's columns, given those of no lines.
    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        // SAFETY: nothing is written.
        unsafe { self.walk(block, totals, false) };
    }

    /// The state after a piece of this total, if walking the piece leads to the same state, up to rounding.
    fn after(&self, state: Self::State, total: Self::State) -> Option<Self::State>;

    /// Takes the states of a block's columns through it, and writes its results if `writes`.
    ///
    /// # Safety
    ///
    /// If it writes, no other thread has access to the block's outputs.
    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool);
}

/// The states that some columns of a plane begin with, given an initial value for each of its `inner` columns.
pub(super) fn states_of<T: ElementType, S>(
    initial: &[T],
    inner: usize,
    plane: usize,
    columns: Range<usize>,
    state: impl Fn(T::Acc) -> S,
) -> Vec<S> {
    let of_plane = &initial[plane * inner..(plane + 1) * inner];
    let values = of_plane[columns].iter();
    values.map(|value| state(value.to_acc())).collect()
}

/// Walks all planes.
pub(super) fn run<S: Copy + Send + Sync>(walk: &dyn Walk<State = S>) {
    let lines = walk.lines();
    if lines.is_empty() {
        return;
    }
    let WalkShape {
        outer, len, inner, ..
    } = lines;
    // Columns are independent: the width of a block changes no bit, so the number of threads may decide.
    let threads = rayon::current_num_threads();
    let width = match lines.abreast {
        Some(columns) => abreast::columns_of_block(len, columns),
        None => (inner / (2 * threads)).next_multiple_of(64).max(SLIMMEST),
    };
    let width = width.min(WIDEST).min(inner);
    let blocks = inner.div_ceil(width);
    let columns = |index: usize| index * width..inner.min((index + 1) * width);
    let tasks = outer * blocks;
    // Splitting costs a second reading.
    if 2 * tasks <= threads && len > walk.piece() && len * width >= SPLIT * PIECE {
        return parallel::inside(&mut || {
            for task in 0..tasks {
                Strip::new(walk, task / blocks, columns(task % blocks)).walk_side_by_side(threads);
            }
        });
    }
    let share = GRAIN.div_ceil(len * width);
    parallel::for_each_of(lines.elements(), tasks, share, &|task| {
        Strip::new(walk, task / blocks, columns(task % blocks)).walk_in_order();
    });
}

/// Some columns of a plane.
struct Strip<'a, S> {
    walk: &'a dyn Walk<State = S>,
    plane: usize,
    columns: Range<usize>,
    /// The states after the pieces that were walked.
    states: Vec<S>,
}

impl<'a, S: Copy + Send + Sync> Strip<'a, S> {
    fn new(walk: &'a dyn Walk<State = S>, plane: usize, columns: Range<usize>) -> Self {
        Self {
            walk,
            plane,
            states: walk.begin(plane, columns.clone()),
            columns,
        }
    }

    fn block(&self, lines: Range<usize>) -> Block {
        Block {
            plane: self.plane,
            lines,
            columns: self.columns.clone(),
        }
    }

    fn piece(&self, index: usize) -> Block {
        let lines = self.walk.piece();
        self.block(index * lines..self.walk.lines().len.min((index + 1) * lines))
    }

    fn pieces(&self) -> usize {
        self.walk.lines().len.div_ceil(self.walk.piece())
    }

    /// Moves the states past a piece that has these totals, and leaves the states before it in their place. Where a total
    /// may not be joined, the state is the one that `walked` leads to.
    fn advance(&mut self, totals: &mut [S], walked: impl FnOnce(&Self) -> Vec<S>) {
        let walked = LazyCell::new(|| walked(self));
        for (column, total) in totals.iter_mut().enumerate() {
            let after = self.walk.after(self.states[column], *total);
            *total = after.unwrap_or_else(|| walked[column]);
        }
        drop(walked);
        totals.swap_with_slice(&mut self.states);
    }

    /// Walks on this thread.
    fn walk_in_order(&mut self) {
        let last = self.pieces() - 1;
        if !self.walk.rounds() || last == 0 {
            let block = self.block(0..self.walk.lines().len);
            // SAFETY: no other task has these columns of this plane.
            return unsafe { self.walk.walk(block, &mut self.states, true) };
        }
        let mut totals = vec![self.walk.identity(); self.columns.len()];
        for index in 0..=last {
            let mut walked = self.states.clone();
            // SAFETY: as above.
            unsafe { self.walk.walk(self.piece(index), &mut walked, true) };
            if index < last {
                totals.fill(self.walk.identity());
                self.walk.fold(self.piece(index), &mut totals);
                self.advance(&mut totals, |_| walked);
            }
        }
    }

    /// Walks on all threads.
    fn walk_side_by_side(&mut self, threads: usize) {
        let width = self.columns.len();
        let size = self.walk.piece() * width;
        let pieces = self.pieces();
        let stretch = (STRETCH / size).max(threads).min(pieces);
        let share = (PIECE / size).max(1) * width;
        let mut starts = vec![self.walk.identity(); stretch * width];
        for first in (0..pieces).step_by(stretch) {
            let starts = &mut starts[..stretch.min(pieces - first) * width];
            starts.fill(self.walk.identity());
            self.for_each_piece(first, share, starts, &|piece, totals| {
                self.walk.fold(piece, totals);
            });
            for (index, starts) in starts.chunks_exact_mut(width).enumerate() {
                self.advance(starts, |strip| {
                    let mut states = strip.states.clone();
                    let piece = strip.piece(first + index);
                    // SAFETY: nothing is written.
                    unsafe { strip.walk.walk(piece, &mut states, false) };
                    states
                });
            }
            self.for_each_piece(first, share, starts, &|piece, states| {
                // SAFETY: each piece is written by one task.
                unsafe { self.walk.walk(piece, states, true) };
            });
        }
    }

    /// Calls `each` with every piece from `first` on, and with its states; a task takes `share` states.
    fn for_each_piece(
        &self,
        first: usize,
        share: usize,
        states: &mut [S],
        each: &(dyn Fn(Block, &mut [S]) + Sync),
    ) {
        let width = self.columns.len();
        parallel::for_each_part(states, share, &|at, states| {
            for (index, states) in states.chunks_exact_mut(width).enumerate() {
                each(self.piece(first + at / width + index), states);
            }
        });
    }
}
