//! Tensors as slices, slices as tensors.

use super::cached_bytes;
use super::dtypes::by_size;
use crate::cpu::{self, Index};
use burn::backend::TensorMetadata;
use burn::tensor::{BoolDType, DType, IntDType, Shape};
use burn_flex::{FlexTensor, Layout};
use burn_std::BoolStore;

/// The elements of a contiguous tensor, read as `T`, which has the size of its dtype.
pub(super) fn elements<T: bytemuck::Pod>(tensor: &FlexTensor) -> &[T] {
    let layout = tensor.layout();
    let place = layout.start_offset()..layout.start_offset() + layout.num_elements();
    if place.is_empty() {
        // It may begin beyond its memory.
        return &[];
    }
    &bytemuck::cast_slice(tensor.bytes())[place]
}

/// A tensor read in place, walked along `dim`.
pub(super) fn view<T: bytemuck::Pod>(tensor: &FlexTensor, dim: usize) -> cpu::View<'_, T> {
    let layout = tensor.layout();
    cpu::View::new(
        bytemuck::cast_slice(tensor.bytes()),
        layout.start_offset(),
        layout.shape(),
        layout.strides(),
        dim,
    )
}

/// The elements of a tensor in row-major order, in place where they are in that order.
pub(super) fn row_major<T: bytemuck::Pod + Send + Sync>(
    tensor: &FlexTensor,
) -> cpu::RowMajor<'_, T> {
    if tensor.layout().is_contiguous() {
        return elements(tensor).into();
    }
    cpu::RowMajor::of(view(tensor, tensor.shape().num_dims() - 1))
}

/// A tensor of elements in row-major order.
pub(super) fn tensor<T: bytemuck::Pod + Send + Sync>(
    elements: Vec<T>,
    shape: Shape,
    dtype: DType,
) -> FlexTensor {
    FlexTensor::new(
        cached_bytes::bytes(elements),
        Layout::contiguous(shape),
        dtype,
    )
}

/// Indices as a tensor of type `int`, as [`by_index`](super::dtypes::by_index) has them found.
pub(super) fn indices<I: Index + bytemuck::Pod>(
    found: Vec<I>,
    shape: Shape,
    int: IntDType,
) -> FlexTensor {
    let dtype = int.into();
    let narrowed = found.iter().map(|index| index.to_usize());
    match DType::size(&dtype) {
        1 => tensor(narrowed.map(u8::from_usize).collect(), shape, dtype),
        2 => tensor(narrowed.map(u16::from_usize).collect(), shape, dtype),
        _ => tensor(found, shape, dtype),
    }
}

/// Bytes as a mask of this dtype.
pub(super) fn mask_tensor(bytes: Vec<u8>, dtype: BoolDType) -> FlexTensor {
    let shape = [bytes.len()].into();
    match dtype.into() {
        dtype @ DType::Bool(BoolStore::U32) => {
            let words: Vec<u32> = bytes.into_iter().map(u32::from).collect();
            tensor(words, shape, dtype)
        }
        dtype => tensor(bytes, shape, dtype),
    }
}

/// A count as a tensor of one element.
pub(super) fn count_tensor(count: usize, int_dtype: IntDType) -> FlexTensor {
    by_size!(int_dtype.into(), I => tensor(vec![I::from_usize(count)], [1].into(), int_dtype.into()))
}

/// The products of the dimensions before and after `dim`.
pub(super) fn around(shape: &Shape, dim: usize) -> (usize, usize) {
    (
        shape[..dim].iter().product(),
        shape[dim + 1..].iter().product(),
    )
}

/// The shape of a walk along `dim`.
pub(super) fn lines(shape: &Shape, dim: usize, reverse: bool) -> cpu::WalkShape {
    let (outer, inner) = around(shape, dim);
    cpu::WalkShape::new([outer, shape[dim], inner], reverse)
}
