//! Rows one after the other, read as one flat sequence of vectors. A row may begin in the middle of a vector.
//!
//! In reverse the sequence is walked from its end: the first row in the order of the scan is the last in memory.
//!
//! Whole rows form spans. A place is found from the start of its span, where the numbers to divide are small: the fast
//! division holds below 2^31, and a tensor may have more elements.

use super::tensors::stored_at;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct FlatRows {
    /// Elements of a row.
    pub len: usize,
    pub divisor: FastDivmod<usize>,
    /// Vectors of the tensor.
    pub vectors: usize,
    pub rows: usize,
    /// Vectors and rows of a span.
    pub span: usize,
    pub rows_of_span: usize,
}

/// An element, in the order of the scan.
#[derive(CubeType)]
pub(crate) struct RowPlace {
    pub row: usize,
    /// Its number in the row.
    pub within: usize,
}

#[cube]
impl RowPlace {
    /// Goes on to the next element.
    pub fn advance(&mut self, len: usize) {
        let ends = self.within + 1 == len;
        self.row = select(ends, self.row + 1, self.row);
        self.within = select(ends, 0, self.within + 1);
    }
}

#[cube]
impl FlatRows {
    /// Where element `index` of a span is, in the order of the scan.
    pub fn place(&self, span: usize, index: usize) -> RowPlace {
        let (row, within) = self.divisor.div_mod(index);
        RowPlace {
            row: span * self.rows_of_span + row,
            within,
        }
    }

    /// The number of the element's row in memory; the last row's in the order of the scan, if the element lies beyond
    /// the tensor.
    pub fn line(&self, place: &RowPlace, #[comptime] reverse: bool) -> usize {
        stored_at(min(place.row, self.rows - 1), self.rows, reverse)
    }

    /// The element's position in its row in memory.
    pub fn position(&self, place: &RowPlace, #[comptime] reverse: bool) -> usize {
        stored_at(place.within, self.len, reverse)
    }
}
