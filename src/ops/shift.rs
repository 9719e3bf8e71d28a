//! Lines shifted by one in the order of a scan.

use super::{ScanOps, with_dim};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{Device, FloatTensor};
use burn::tensor::{DType, Shape, Slice, TensorData};

/// At each position of a scan the next element; 0 at the last position.
pub(crate) fn next_elements<B: ScanOps>(
    tensor: FloatTensor<B>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<B> {
    let end = line_of::<B>(&tensor, dim, 0.);
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

/// Zeros from the host. Burn fuses a fill of one element with pending operations on tensors without elements, and then
/// fills nothing.
pub(crate) fn zeros_from_host<B: ScanOps>(
    shape: Shape,
    device: &Device<B>,
    dtype: DType,
) -> FloatTensor<B> {
    let zeros = TensorData::zeros::<f32, _>(shape);
    B::float_from_data(zeros.convert_dtype(dtype), device)
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
