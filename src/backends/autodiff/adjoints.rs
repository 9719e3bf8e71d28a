//! The adjoint of each selection. Compaction and expansion are each other's adjoint, and so are scatter and gather.

use crate::ops::{ScanBackend, first_slices, with_dim};
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::{BoolDType, IntDType, Shape};

/// A selection, with what its adjoint needs.
#[derive(Clone, Debug)]
pub(super) enum Selection<B: ScanBackend> {
    /// Compaction of values of this shape to one dimension, exact or padded.
    Compact { mask: BoolTensor<B>, shape: Shape },
    /// Expansion of this number of values.
    Expand {
        mask: BoolTensor<B>,
        values: usize,
        int: IntDType,
    },
    /// Compaction along a dimension.
    CompactDim { mask: BoolTensor<B>, dim: usize },
    /// Expansion along a dimension, of values with this number of slices.
    ExpandDim {
        mask: BoolTensor<B>,
        dim: usize,
        slices: usize,
        int: IntDType,
    },
    /// Scatter to destinations, whose groups start at `offsets`.
    Scatter {
        destinations: IntTensor<B>,
        offsets: IntTensor<B>,
    },
    /// Gather from destinations, whose groups start at `offsets`.
    Gather {
        destinations: IntTensor<B>,
        offsets: IntTensor<B>,
    },
    /// Compaction of lines along a dimension.
    CompactAlong {
        mask: BoolTensor<B>,
        dim: usize,
        int: IntDType,
    },
    /// Repetition of rows.
    RepeatRows { offsets: IntTensor<B> },
    /// The first element of each run. The runs have these lengths, and `elements` elements in total.
    RunLengths {
        lengths: IntTensor<B>,
        elements: usize,
        bool_dtype: BoolDType,
    },
}

impl<B: ScanBackend> Selection<B> {
    pub(super) fn adjoint(self, grad: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Selection::Compact { mask, shape } => {
                B::float_reshape(B::float_expand_by_mask(grad, mask), shape)
            }
            Selection::Expand { mask, values, int } => {
                let (survivors, _) = B::float_compact_padded(grad, mask, true, int);
                fit::<B>(survivors, 0, values)
            }
            Selection::CompactDim { mask, dim } => B::float_expand_dim(grad, mask, dim),
            Selection::ExpandDim {
                mask,
                dim,
                slices,
                int,
            } => {
                let (survivors, _) = B::float_compact_dim_padded(grad, mask, dim, int);
                fit::<B>(survivors, dim, slices)
            }
            Selection::Scatter {
                destinations,
                offsets,
            } => B::float_gather_from(grad, destinations, offsets),
            Selection::Gather {
                destinations,
                offsets,
            } => B::float_scatter_to(grad, destinations, offsets),
            Selection::CompactAlong { mask, dim, int } => expand_along::<B>(grad, mask, dim, int),
            Selection::RepeatRows { offsets } => {
                B::float_segment_reduce(grad, offsets, ScanOp::Sum)
            }
            Selection::RunLengths {
                lengths,
                elements,
                bool_dtype,
            } => {
                if elements == 0 {
                    return grad;
                }
                let options = ScanOptions::default().exclusive();
                let starts = B::int_scan(lengths, 0, ScanOp::Sum, options);
                let heads = B::segment_starts(starts, elements, bool_dtype);
                B::float_expand_by_mask(grad, heads)
            }
        }
    }
}

/// Each line's survivors back at their places, zero elsewhere.
fn expand_along<B: ScanBackend>(
    grad: FloatTensor<B>,
    mask: BoolTensor<B>,
    dim: usize,
    int: IntDType,
) -> FloatTensor<B> {
    if grad.shape().num_elements() == 0 {
        return grad;
    }
    let options = ScanOptions::default().exclusive();
    let ranks = B::int_scan(
        B::bool_into_int(mask.clone(), int),
        dim,
        ScanOp::Sum,
        options,
    );
    let values = B::float_gather(dim, grad, ranks);
    B::float_mask_fill(values, B::bool_not(mask), 0.into())
}

/// Shortens or zero-pads `tensor` to `size` slices along `dim`: values beyond the trues have no effect and no gradient.
fn fit<B: ScanBackend>(tensor: FloatTensor<B>, dim: usize, size: usize) -> FloatTensor<B> {
    let shape = tensor.shape();
    if shape[dim] < size {
        let rest = with_dim(&shape, dim, size - shape[dim]);
        let zeros = B::float_zeros(rest, &tensor.device(), tensor.dtype().into());
        return B::float_cat(vec![tensor, zeros], dim);
    }
    first_slices(tensor, dim, size, B::float_slice, B::float_reshape)
}
