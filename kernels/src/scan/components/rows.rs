//! Where the rows of a strided tensor begin.

use super::tile::Row;
use crate::scan::problem::Dim;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// The rows of tensors whose scan axis is the innermost: `outer…` rows of `vectors` vectors.
///
/// The output is contiguous. Each row of an input is contiguous, but rows may lie anywhere: strides have any value, 0
/// included. So sliced, transposed and broadcast inputs are read in place. Each input has its own strides. Strides and
/// lengths are in vectors, or in elements if rows are read element by element.
#[derive(CubeType, CubeLaunch)]
pub(crate) struct RowsView {
    outer: OuterDims,
    vectors: usize,
    stored: usize,
}

/// The dimensions before the axis, outermost first.
#[derive(CubeType, CubeLaunch)]
pub(crate) struct OuterDims {
    shape: Sequence<FastDivmod<usize>>,
    /// The strides of each input.
    strides: Sequence<Sequence<usize>>,
}

#[cube]
impl OuterDims {
    /// Where combination `index` of their coordinates begins in each input, plus `first`.
    pub fn begins(&self, index: usize, first: usize) -> Sequence<usize> {
        let rank = self.shape.len().comptime();
        let mut rest = index;
        let mut positions = Sequence::<usize>::new();
        #[unroll]
        for i in 0..rank {
            let dim = comptime!(rank - 1 - i);
            let (quotient, position) = self.shape[dim].div_mod(rest);
            positions.push(position);
            rest = quotient;
        }
        let mut inputs = Sequence::<usize>::new();
        #[unroll]
        for input in 0..self.strides.len().comptime() {
            let mut at = first;
            #[unroll]
            for i in 0..rank {
                at += positions[i] * self.strides[input][comptime!(rank - 1 - i)];
            }
            inputs.push(at);
        }
        inputs
    }
}

#[cube]
impl RowsView {
    pub fn row(&self, index: usize) -> Row {
        Row {
            inputs: self.outer.begins(index, 0usize.runtime()),
            output: index * self.stored,
            vectors: self.vectors,
            stored: self.stored,
        }
    }
}

/// The dimensions of this number of inputs, with strides in vectors of `lanes`.
pub(crate) fn outer_dims(dims: &[Dim], inputs: usize, lanes: usize) -> OuterDimsLaunch {
    let strides_of = |input| dims.iter().map(move |dim: &Dim| dim.strides[input] / lanes);
    OuterDimsLaunch::new(
        dims.iter().map(|dim| dim.size).collect(),
        (0..inputs)
            .map(|input| strides_of(input).collect())
            .collect(),
    )
}
