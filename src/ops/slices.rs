//! From positions to coordinates, and from padded results to exact ones.

use burn::backend::tensor::IntTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{IntDType, Shape, Slice};
use core::ops::Range;

/// The coordinates in a tensor of `shape` of row-major positions, one row each.
pub(crate) fn coordinates<B: Backend>(
    indices: IntTensor<B>,
    shape: &Shape,
    int_dtype: IntDType,
) -> IntTensor<B> {
    let count = indices.shape()[0];
    if count == 0 {
        // Burn's element-wise kernels do not take empty tensors on every backend.
        return B::int_empty([0, shape.num_dims()].into(), &indices.device(), int_dtype);
    }
    let mut stride: usize = shape.iter().product();
    let columns = shape.iter().map(|&size| {
        stride = stride.checked_div(size).unwrap_or(0).max(1);
        let coordinate = B::int_div_scalar(indices.clone(), (stride as i64).into());
        let coordinate = B::int_remainder_scalar(coordinate, (size.max(1) as i64).into());
        B::int_reshape(coordinate, [count, 1].into())
    });
    B::int_cat(columns.collect(), 1)
}

/// The slice of the first `count` entries.
pub(crate) fn first(count: usize) -> Slice {
    Slice::from(0..count)
}

/// A range along one of `rank` dimensions.
pub(crate) fn along(rank: usize, dim: usize, range: Range<usize>) -> Vec<Slice> {
    let mut slices = vec![Slice::full(); rank];
    slices[dim] = Slice::from(range);
    slices
}

/// The most that a view keeps alive, as a multiple of its own size. A view keeps its whole buffer.
pub(crate) const MOST_KEPT: usize = 8;

/// The first `count` slices along `dim`. Where all dimensions before it have size 1, they are the `front` of the tensor's
/// elements. Elsewhere a reshape copies a few of many, whose buffer has no gaps then.
///
/// A tensor without elements is reshaped. Burn's slice of it fails on CubeCL devices: it shortens the memory by the
/// size of the slices after the end.
pub(crate) fn first_slices<T: TensorMetadata>(
    tensor: T,
    dim: usize,
    count: usize,
    front: impl FnOnce(T, usize) -> T,
    slice: impl FnOnce(T, &[Slice]) -> T,
    reshape: impl Fn(T, Shape) -> T,
) -> T {
    let shape = tensor.shape();
    let (elements, found) = (shape.num_elements(), with_dim(&shape, dim, count));
    if elements == 0 {
        return reshape(tensor, found);
    }
    let kept = found.num_elements();
    if count == 0 || shape[..dim].iter().all(|&size| size == 1) {
        let flat = reshape(tensor, [elements].into());
        return reshape(front(flat, kept), found);
    }
    let slices = slice(tensor, &along(shape.num_dims(), dim, 0..count));
    if MOST_KEPT * count < shape[dim] {
        reshape(reshape(slices, [kept].into()), found)
    } else {
        slices
    }
}

/// Waits for the device and reads the number in a `[1]` tensor. The panic names the device: a remote one may be gone.
pub(crate) fn read_count<B: Backend>(count: IntTensor<B>) -> usize {
    let device = count.device();
    burn_backend::read_sync(B::int_into_data(count))
        .unwrap_or_else(|error| panic!("the count cannot be read back from {device:?}: {error}"))
        .iter::<i64>()
        .next()
        .expect("the count is one number") as usize
}

/// `shape` with `size` entries along `dim`.
pub(crate) fn with_dim(shape: &Shape, dim: usize, size: usize) -> Shape {
    let mut shape = shape.clone();
    shape[dim] = size;
    shape
}
