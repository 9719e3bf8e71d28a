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
    /// Where the input begins, in elements, as far as its alignment goes.
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
            offset: input.handle.offset_start.unwrap_or(0) as usize / dtype.size(),
            dtype,
            op,
            options,
        })
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

    /// The widest vector, in elements, in which the input can be read and the output written, given the widths the
    /// device offers: it divides every run and every stride.
    pub(crate) fn vector_size(&self, widths: impl Iterator<Item = usize>) -> usize {
        let run = if self.inner.is_empty() {
            self.len()
        } else {
            self.inner_count()
        };
        let across = if self.inner.is_empty() {
            0
        } else {
            self.axis.1
        };
        widths
            .filter(|width| {
                run % width == 0
                    && across % width == 0
                    && self.offset % width == 0
                    && self.outer.iter().all(|(_, stride)| stride % width == 0)
            })
            .max()
            .unwrap_or(1)
    }
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
    use super::merge;

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
}
