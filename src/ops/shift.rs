//! Lines shifted by one in the order of a scan.

use super::{ScanOps, along, with_dim};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{Device, FloatTensor};
use burn::tensor::{DType, Shape, TensorData};

/// At each position of a scan the next element; 0 at the last position.
pub(crate) fn next_elements<B: ScanOps>(
    tensor: FloatTensor<B>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let end = line_of::<B>(&tensor, dim, 0.);
    if tensor.shape()[dim] == 1 {
        return end;
    }
    // The last of the other direction is the first.
    let later = all_but_last::<B>(tensor, dim, !reverse);
    in_order::<B>(later, end, dim, reverse)
}

/// Elements of a scan, and those after them.
pub(crate) fn in_order<B: ScanOps>(
    earlier: FloatTensor<B>,
    later: FloatTensor<B>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let parts = if reverse {
        vec![later, earlier]
    } else {
        vec![earlier, later]
    };
    B::float_cat(parts, dim)
}

/// All elements but the last one of a scan.
pub(crate) fn all_but_last<B: ScanOps>(
    tensor: FloatTensor<B>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let len = tensor.shape()[dim];
    let seen = if reverse { 1..len } else { 0..len - 1 };
    part::<B>(tensor, dim, seen)
}

/// The same elements, but `last` at the last position of a scan.
#[cfg(feature = "autodiff")]
pub(crate) fn with_last<B: ScanOps>(
    tensor: FloatTensor<B>,
    dim: usize,
    reverse: bool,
    last: f64,
) -> FloatTensor<B> {
    let end = line_of::<B>(&tensor, dim, last);
    if tensor.shape()[dim] == 1 {
        return end;
    }
    let seen = all_but_last::<B>(tensor, dim, reverse);
    in_order::<B>(seen, end, dim, reverse)
}

/// At each position of a scan the element before it; at the first position, `first` or 0 if absent.
pub(crate) fn previous_elements<B: ScanOps>(
    tensor: FloatTensor<B>,
    first: Option<FloatTensor<B>>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let first = first.unwrap_or_else(|| line_of::<B>(&tensor, dim, 0.));
    if tensor.shape()[dim] == 1 {
        return first;
    }
    let seen = all_but_last::<B>(tensor, dim, reverse);
    in_order::<B>(first, seen, dim, reverse)
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

/// The same, which does not keep lines that are much longer.
#[cfg(feature = "autodiff")]
pub(crate) fn first_alone<B: ScanOps>(
    tensor: FloatTensor<B>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let len = tensor.shape()[dim];
    let first = first::<B>(tensor, dim, reverse);
    if len <= super::MOST_KEPT {
        first
    } else {
        B::float_mul_scalar(first, 1.into())
    }
}

/// One element of each line.
pub(crate) fn line_of<B: ScanOps>(
    tensor: &FloatTensor<B>,
    dim: usize,
    value: f64,
) -> FloatTensor<B> {
    let shape = with_dim(&tensor.shape(), dim, 1);
    let (device, dtype) = (tensor.device(), tensor.dtype().into());
    B::float_full(shape, value.into(), &device, dtype)
}

/// Zeros. Burn fuses a fill with pending operations on tensors of another shape where the fill has size 1. If those have
/// no elements, nothing is filled. So such zeros come from the host.
pub(crate) fn zeros<B: ScanOps>(shape: Shape, device: &Device<B>, dtype: DType) -> FloatTensor<B> {
    if !shape.contains(&1) {
        return B::float_zeros(shape, device, dtype.into());
    }
    let zeros = TensorData::zeros::<f32, _>(shape);
    B::float_from_data(zeros.convert_dtype(dtype), device)
}

fn part<B: ScanOps>(
    tensor: FloatTensor<B>,
    dim: usize,
    range: core::ops::Range<usize>,
) -> FloatTensor<B> {
    let rank = tensor.shape().num_dims();
    B::float_slice(tensor, &along(rank, dim, range))
}
