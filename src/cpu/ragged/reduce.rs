//! Reductions of segments, balanced by elements: one giant segment among a million small ones costs no more than its
//! bytes.
//!
//! ```text
//! blocks     |        0       |        1       |        2       |
//! segments    aaaa bbb ccccccccccccccccccccccccccccccccc dd eeee
//! written by  0    0   └ tail of 0 ⊕ all of 1 ⊕ head of 2 ┘ 2  2
//! ```
//!
//! A block is a fixed number of elements, but at least some rows: the columns of wider rows are taken in groups. So the
//! width and the offsets alone decide which elements are combined first, and so decide the bits.

use core::ops::Range;

use super::super::buffer::{Output, Shared, SharedSlice};
use super::super::element::TILE;
use super::super::parallel;
use super::super::traits::ElementType;
use super::super::walks::StateFold;
use super::bounds::Bounds;

/// Elements of a block, or of a group of its columns: the work of one task.
const BLOCK: usize = 1 << 14;

/// The most columns of a group. A block then has at least 16 rows, so its heads are small compared with its elements.
const COLUMNS: usize = TILE;

/// Reduces the rows of each segment of `values`, rows of `width` elements. The result of an empty segment is the
/// identity.
///
/// # Panics
///
/// If the values are not the rows that the bounds describe.
pub(crate) fn segment_reduce<T: ElementType, F: StateFold<T::Acc>>(
    values: &[T],
    bounds: &Bounds,
    width: usize,
) -> Vec<T> {
    assert_eq!(values.len(), bounds.len() * width, "whole rows");
    let mut output = Output::new(bounds.rows() * width);
    if width > 0 {
        let reduction = Reduction::<T, F> {
            values,
            bounds,
            width,
            rows: BLOCK / width.min(COLUMNS),
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
    bounds: &'a Bounds<'a>,
    width: usize,
    /// Rows of a block.
    rows: usize,
    output: Shared<'a, T>,
    fold: core::marker::PhantomData<F>,
}

impl<T: ElementType, F: StateFold<T::Acc>> Reduction<'_, T, F> {
    /// Writes all segments.
    fn run(&self) {
        let groups = self.width.div_ceil(COLUMNS);
        let columns = |group: usize| group * COLUMNS..self.width.min((group + 1) * COLUMNS);
        // One block more than the elements fill: segments that start at the very end have no elements.
        let blocks = self.bounds.len() / self.rows + 1;
        // For each block but the first, the state of its first elements, up to the first start of a segment.
        let mut heads = vec![F::NOTHING; (blocks - 1) * self.width];
        let head_of = SharedSlice::new(&mut heads);
        let one = |task: usize| {
            let (block, columns) = (task / groups, columns(task % groups));
            let head = match block.checked_sub(1).map(|before| before * self.width) {
                // SAFETY: each block's group is taken once.
                Some(at) => unsafe { head_of.slice(at + columns.start..at + columns.end) },
                None => &mut [],
            };
            self.block(block, columns, head);
        };
        parallel::for_each_of(self.values.len(), blocks * groups, 1, &one);
        // Segments that go beyond their block need the heads of later blocks.
        let crossing = self.bounds.crossing(self.rows);
        let one = |task: usize| {
            let (segment, block) = crossing[task / groups];
            self.finish(segment, block, columns(task % groups), &heads);
        };
        parallel::for_each_of(self.values.len(), crossing.len() * groups, 1, &one);
    }

    /// Writes some columns of the segments that start and end in a block, and folds its part of an earlier segment. The
    /// first block has no such part.
    fn block(&self, block: usize, columns: Range<usize>, head: &mut [F::State]) {
        let len = self.bounds.len();
        let first = block * self.rows;
        let end = len.min(first + self.rows);
        let is_last = first + self.rows > len;
        let segments = self.bounds.starting_in(first..end + usize::from(is_last));
        let before = match segments.start.checked_sub(1) {
            Some(segment) => self.bounds.row(segment).end.clamp(first, end),
            None => first,
        };
        let scratch = &mut T::Scratch::default();
        self.fold(first..before, &columns, head, scratch);
        let mut states = vec![F::NOTHING; columns.len()];
        for segment in segments {
            let rows = self.bounds.row(segment);
            if rows.end <= end {
                states.fill(F::NOTHING);
                self.fold(rows.clone(), &columns, &mut states, scratch);
                self.write(segment, &columns, &mut states);
            }
        }
    }

    /// Writes some columns of a segment that starts in one block and ends in another.
    fn finish(&self, segment: usize, block: usize, columns: Range<usize>, heads: &[F::State]) {
        let rows = self.bounds.row(segment);
        let mut states = vec![F::NOTHING; columns.len()];
        let scratch = &mut T::Scratch::default();
        let in_block = rows.start..(block + 1) * self.rows;
        self.fold(in_block, &columns, &mut states, scratch);
        let last = (rows.end - 1) / self.rows;
        for before in block..last {
            let at = before * self.width;
            let head = &heads[at + columns.start..at + columns.end];
            for (state, &head) in states.iter_mut().zip(head) {
                *state = F::Parts::join(*state, head);
            }
        }
        self.write(segment, &columns, &mut states);
    }

    /// Joins some columns of rows to their states. Clearing a scratch for each segment would take longer than segments of
    /// a few elements.
    fn fold(
        &self,
        rows: Range<usize>,
        columns: &Range<usize>,
        states: &mut [F::State],
        scratch: &mut T::Scratch,
    ) {
        if let (1, [state]) = (self.width, &mut *states) {
            for tile in self.values[rows].chunks(TILE) {
                *state = F::Parts::join(*state, F::of_all(T::widen(tile, scratch)));
            }
            return;
        }
        for row in rows {
            let first = row * self.width;
            let elements = &self.values[first + columns.start..first + columns.end];
            F::Parts::add_all(states, T::widen(elements, scratch));
        }
    }

    /// Writes some columns of a segment's result. A column is reduced once more, in order, if the joined state left the
    /// range of the type.
    fn write(&self, segment: usize, columns: &Range<usize>, states: &mut [F::State]) {
        let first = segment * self.width;
        // SAFETY: a segment starts in one block, which alone writes its groups, or it is written when all blocks have
        // ended.
        let slots = unsafe {
            self.output
                .slice(first + columns.start..first + columns.end)
        };
        for (column, (slot, state)) in columns.clone().zip(slots.iter_mut().zip(states)) {
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
