//! The elements of a tensor in row-major order: read where they lie if they follow one another, and otherwise copied, a
//! few blocks at a time, which stay in the cache.

use std::borrow::Cow;

use core::ops::Range;

use super::walks::View;

/// Elements in a block: a task of some 10 µs, a hundred times the cost of handing it out.
pub(super) const BLOCK: usize = 1 << 14;

/// The most blocks that a task copies at once: a megabyte of `f32`. Rows of a transposed matrix share the lines of the
/// cache, so several are copied together.
const MOST_BLOCKS: usize = 16;

/// All threads together copy at most a part of the tensor in this many.
const PARTS: usize = 64;

/// The fewest rows of a transposed matrix that are copied together. With two of 16,384 elements a compaction took 1.8
/// times as long as after a copy of the whole, with eight of 4,096 three quarters (EPYC, 2^22 `f32`).
const FEWEST_ROWS: usize = 8;

/// Elements in row-major order.
pub(crate) enum RowMajor<'a, T: Copy> {
    InMemory(Cow<'a, [T]>),
    /// Along the last dimension.
    Apart(View<'a, T>),
}

impl<'a, T: Copy> From<&'a [T]> for RowMajor<'a, T> {
    fn from(elements: &'a [T]) -> Self {
        Self::InMemory(Cow::Borrowed(elements))
    }
}

impl<'a, T: Copy + Send + Sync> RowMajor<'a, T> {
    /// The elements of a view along its last dimension. They are copied as a whole if what is read at once holds few rows
    /// whose neighbours are other rows.
    pub(crate) fn of(view: View<'a, T>) -> Self {
        if let Some(elements) = view.rows() {
            return elements.into();
        }
        let at_once = BLOCK * blocks_at_once(view.len());
        if view.step.abs() == 1 || view.lines <= at_once / FEWEST_ROWS {
            Self::Apart(view)
        } else {
            Self::InMemory(Cow::Owned(view.copied()))
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::InMemory(elements) => elements.len(),
            Self::Apart(view) => view.len(),
        }
    }

    /// All elements, copied on all threads where they lie apart.
    pub(super) fn all(&self) -> Cow<'_, [T]> {
        match self {
            Self::InMemory(elements) => Cow::Borrowed(elements),
            Self::Apart(view) => Cow::Owned(view.copied()),
        }
    }

    /// The elements of these numbers.
    pub(super) fn read(&self, range: Range<usize>) -> Cow<'_, [T]> {
        match self {
            Self::InMemory(elements) => Cow::Borrowed(&elements[range]),
            Self::Apart(view) => Cow::Owned(view.copied_part(range)),
        }
    }

    /// How many blocks of [`BLOCK`] elements a task reads at once.
    pub(super) fn blocks_at_once(&self) -> usize {
        match self {
            Self::InMemory(_) => 1,
            Self::Apart(view) => blocks_at_once(view.len()),
        }
    }
}

fn blocks_at_once(len: usize) -> usize {
    let parts = PARTS * rayon::current_num_threads();
    (len / (BLOCK * parts)).clamp(1, MOST_BLOCKS)
}
