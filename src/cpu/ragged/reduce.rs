//! Reductions of segments, balanced by elements: one giant segment beside a million small ones costs no more than its
//! bytes do.
//!
//! ```text
//! blocks     |        0       |        1       |        2       |
//! segments    aaaa bbb ccccccccccccccccccccccccccccccccc dd eeee
//! written by  0    0   └ tail of 0 ⊕ all of 1 ⊕ head of 2 ┘ 2  2
//! ```
//!
//! A block is a fixed number of elements. So the offsets alone decide which elements are combined first, and with it
//! the bits.

use core::ops::Range;

use super::super::buffer::{Output, Shared};
use super::super::compress::Index;
use super::super::element::TILE;
use super::super::parallel;
use super::super::traits::Element;
use super::super::walks::Fold;
use super::bounds::Bounds;

/// Elements of a block: the work of one task.
const BLOCK: usize = 1 << 14;

/// Reduces the rows of each segment of `values`, rows of `width` elements. The result of an empty segment is the
/// identity.
///
/// # Panics
///
/// If there are no offsets, or if the values are not `len` rows.
pub(crate) fn segment_reduce<T: Element, F: Fold<T::Acc>, I: Index>(
    values: &[T],
    offsets: &[I],
    len: usize,
    width: usize,
) -> Vec<T> {
    assert_eq!(values.len(), len * width, "whole rows");
    let bounds = Bounds::new(offsets, len);
    let mut output = Output::new(bounds.rows() * width);
    if width > 0 {
        let reduction = Reduction::<T, F> {
            values,
            bounds: &bounds,
            width,
            rows: (BLOCK / width).max(1),
            output: Shared::new(output.slots()),
            fold: core::marker::PhantomData,
        };
        reduction.run();
    }
    // SAFETY: each segment starts in one block, which has written it, or `run` has. Segments without elements are
    // written, too.
    unsafe { output.finish() }
}

struct Reduction<'a, T, F> {
    values: &'a [T],
    bounds: &'a Bounds,
    width: usize,
    /// Rows of a block.
    rows: usize,
    output: Shared<'a, T>,
    fold: core::marker::PhantomData<F>,
}

impl<T: Element, F: Fold<T::Acc>> Reduction<'_, T, F> {
    /// Writes all segments.
    fn run(&self) {
        let len = self.bounds.len();
        // One block more than the elements fill: segments that start at the very end have no elements.
        let blocks = len / self.rows + 1;
        // For each block, the state of its first elements, up to the first start of a segment.
        let mut heads = vec![F::NOTHING; blocks * self.width];
        let one = |first: usize, head: &mut [F::State]| self.block(first / self.width, head);
        parallel::for_each_part_of(self.values.len(), &mut heads, self.width, &one);
        // Segments that go beyond their block need the heads of later blocks.
        for block in 0..blocks {
            let end = len.min((block + 1) * self.rows);
            let rows = self.bounds.starting_in(block * self.rows..end);
            if let Some(segment) = rows.last()
                && self.bounds.row(segment).end > end
            {
                self.finish(segment, block, &heads);
            }
        }
    }

    /// Writes the segments that start and end in a block, and folds its part of an earlier segment.
    fn block(&self, block: usize, head: &mut [F::State]) {
        let len = self.bounds.len();
        let first = block * self.rows;
        let end = len.min(first + self.rows);
        let is_last = first + self.rows > len;
        let segments = self.bounds.starting_in(first..end + usize::from(is_last));
        let before = match segments.start.checked_sub(1) {
            Some(segment) => self.bounds.row(segment).end.clamp(first, end),
            None => first,
        };
        self.fold(first..before, head);
        let mut states = vec![F::NOTHING; self.width];
        for segment in segments {
            let rows = self.bounds.row(segment);
            if rows.end <= end {
                states.fill(F::NOTHING);
                self.fold(rows.clone(), &mut states);
                self.write(segment, &mut states);
            }
        }
    }

    /// Writes a segment that starts in one block and ends in another.
    fn finish(&self, segment: usize, block: usize, heads: &[F::State]) {
        let rows = self.bounds.row(segment);
        let mut states = vec![F::NOTHING; self.width];
        self.fold(rows.start..(block + 1) * self.rows, &mut states);
        let last = (rows.end - 1) / self.rows;
        for block in block + 1..=last {
            let head = &heads[block * self.width..(block + 1) * self.width];
            for (state, &head) in states.iter_mut().zip(head) {
                *state = F::join(*state, head);
            }
        }
        self.write(segment, &mut states);
    }

    /// Joins rows to the states of their columns.
    fn fold(&self, rows: Range<usize>, states: &mut [F::State]) {
        let elements = &self.values[rows.start * self.width..rows.end * self.width];
        let scratch = &mut T::Scratch::default();
        if let [state] = states {
            for tile in elements.chunks(TILE) {
                *state = F::join(*state, F::of_all(T::widen(tile, scratch)));
            }
            return;
        }
        for row in elements.chunks_exact(self.width) {
            for (states, part) in states.chunks_mut(TILE).zip(row.chunks(TILE)) {
                F::add_all(states, T::widen(part, scratch));
            }
        }
    }

    /// Writes the result of a segment. It is reduced once more, in order, if the joined state left the range of the
    /// type.
    fn write(&self, segment: usize, states: &mut [F::State]) {
        let first = segment * self.width;
        // SAFETY: a segment starts in one block, which alone writes it, or it is written when all blocks have ended.
        let slots = unsafe { self.output.slice(first..first + self.width) };
        for (column, (slot, state)) in slots.iter_mut().zip(states).enumerate() {
            if !F::is_regular(F::NOTHING, *state) {
                *state = self.in_order(self.bounds.row(segment), column);
            }
            slot.write(T::from_acc(F::value(*state)));
        }
    }

    /// Reduces one column of some rows, one by one.
    #[cold]
    fn in_order(&self, rows: Range<usize>, column: usize) -> F::State {
        rows.fold(F::NOTHING, |state, row| {
            let element = self.values[row * self.width + column].to_acc();
            F::join(state, F::read(element))
        })
    }
}
