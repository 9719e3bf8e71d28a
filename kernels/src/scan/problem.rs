//! The geometry of a scan: `[outer…, len, inner…]` around the axis, and the strides of each input.

use cubecl::client::Client;
use cubecl::prelude::*;

/// What a scan leaves out and where it begins. The default is inclusive and forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScanOptions {
    /// `output[i]` leaves element `i` out. The first output is the identity, or what the line resumes from.
    pub exclusive: bool,
    /// From the last element towards the first.
    pub reverse: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    pub size: usize,
    /// Its stride in each input, in elements.
    pub strides: Vec<usize>,
}

/// The shape of a scan, reduced to what matters. Dimensions of size 1 are dropped. Neighbouring dimensions are merged
/// if they are contiguous in every input: a contiguous `[2, 3, 5, 7]` scanned along axis 2 is `outer [6], axis 5, inner
/// [7]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// The dimensions before the axis, outermost first.
    pub outer: Vec<Dim>,
    pub axis: Dim,
    /// The dimensions after the axis.
    pub inner: Vec<Dim>,
}

/// The longest rows with gaps that are copied. It is an estimate: on an H200 (2026-11-27, NVRTC 13.0) a cube for each
/// row takes [2^20, 3] 96 times as long as units that walk them, so half a nanosecond for each cube. In that time the
/// memory moves a copy of 130 elements of 32 bits.
const COPIED_ROW: usize = 128;

impl Lines {
    /// The lines along `axis` of tensors of one shape.
    pub(crate) fn of(tensors: &[TensorBinding], axis: usize) -> Self {
        let dim = |at: usize| Dim {
            size: tensors[0].shape[at],
            strides: tensors.iter().map(|tensor| tensor.strides[at]).collect(),
        };
        Self::of_dims((0..tensors[0].shape.len()).map(dim).collect(), axis)
    }

    /// The lines along `axis` of one contiguous input of this shape.
    pub(crate) fn contiguous(shape: &[usize], axis: usize) -> Self {
        let dim = |at: usize| Dim {
            size: shape[at],
            strides: vec![shape[at + 1..].iter().product()],
        };
        Self::of_dims((0..shape.len()).map(dim).collect(), axis)
    }

    fn of_dims(dims: Vec<Dim>, axis: usize) -> Self {
        let (outer, inner) = (&dims[..axis], &dims[axis + 1..]);
        Self {
            outer: merge(outer.iter().cloned()),
            axis: dims[axis].clone(),
            inner: merge(inner.iter().cloned()),
        }
    }

    /// Lines of one element are both rows and columns. Makes them rows if they lie side by side.
    pub(crate) fn with_single_elements_as_rows(mut self) -> Self {
        let dims = merge(self.outer.iter().chain(&self.inner).cloned());
        if self.len() == 1
            && let [Dim { strides, .. }] = dims.as_slice()
            && strides.iter().all(|stride| *stride == 1)
        {
            self.outer = dims;
            self.inner.clear();
        }
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.axis.size
    }

    /// The product of the dimensions before the axis.
    pub(crate) fn outer_count(&self) -> usize {
        count(&self.outer)
    }

    /// The product of the dimensions after the axis.
    pub(crate) fn inner_count(&self) -> usize {
        count(&self.inner)
    }

    pub(crate) fn elements(&self) -> usize {
        self.outer_count() * self.len() * self.inner_count()
    }

    /// Whether neighbouring units read neighbouring elements of each input: rows whose elements lie side by side, or
    /// columns that lie side by side.
    pub(crate) fn is_coalesced(&self) -> bool {
        let is_dense = |dim: &Dim| dim.strides.iter().all(|stride| *stride == 1);
        match self.inner.as_slice() {
            [] => is_dense(&self.axis) || self.len() == 1,
            [inner] => is_dense(inner),
            _ => false,
        }
    }

    /// Whether the rows of each input lie one after the other, without gaps.
    pub(crate) fn is_contiguous_rows(&self) -> bool {
        let follows = |dim: &Dim| dim.strides.iter().all(|stride| *stride == self.len());
        self.inner.is_empty()
            && match self.outer.as_slice() {
                [] => true,
                [dim] => follows(dim),
                _ => false,
            }
    }

    /// Whether rows are copied, since they lie apart: only rows without gaps share a cube, and a cube for each of these
    /// takes longer than the copy.
    pub(crate) fn are_short_with_gaps(&self) -> bool {
        self.inner.is_empty() && self.len() <= COPIED_ROW && !self.is_contiguous_rows()
    }

    /// The common alignment of inputs and outputs, which begin at `offset`: see [`widest_vector`].
    pub(crate) fn common_alignment(&self, offset: usize) -> usize {
        let or = |bits, dim: &Dim| dim.strides.iter().fold(bits, |bits, stride| bits | stride);
        let line = if self.inner.is_empty() {
            self.len()
        } else {
            or(self.inner_count(), &self.axis)
        };
        self.outer.iter().fold(offset | line, or)
    }

    /// As [`common_alignment`](Self::common_alignment), for tensors read as one flat sequence, whatever the length of
    /// their rows.
    pub(crate) fn flat_alignment(&self, offset: usize) -> usize {
        offset | self.elements()
    }
}

/// The widest vector of a device that divides a common alignment: the bitwise or of every length, stride and offset
/// that vectors must not straddle. Widths are powers of two, and a power of two divides several numbers if it divides
/// their bitwise or.
pub(crate) fn widest_vector(widths: impl Iterator<Item = usize>, common_alignment: usize) -> usize {
    widths
        .filter(|width| common_alignment % width == 0)
        .max()
        .unwrap_or(1)
}

/// How many elements of `size` bytes precede a tensor that begins at byte `begin`.
pub(crate) fn elements_before(begin: Option<u64>, size: usize) -> usize {
    begin.unwrap_or(0) as usize / size
}

/// Elements of the widest vector of the device that divides `len` and the place where each tensor begins. With each
/// tensor come the bytes of an element.
pub(crate) fn lanes_of(client: &Client, len: usize, tensors: &[(&TensorBinding, usize)]) -> usize {
    let largest = tensors.iter().map(|(_, size)| *size).max().unwrap_or(1);
    let begins = tensors
        .iter()
        .map(|(tensor, size)| elements_before(tensor.handle.offset_start, *size));
    widest_vector(
        client.io_optimized_vector_sizes(largest),
        begins.fold(len, |bits, begin| bits | begin),
    )
}

fn count(dims: &[Dim]) -> usize {
    dims.iter().map(|dim| dim.size).product()
}

/// Drops dimensions of size 1, and merges each dimension with its neighbour if the two are contiguous.
fn merge(dims: impl Iterator<Item = Dim>) -> Vec<Dim> {
    let mut merged: Vec<Dim> = Vec::new();
    for dim in dims.filter(|dim| dim.size != 1) {
        let follows = |outer: &Dim| {
            let mut pairs = outer.strides.iter().zip(&dim.strides);
            pairs.all(|(outer, inner)| *outer == dim.size * inner)
        };
        match merged.last_mut() {
            Some(outer) if follows(outer) => {
                outer.size *= dim.size;
                outer.strides = dim.strides;
            }
            _ => merged.push(dim),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pair = (usize, usize);

    /// Dimensions of a single input.
    fn dims(pairs: &[Pair]) -> Vec<Dim> {
        let dim = |&(size, stride): &Pair| Dim {
            size,
            strides: vec![stride],
        };
        pairs.iter().map(dim).collect()
    }

    fn merged(pairs: &[Pair]) -> Vec<Dim> {
        merge(dims(pairs).into_iter())
    }

    fn lines(outer: &[Pair], axis: Pair, inner: &[Pair]) -> Lines {
        Lines {
            outer: dims(outer),
            axis: dims(&[axis]).remove(0),
            inner: dims(inner),
        }
    }

    #[test]
    fn neighbours_are_one_dimension_if_they_are_contiguous_in_every_input() {
        let all = [(2, 105), (3, 35), (1, 9), (5, 7)];
        assert_eq!(merged(&all), dims(&[(30, 7)]));
        for apart in [[(4, 0), (3, 1)], [(4, 1), (3, 4)]] {
            assert_eq!(merged(&apart), dims(&apart), "broadcast or transposed");
        }
        assert_eq!(merged(&[(4, 0), (3, 0)]), dims(&[(12, 0)]), "all broadcast");
        let dim = |size, strides: [usize; 2]| Dim {
            size,
            strides: strides.to_vec(),
        };
        let both = [dim(4, [3, 6]), dim(3, [1, 2])];
        assert_eq!(merge(both.into_iter()), [dim(12, [1, 2])]);
        let one = [dim(4, [3, 0]), dim(3, [1, 1])];
        assert_eq!(merge(one.clone().into_iter()), one);
    }

    #[test]
    fn lines_of_one_element_are_rows_where_they_lie_side_by_side() {
        let rows = |lines: Lines| {
            let lines = lines.with_single_elements_as_rows();
            (lines.outer, lines.inner)
        };
        let side_by_side = lines(&[(4, 6)], (1, 6), &[(6, 1)]);
        assert_eq!(rows(side_by_side), (dims(&[(24, 1)]), vec![]));
        let with_gaps = lines(&[(4, 8)], (1, 6), &[(6, 1)]);
        assert_eq!(rows(with_gaps), (dims(&[(4, 8)]), dims(&[(6, 1)])));
        let longer = lines(&[(4, 12)], (2, 6), &[(6, 1)]);
        assert_eq!(rows(longer), (dims(&[(4, 12)]), dims(&[(6, 1)])));
    }

    #[test]
    fn coalesced_are_rows_and_columns_side_by_side() {
        let coalesced = |axis, inner: &[Pair]| lines(&[(3, 90)], axis, inner).is_coalesced();
        assert!(coalesced((9, 1), &[]));
        assert!(!coalesced((9, 2), &[]));
        assert!(coalesced((1, 2), &[]), "nothing to step over");
        assert!(coalesced((9, 5), &[(5, 1)]));
        assert!(!coalesced((9, 1), &[(5, 9)]));
        assert!(!coalesced((9, 10), &[(2, 3), (5, 1)]));
    }

    #[test]
    fn contiguous_rows_have_no_gaps() {
        let contiguous = |outer: &[Pair]| lines(outer, (9, 1), &[]).is_contiguous_rows();
        assert!(contiguous(&[]));
        assert!(contiguous(&[(3, 9)]));
        assert!(!contiguous(&[(3, 10)]));
        assert!(!contiguous(&[(3, 9), (2, 30)]));
        assert!(!lines(&[], (9, 5), &[(5, 1)]).is_contiguous_rows());
    }

    #[test]
    fn a_vector_straddles_nothing() {
        let wide = |outer: &[Pair], axis, inner: &[Pair], offset| {
            widest_vector(
                [1, 2, 4, 8].into_iter(),
                lines(outer, axis, inner).common_alignment(offset),
            )
        };
        assert_eq!(wide(&[], (16, 1), &[], 0), 8);
        assert_eq!(wide(&[], (12, 1), &[], 0), 4, "a row");
        assert_eq!(wide(&[(3, 16)], (16, 1), &[], 2), 2, "an offset");
        assert_eq!(wide(&[(3, 18)], (16, 1), &[], 0), 2, "a step between rows");
        assert_eq!(wide(&[(3, 0)], (16, 1), &[], 0), 8, "a broadcast");
        assert_eq!(wide(&[], (5, 16), &[(16, 1)], 0), 8, "any length");
        assert_eq!(wide(&[], (5, 20), &[(16, 1)], 0), 4, "a step along columns");
        assert_eq!(wide(&[], (5, 16), &[(10, 1)], 0), 2, "a number of columns");
        assert_eq!(wide(&[(3, 6)], (6, 1), &[], 0), 2, "a row and the step");
        assert_eq!(wide(&[], (5, 6), &[(6, 1)], 0), 2, "columns and the step");
        assert_eq!(wide(&[], (16, 1), &[], 4), 4, "one offset");
        assert_eq!(wide(&[], (16, 1), &[], 2 | 4), 2, "the smaller of two");
        assert_eq!(wide(&[], (16, 1), &[], 1), 1, "two alike, or one");
        assert_eq!(elements_before(None, 4), 0);
        assert_eq!(elements_before(Some(24), 4), 6);
    }

    #[test]
    fn a_flat_run_may_have_rows_of_any_length() {
        let wide = |outer: &[Pair], axis, offset| {
            let alignment = lines(outer, axis, &[]).flat_alignment(offset);
            widest_vector([4, 2].into_iter(), alignment)
        };
        assert_eq!(wide(&[(4, 3)], (3, 1), 0), 4);
        assert_eq!(wide(&[(4, 3)], (3, 1), 6), 2);
        assert_eq!(wide(&[(3, 3)], (3, 1), 0), 1);
        assert_eq!(wide(&[(2, 3)], (3, 1), 2), 2);
    }
}
