//! Walks: scans whose state is more than an element, along any axis of inputs that lie anywhere.
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
//! Where there are too few columns to go round, a plane is cut along the axis, too: each piece is folded to its total first, the states before
//! all pieces are found in order, and then every piece is walked from its own; a stretch of pieces at a time, while it is in the shared cache.
//! Which it is depends on the shape alone, hence so do the bits of the result.

mod adjoint;
mod affine;
mod extremum;
mod fold;
mod log_sum_exp;
mod recurrence;
mod view;

pub(crate) use adjoint::recurrence_adjoint;
pub(crate) use extremum::extremum;
pub(crate) use fold::{Fold, Plain, fold_scan};
pub(crate) use log_sum_exp::{LogSumExp, Real};
pub(crate) use recurrence::recurrence;
pub(crate) use view::View;

use core::ops::Range;

use super::element::TILE;
use super::parallel;
use super::rows::{GRAIN, PARALLEL};

/// The most columns of a block: a line of them is a tile.
const WIDEST: usize = TILE;

/// Lines of planes of one column that are walked in one go.
const RUN: usize = TILE;

/// Tasks below which planes are cut along the axis.
const TASKS: usize = 8;

/// Elements of a piece: the work of one task.
const PIECE: usize = 1 << 14;

/// Pieces that are folded and then walked before the next ones are looked at.
const STRETCH: usize = 64;

/// The shape of what is walked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    pub(crate) outer: usize,
    pub(crate) len: usize,
    pub(crate) inner: usize,
    /// From the last line towards the first.
    pub(crate) reverse: bool,
}

/// Some columns of some lines of a plane. Lines are numbered in the order of the walk.
#[derive(Clone, Debug)]
struct Block {
    plane: usize,
    lines: Range<usize>,
    columns: Range<usize>,
}

/// What is carried along, and how.
trait Walk: Sync {
    type State: Copy + Send + Sync;

    fn lines(&self) -> Lines;

    /// Before the first line of a column.
    fn begin(&self, plane: usize, column: usize) -> Self::State;

    /// Of no lines.
    fn identity(&self) -> Self::State;

    /// The totals of a block's columns.
    fn fold(&self, block: Block, totals: &mut [Self::State]);

    /// The state behind a piece of this total, if it is that of walking the piece, up to rounding.
    fn behind(&self, state: Self::State, total: Self::State) -> Option<Self::State>;

    /// Takes the states of a block's columns through it, and writes its results if told so.
    ///
    /// # Safety
    ///
    /// If it writes, no other thread has access to the block's outputs.
    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool);
}

/// Walks all planes.
fn run<W: Walk>(walk: &W) {
    let lines = walk.lines();
    if lines.is_empty() {
        return;
    }
    let Lines {
        outer, len, inner, ..
    } = lines;
    let width = inner.min(WIDEST);
    let blocks = inner.div_ceil(width);
    let columns = |index: usize| index * width..inner.min((index + 1) * width);
    if outer * blocks < TASKS && len * width >= TASKS * PIECE {
        for plane in 0..outer {
            for block in 0..blocks {
                walk_cut(walk, plane, columns(block));
            }
        }
        return;
    }
    let one = |task: usize| {
        let (plane, columns) = (task / blocks, columns(task % blocks));
        let mut states = begin(walk, plane, columns.clone());
        let block = Block {
            plane,
            lines: 0..len,
            columns,
        };
        // SAFETY: no other task has these columns of this plane.
        unsafe { walk.walk(block, &mut states, true) };
    };
    let tasks = outer * blocks;
    if outer * len * inner < PARALLEL {
        (0..tasks).for_each(one);
        return;
    }
    let share = GRAIN.div_ceil(len * width);
    parallel::for_each(tasks.div_ceil(share), &|first| {
        (first * share..tasks.min((first + 1) * share)).for_each(one);
    });
}

fn begin<W: Walk>(walk: &W, plane: usize, columns: Range<usize>) -> Vec<W::State> {
    columns.map(|column| walk.begin(plane, column)).collect()
}

/// Walks some columns of a plane that is cut along the axis.
fn walk_cut<W: Walk>(walk: &W, plane: usize, columns: Range<usize>) {
    let Lines { len, .. } = walk.lines();
    let width = columns.len();
    let lines = (PIECE / width).max(1);
    let pieces = len.div_ceil(lines);
    let block = |piece: usize| Block {
        plane,
        lines: piece * lines..len.min((piece + 1) * lines),
        columns: columns.clone(),
    };
    let mut state = begin(walk, plane, columns.clone());
    let mut starts = vec![walk.identity(); STRETCH.min(pieces) * width];
    for first in (0..pieces).step_by(STRETCH) {
        let starts = &mut starts[..STRETCH.min(pieces - first) * width];
        parallel::for_each_part(starts, width, &|at, totals| {
            totals.fill(walk.identity());
            walk.fold(block(first + at / width), totals);
        });
        for (index, starts) in starts.chunks_exact_mut(width).enumerate() {
            let behind: Option<Vec<_>> = (state.iter().zip(&*starts))
                .map(|(&state, &total)| walk.behind(state, total))
                .collect();
            starts.copy_from_slice(&state);
            match behind {
                Some(behind) => state = behind,
                // SAFETY: nothing is written.
                None => unsafe { walk.walk(block(first + index), &mut state, false) },
            }
        }
        parallel::for_each_part(starts, width, &|at, states| {
            // SAFETY: each piece is written by one task.
            unsafe { walk.walk(block(first + at / width), states, true) };
        });
    }
}

impl Lines {
    fn is_empty(&self) -> bool {
        self.outer * self.len * self.inner == 0
    }

    fn elements(&self) -> usize {
        self.outer * self.len * self.inner
    }

    /// The line in memory that is the walk's `line`-th.
    fn stored(&self, line: usize) -> usize {
        match self.reverse {
            true => self.len - 1 - line,
            false => line,
        }
    }

    /// Where some columns of a line in memory lie in an output.
    fn place(&self, plane: usize, stored: usize, columns: &Range<usize>) -> Range<usize> {
        let first = (plane * self.len + stored) * self.inner;
        first + columns.start..first + columns.end
    }

    /// Where some lines of the only column lie in an output.
    fn run(&self, plane: usize, lines: &Range<usize>) -> Range<usize> {
        let first = plane * self.len;
        first + lines.start..first + lines.end
    }

    /// The lines of a block of one column in runs, as they lie in memory, in the order of the walk.
    fn runs(self, lines: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let end = lines.end;
        lines.step_by(RUN).map(move |first| {
            let last = end.min(first + RUN);
            match self.reverse {
                true => self.len - last..self.len - first,
                false => first..last,
            }
        })
    }
}
