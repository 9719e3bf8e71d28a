//! Where the rows of a strided tensor begin.

use super::tile::Row;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// The shape of a problem whose scan axis is the innermost: `outer…` rows of `vectors` vectors.
///
/// The output is contiguous. The input's rows are contiguous, too, but may lie anywhere: strides (in vectors) of any value,
/// 0 included, so that sliced, transposed and broadcast inputs are read in place.
#[derive(CubeType, CubeLaunch)]
pub(crate) struct RowsView {
    shape: Sequence<FastDivmod<usize>>,
    strides: Sequence<usize>,
    vectors: usize,
}

#[cube]
impl RowsView {
    /// The row number `index`.
    pub fn row(&self, index: usize) -> Row {
        let rank = self.shape.len().comptime();
        let mut rest = index;
        let mut input = 0usize;
        #[unroll]
        for i in 0..rank {
            let dim = comptime!(rank - 1 - i);
            let (quotient, position) = self.shape[dim].div_mod(rest);
            input += position * self.strides[dim];
            rest = quotient;
        }
        Row {
            input,
            output: index * self.vectors,
            vectors: self.vectors,
        }
    }
}

/// The launch argument of a [`RowsView`] over dimensions given as `(size, stride in vectors)`, outermost first.
pub(crate) fn rows_arg(outer: &[(usize, usize)], vectors: usize) -> RowsViewLaunch {
    let mut shape = SequenceArg::new();
    let mut strides = SequenceArg::new();
    for (size, stride) in outer {
        shape.push(*size);
        strides.push(*stride);
    }
    RowsViewLaunch::new(shape, strides, vectors)
}
