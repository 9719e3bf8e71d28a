//! Lines shifted by one in the order of a scan.

use super::{ScanOps, with_dim};
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Slice;

/// At each position of a scan the next element; 0 at the last position.
pub(crate) fn next_elements<B: ScanOps>(
    tensor: FloatTensor<B>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let end = zeros_of_a_line::<B>(&tensor, dim);
    let len = tensor.shape()[dim];
    let parts = if reverse {
        vec![end, part::<B>(tensor, dim, 0..len - 1)]
    } else {
        vec![part::<B>(tensor, dim, 1..len), end]
    };
    B::float_cat(parts, dim)
}

/// At each position of a scan the element before it; at the first position, `first` or 0 if absent.
pub(crate) fn previous_elements<B: ScanOps>(
    tensor: FloatTensor<B>,
    first: Option<FloatTensor<B>>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let first = first.unwrap_or_else(|| zeros_of_a_line::<B>(&tensor, dim));
    let len = tensor.shape()[dim];
    let parts = if reverse {
        vec![part::<B>(tensor, dim, 1..len), first]
    } else {
        vec![first, part::<B>(tensor, dim, 0..len - 1)]
    };
    B::float_cat(parts, dim)
}

/// The element at the first position of a scan.
pub(crate) fn first<B: ScanOps>(
    tensor: FloatTensor<B>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let len = tensor.shape()[dim];
    if reverse {
        part::<B>(tensor, dim, len - 1..len)
    } else {
        part::<B>(tensor, dim, 0..1)
    }
}

fn zeros_of_a_line<B: ScanOps>(tensor: &FloatTensor<B>, dim: usize) -> FloatTensor<B> {
    let shape = with_dim(&tensor.shape(), dim, 1);
    B::float_zeros(shape, &tensor.device(), tensor.dtype().into())
}

fn part<B: ScanOps>(
    tensor: FloatTensor<B>,
    dim: usize,
    range: core::ops::Range<usize>,
) -> FloatTensor<B> {
    let mut slices = vec![Slice::full(); tensor.shape().num_dims()];
    slices[dim] = Slice::from(range);
    B::float_slice(tensor, &slices)
}
