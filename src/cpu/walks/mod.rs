//! Walks: scans whose state is more than an element, along any axis of inputs with any strides.
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
//! Where there are too few columns for all threads, a plane is split along the axis, too. Each piece is first folded to
//! its total, then the states before all pieces are found in order, then every piece is walked from its state. Some
//! pieces at a time take these steps, while they are in the shared cache. The shape alone decides whether a plane is
//! split, and with it the bits of the result.

mod adjoint;
mod affine;
mod extremum;
mod fold;
mod fold_scan;
mod lines;
mod log_sum_exp;
mod places;
mod recurrence;
mod total;
mod view;

pub(crate) use adjoint::recurrence_adjoint;
pub(crate) use extremum::extremum;
pub(crate) use fold::{Fold, Plain};
pub(crate) use fold_scan::fold_scan;
pub(crate) use lines::Lines;
pub(crate) use log_sum_exp::{LogSumExp, Real};
pub(crate) use recurrence::recurrence;
pub(crate) use view::View;

use core::ops::Range;

use super::element::TILE;
use super::parallel::{self, GRAIN};

/// The most columns of a block: a line of a block fits a tile.
const WIDEST: usize = TILE;

/// Tasks below which planes are split along the axis.
const TASKS: usize = 8;

/// Elements of a piece: the work of one task.
const PIECE: usize = 1 << 14;

/// Pieces that are folded and then walked together.
const STRETCH: usize = 64;

/// Some columns of some lines of a plane. Lines are numbered in the order of the walk.
#[derive(Clone, Debug)]
struct Block {
    plane: usize,
    lines: Range<usize>,
    columns: Range<usize>,
}

/// The state of a walk, and how an element changes it.
trait Walk: Sync {
    type State: Copy + Send + Sync;

    fn lines(&self) -> Lines;

    /// The state before the first line of a column.
    fn begin(&self, plane: usize, column: usize) -> Self::State;

    /// The total of no lines.
    fn identity(&self) -> Self::State;

    /// Finds the totals of a block's columns.
    fn fold(&self, block: Block, totals: &mut [Self::State]);

    /// The state behind a piece of this total, if walking the piece leads to the same state, up to rounding.
    fn behind(&self, state: Self::State, total: Self::State) -> Option<Self::State>;

    /// Takes the states of a block's columns through it, and writes its results if `writes`.
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
                walk_split(walk, plane, columns(block));
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
    let share = GRAIN.div_ceil(len * width);
    parallel::for_each_of(outer * len * inner, tasks, share, &one);
}

/// The states before the first line of some columns.
fn begin<W: Walk>(walk: &W, plane: usize, columns: Range<usize>) -> Vec<W::State> {
    columns.map(|column| walk.begin(plane, column)).collect()
}

/// Walks some columns of a plane that is split along the axis.
fn walk_split<W: Walk>(walk: &W, plane: usize, columns: Range<usize>) {
    let Lines { len, .. } = walk.lines();
    let width = columns.len();
    let lines = (PIECE / width).max(1);
    let pieces = len.div_ceil(lines);
    let block = |piece: usize| Block {
        plane,
        lines: piece * lines..len.min((piece + 1) * lines),
        columns: columns.clone(),
    };
    let mut states = begin(walk, plane, columns.clone());
    let mut starts = vec![walk.identity(); STRETCH.min(pieces) * width];
    for first in (0..pieces).step_by(STRETCH) {
        let starts = &mut starts[..STRETCH.min(pieces - first) * width];
        parallel::for_each_part(starts, width, &|at, totals| {
            totals.fill(walk.identity());
            walk.fold(block(first + at / width), totals);
        });
        for (index, starts) in starts.chunks_exact_mut(width).enumerate() {
            let behind: Option<Vec<_>> = (states.iter().zip(&*starts))
                .map(|(&state, &total)| walk.behind(state, total))
                .collect();
            starts.copy_from_slice(&states);
            match behind {
                Some(behind) => states = behind,
                // SAFETY: nothing is written.
                None => unsafe { walk.walk(block(first + index), &mut states, false) },
            }
        }
        parallel::for_each_part(starts, width, &|at, states| {
            // SAFETY: each piece is written by one task.
            unsafe { walk.walk(block(first + at / width), states, true) };
        });
    }
}
