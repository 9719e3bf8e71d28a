//! The facts of one scan: `[outer…, len, inner…]`, strides, element type.

use crate::{ScanError, ScanOp, operator::accumulator_of};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// What a scan leaves out and where it begins. The default is inclusive and forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScanOptions {
    /// `output[i]` leaves element `i` out; the first output is the identity.
    pub exclusive: bool,
    /// From the last element towards the first.
    pub reverse: bool,
}

/// A dimension: its size and its stride in elements.
pub(crate) type Dim = (usize, usize);

/// A scan reduced to what decides how it is computed: dimensions of size 1 are gone and neighbours that lie one behind the
/// other are merged, so that a contiguous `[2, 3, 5, 7]` scanned along axis 2 is `outer [6], len 5, inner [7]`.
#[derive(Clone, Debug)]
pub(crate) struct ScanProblem {
    /// The dimensions before the axis, outermost first.
    pub outer: Vec<Dim>,
    /// The scan axis.
    pub axis: Dim,
    /// The dimensions after the axis.
    pub inner: Vec<Dim>,
    /// Where the input begins, in elements, as far as its alignment goes; and the output, see [`written_at`](Self::written_at).
    pub offset: usize,
    pub dtype: ElemType,
    pub op: ScanOp,
    pub options: ScanOptions,
}

impl ScanProblem {
    pub(crate) fn new(
        input: &TensorBinding,
        axis: usize,
        dtype: ElemType,
        op: ScanOp,
        options: ScanOptions,
    ) -> Result<Self, ScanError> {
        let rank = input.shape.len();
        if axis >= rank {
            return Err(ScanError::AxisOutOfRange { axis, rank });
        }
        let dims: Vec<Dim> = input
            .shape
            .iter()
            .copied()
            .zip(input.strides.iter().copied())
            .collect();
        Ok(Self {
            outer: merge(&dims[..axis]),
            axis: dims[axis],
            inner: merge(&dims[axis + 1..]),
            offset: elements_before(input.handle.offset_start, dtype.size()),
            dtype,
            op,
            options,
        })
    }

    /// The output begins at byte `begin` of its buffer; vectors are to divide both offsets.
    pub(crate) fn written_at(mut self, begin: Option<u64>) -> Self {
        self.offset |= elements_before(begin, self.dtype.size());
        self
    }

    /// Lines of one element are rows as well as columns: as rows, where they lie side by side.
    pub(crate) fn with_single_elements_as_rows(mut self) -> Self {
        let dims: Vec<Dim> = self.outer.iter().chain(&self.inner).copied().collect();
        if self.len() == 1
            && let [(size, 1)] = merge(&dims)[..]
        {
            self.outer = vec![(size, 1)];
            self.inner.clear();
        }
        self
    }

    pub(crate) fn accumulator(&self) -> ElemType {
        accumulator_of(self.dtype)
    }

    pub(crate) fn len(&self) -> usize {
        self.axis.0
    }

    /// How many independent scans there are before the axis.
    pub(crate) fn outer_count(&self) -> usize {
        count(&self.outer)
    }

    /// How many independent scans lie side by side.
    pub(crate) fn inner_count(&self) -> usize {
        count(&self.inner)
    }

    pub(crate) fn elements(&self) -> usize {
        self.outer_count() * self.len() * self.inner_count()
    }

    /// Whether neighbouring elements of the input are read by neighbouring units: rows whose elements lie side by side, or columns
    /// that do.
    pub(crate) fn is_coalesced(&self) -> bool {
        match self.inner.as_slice() {
            [] => self.axis.1 == 1 || self.len() == 1,
            [(_, stride)] => *stride == 1,
            _ => false,
        }
    }

    /// Whether the input is one contiguous run of rows.
    pub(crate) fn is_contiguous_rows(&self) -> bool {
        self.inner.is_empty()
            && match self.outer.as_slice() {
                [] => true,
                [(_, stride)] => *stride == self.len(),
                _ => false,
            }
    }

    /// What a vector in which the input is read and the output written has to divide, see [`widest`].
    pub(crate) fn granule(&self) -> usize {
        let strides = self.outer.iter().map(|(_, stride)| stride);
        let line = match self.inner.is_empty() {
            true => self.len(),
            false => self.inner_count() | self.axis.1,
        };
        strides.fold(self.offset | line, |all, stride| all | stride)
    }

    /// As [`granule`](Self::granule), of a tensor that is one flat run whatever the length of its rows.
    pub(crate) fn flat_granule(&self) -> usize {
        self.offset | self.elements()
    }
}

/// The widest vector, of those a device offers, that divides a granule: the bitwise or of every length, stride and offset that vectors must
/// not straddle. Widths are powers of two, and one of those divides several numbers where it divides their bitwise or.
pub(crate) fn widest(widths: impl Iterator<Item = usize>, granule: usize) -> usize {
    widths
        .filter(|width| granule % width == 0)
        .max()
        .unwrap_or(1)
}

/// How many elements of `size` bytes lie before byte `begin`, where a tensor begins.
pub(crate) fn elements_before(begin: Option<u64>, size: usize) -> usize {
    begin.unwrap_or(0) as usize / size
}

fn count(dims: &[Dim]) -> usize {
    dims.iter().map(|(size, _)| size).product()
}

/// Drops dimensions of size 1 and merges each with its neighbour where the two are one run.
fn merge(dims: &[Dim]) -> Vec<Dim> {
    let mut merged: Vec<Dim> = Vec::with_capacity(dims.len());
    for &(size, stride) in dims.iter().filter(|(size, _)| *size != 1) {
        match merged.last_mut() {
            Some((outer_size, outer_stride)) if *outer_stride == size * stride => {
                *outer_size *= size;
                *outer_stride = stride;
            }
            _ => merged.push((size, stride)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use cubecl::ir::{FloatKind, UIntKind};

    fn problem(outer: &[Dim], axis: Dim, inner: &[Dim], offset: usize) -> ScanProblem {
        ScanProblem {
            outer: outer.to_vec(),
            axis,
            inner: inner.to_vec(),
            offset,
            dtype: ElemType::Float(FloatKind::F16),
            op: ScanOp::Sum,
            options: ScanOptions::default(),
        }
    }

    #[test]
    fn contiguous_neighbours_become_one_dimension() {
        assert_eq!(merge(&[(2, 105), (3, 35), (1, 9), (5, 7)]), vec![(30, 7)]);
    }

    #[test]
    fn broadcast_and_transposed_dimensions_stay_apart() {
        assert_eq!(merge(&[(4, 0), (3, 1)]), vec![(4, 0), (3, 1)]);
        assert_eq!(merge(&[(4, 1), (3, 4)]), vec![(4, 1), (3, 4)]);
    }

    #[test]
    fn a_fully_broadcast_block_is_one_dimension() {
        assert_eq!(merge(&[(4, 0), (3, 0)]), vec![(12, 0)]);
    }

    #[test]
    fn counts() {
        let cut = problem(&[(2, 105), (3, 35)], (5, 7), &[(7, 1)], 0);
        assert_eq!((cut.outer_count(), cut.len(), cut.inner_count()), (6, 5, 7));
        assert_eq!(cut.elements(), 210);
        assert_eq!(problem(&[], (0, 1), &[(4, 1)], 0).elements(), 0);
    }

    #[test]
    fn halves_are_added_up_in_full_floats() {
        let floats = problem(&[], (8, 1), &[], 0);
        assert_eq!(floats.accumulator(), ElemType::Float(FloatKind::F32));
        let ints = ScanProblem {
            dtype: ElemType::UInt(UIntKind::U64),
            ..floats
        };
        assert_eq!(ints.accumulator(), ElemType::UInt(UIntKind::U64));
    }

    #[test]
    fn lines_of_one_element_are_rows_where_they_lie_side_by_side() {
        let rows = |problem: ScanProblem| {
            let problem = problem.with_single_elements_as_rows();
            (problem.outer, problem.inner)
        };
        let side_by_side = problem(&[(4, 6)], (1, 6), &[(6, 1)], 0);
        assert_eq!(rows(side_by_side), (vec![(24, 1)], vec![]));
        let with_gaps = problem(&[(4, 8)], (1, 6), &[(6, 1)], 0);
        assert_eq!(rows(with_gaps), (vec![(4, 8)], vec![(6, 1)]));
        let longer = problem(&[(4, 12)], (2, 6), &[(6, 1)], 0);
        assert_eq!(rows(longer), (vec![(4, 12)], vec![(6, 1)]));
    }

    #[test]
    fn coalesced_are_rows_and_columns_side_by_side() {
        let coalesced = |axis, inner: &[Dim]| problem(&[(3, 90)], axis, inner, 0).is_coalesced();
        assert!(coalesced((9, 1), &[]));
        assert!(!coalesced((9, 2), &[]));
        assert!(coalesced((1, 2), &[]), "nothing to step over");
        assert!(coalesced((9, 5), &[(5, 1)]));
        assert!(!coalesced((9, 1), &[(5, 9)]));
        assert!(!coalesced((9, 10), &[(2, 3), (5, 1)]));
    }

    #[test]
    fn contiguous_rows_have_no_gaps() {
        let contiguous = |outer: &[Dim]| problem(outer, (9, 1), &[], 0).is_contiguous_rows();
        assert!(contiguous(&[]));
        assert!(contiguous(&[(3, 9)]));
        assert!(!contiguous(&[(3, 10)]));
        assert!(!contiguous(&[(3, 9), (2, 30)]));
        assert!(!problem(&[], (9, 5), &[(5, 1)], 0).is_contiguous_rows());
    }

    #[test]
    fn a_vector_straddles_nothing() {
        let wide = |outer: &[Dim], axis, inner: &[Dim], offset| {
            widest(
                [1, 2, 4, 8].into_iter(),
                problem(outer, axis, inner, offset).granule(),
            )
        };
        assert_eq!(wide(&[], (16, 1), &[], 0), 8);
        assert_eq!(wide(&[], (12, 1), &[], 0), 4, "a row");
        assert_eq!(wide(&[(3, 16)], (16, 1), &[], 2), 2, "an offset");
        assert_eq!(wide(&[(3, 18)], (16, 1), &[], 0), 2, "a step between rows");
        assert_eq!(wide(&[(3, 0)], (16, 1), &[], 0), 8, "a broadcast");
        assert_eq!(
            wide(&[], (5, 16), &[(16, 1)], 0),
            8,
            "columns of any length"
        );
        assert_eq!(wide(&[], (5, 20), &[(16, 1)], 0), 4, "a step along columns");
        assert_eq!(wide(&[], (5, 16), &[(10, 1)], 0), 2, "a number of columns");
        assert_eq!(wide(&[], (7, 1), &[], 0), 1);
        assert_eq!(wide(&[(3, 6)], (6, 1), &[], 0), 2, "a row and the step");
        assert_eq!(wide(&[], (6, 1), &[], 2), 2, "a row and the offset");
        assert_eq!(wide(&[], (5, 6), &[(6, 1)], 0), 2, "columns and the step");
    }

    #[test]
    fn a_vector_begins_with_input_and_output() {
        assert_eq!(elements_before(None, 4), 0);
        assert_eq!(elements_before(Some(24), 4), 6);
        let wide = |offset, begin| {
            let problem = problem(&[], (16, 1), &[], offset).written_at(begin);
            widest([1, 2, 4, 8].into_iter(), problem.granule())
        };
        assert_eq!(wide(0, None), 8);
        assert_eq!(wide(0, Some(8)), 4, "the output");
        assert_eq!(wide(2, Some(8)), 2, "the input");
        assert_eq!(wide(1, Some(2)), 1, "both alike");
    }

    #[test]
    fn a_flat_run_may_have_rows_of_any_length() {
        let flat = |outer: &[Dim], axis, offset| problem(outer, axis, &[], offset).flat_granule();
        assert_eq!(widest([4, 2].into_iter(), flat(&[(4, 3)], (3, 1), 0)), 4);
        assert_eq!(widest([4, 2].into_iter(), flat(&[(4, 3)], (3, 1), 6)), 2);
        assert_eq!(widest([4, 2].into_iter(), flat(&[(3, 3)], (3, 1), 0)), 1);
        assert_eq!(widest([4, 2].into_iter(), flat(&[(2, 3)], (3, 1), 2)), 2);
    }
}
