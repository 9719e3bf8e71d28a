//! The shape of a walk, and where its lines lie.

use core::ops::Range;

use super::super::element::TILE;
use super::super::short_rows::SHORT;

/// Lines of planes of one column that are walked together.
pub(super) const CHUNK: usize = TILE;

/// The fewest columns of a plane that is walked on its own. Not measured.
pub(super) const MANY: usize = 64;

/// The fewest columns of long lines that are walked side by side. In chunks, segmented sums of 4 columns take 0.41 times
/// as long, of 8 columns 0.94 times, and of 12 columns 1.25 times.
const FEW: usize = 9;

/// The shape of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkShape {
    pub(crate) outer: usize,
    pub(crate) len: usize,
    pub(crate) inner: usize,
    /// From the last line towards the first.
    pub(crate) reverse: bool,
    /// The columns of a plane, if those of all planes are walked as one plane's, see [`Self::abreast`].
    pub(super) abreast: Option<usize>,
}

impl WalkShape {
    pub(crate) fn new([outer, len, inner]: [usize; 3], reverse: bool) -> Self {
        Self {
            outer,
            len,
            inner,
            reverse,
            abreast: None,
        }
    }

    /// The columns of small planes as those of one plane. A plane alone would cost more than its elements, and an
    /// element of a row would wait for the one before it.
    ///
    /// A single row is walked in another way. The length decides, so the bits do not depend on the number of rows.
    pub(super) fn abreast(self) -> Self {
        if self.len <= SHORT && self.inner < MANY {
            Self {
                outer: 1,
                inner: self.outer * self.inner,
                abreast: Some(self.inner),
                ..self
            }
        } else {
            self
        }
    }

    /// Whether planes have a single column, whose lines lie one after the other.
    pub(super) fn are_rows(&self) -> bool {
        self.inner == 1 && self.abreast.is_none()
    }

    /// Whether planes have a few columns, which a walk takes one after the other: a line costs more than its elements.
    pub(super) fn are_few(&self) -> bool {
        self.inner < FEW && self.abreast.is_none()
    }

    /// Whether the shape has no elements.
    pub(super) fn is_empty(&self) -> bool {
        self.outer * self.len * self.inner == 0
    }

    /// How many elements the shape has.
    pub(super) fn elements(&self) -> usize {
        self.outer * self.len * self.inner
    }

    /// The line in memory that is the walk's `line`-th.
    pub(in super::super) fn stored(&self, line: usize) -> usize {
        if self.reverse {
            self.len - 1 - line
        } else {
            line
        }
    }

    /// Some lines of the walk, as the first of them in memory and the columns of all of them as those of one line.
    pub(in super::super) fn joined(
        &self,
        lines: &Range<usize>,
        columns: &Range<usize>,
    ) -> (usize, Range<usize>) {
        let first = if self.reverse {
            self.len - lines.end
        } else {
            lines.start
        };
        (
            first,
            columns.start..columns.start + lines.len() * columns.len(),
        )
    }

    /// Where some columns of a line in memory lie in an output. They lie side by side unless planes are abreast.
    pub(in super::super) fn place(
        &self,
        plane: usize,
        stored: usize,
        columns: &Range<usize>,
    ) -> Range<usize> {
        let first = (plane * self.len + stored) * self.inner;
        first + columns.start..first + columns.end
    }

    /// Where some lines of the only column lie in an output.
    pub(super) fn chunk(&self, plane: usize, lines: &Range<usize>) -> Range<usize> {
        let first = plane * self.len;
        first + lines.start..first + lines.end
    }

    /// The lines of a block of one column in chunks, as they lie in memory, in the order of the walk.
    pub(super) fn chunks(self, lines: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let end = lines.end;
        lines.step_by(CHUNK).map(move |first| {
            let last = end.min(first + CHUNK);
            if self.reverse {
                self.len - last..self.len - first
            } else {
                first..last
            }
        })
    }
}
