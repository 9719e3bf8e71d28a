//! The selections, by the keys of their rows in [`ops::selections`](crate::ops::selections).

use super::dtypes::{by_index, by_int, by_size};
use super::layouts::{InMemory, contiguous};
use super::masks::byte_mask;
use super::segments::repeat_rows;
use super::slices::{around, count_tensor, elements, indices, row_major, tensor};
use crate::cpu;
use crate::ops::rows::functions_of;
use crate::ops::selections::for_each_kind;
use crate::ops::{self, BoolSelectionOps, FloatSelectionOps, IntSelectionOps, with_dim};
use burn::backend::TensorMetadata;
use burn::backend::ops::FloatTensorOps;
use burn::tensor::{DType, IntDType};
use burn_flex::{Flex, FlexTensor};
use half::{bf16, f16};

for_each_kind! { functions_of(FlexTensor, FlexTensor, FlexTensor) Flex all }

fn compact(values: FlexTensor, mask: FlexTensor, _int: IntDType) -> FlexTensor {
    compacted(values, mask, false).0
}

fn compact_padded(
    values: FlexTensor,
    mask: FlexTensor,
    _fill: bool,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let (values, count) = compacted(values, mask, true);
    (values, count_tensor(count, int))
}

fn compacted(values: FlexTensor, mask: FlexTensor, padded: bool) -> (FlexTensor, usize) {
    let mask = byte_mask(mask);
    let mask = row_major(&mask);
    if cpu::all_true(&mask) {
        return (flat(values), mask.len());
    }
    by_size!(values.dtype(), T => {
        let (kept, count) = cpu::compact::<T>(&row_major(&values), &mask, padded);
        let shape = [kept.len()].into();
        (tensor(kept, shape, values.dtype()), count)
    })
}

/// Values in one dimension, in the same memory where they are contiguous.
fn flat(values: FlexTensor) -> FlexTensor {
    let len = values.shape().num_elements();
    contiguous(values).reshape([len].into())
}

/// The first values: a view if they are a fair part of the buffer, else a copy.
fn front(values: FlexTensor, count: usize) -> FlexTensor {
    let len = values.shape()[0];
    let front = Flex::float_slice(values, &[ops::first(count)]);
    if ops::MOST_KEPT * count >= len {
        return front;
    }
    let front = contiguous(front);
    by_size!(front.dtype(), T => tensor::<T>(elements(&front).to_vec(), [count].into(), front.dtype()))
}

fn first_slices(values: FlexTensor, dim: usize, count: usize) -> FlexTensor {
    let reshape = |values: FlexTensor, shape| values.reshape(shape);
    ops::first_slices(values, dim, count, front, Flex::float_slice, reshape)
}

fn expand_by_mask(values: FlexTensor, mask: FlexTensor) -> FlexTensor {
    let (values, mask) = (contiguous(values), byte_mask(mask));
    by_size!(values.dtype(), T => {
        let expanded = cpu::expand::<T>(elements(&values), &row_major(&mask));
        tensor(expanded, mask.shape(), values.dtype())
    })
}

fn compact_dim(values: FlexTensor, mask: FlexTensor, dim: usize, _int: IntDType) -> FlexTensor {
    compacted_dim(values, mask, dim, false).0
}

fn compact_dim_padded(
    values: FlexTensor,
    mask: FlexTensor,
    dim: usize,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let (values, count) = compacted_dim(values, mask, dim, true);
    (values, count_tensor(count, int))
}

fn compacted_dim(
    values: FlexTensor,
    mask: FlexTensor,
    dim: usize,
    padded: bool,
) -> (FlexTensor, usize) {
    let (values, mask) = (contiguous(values), contiguous(byte_mask(mask)));
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    by_size!(values.dtype(), T => {
        let mask = elements(&mask);
        let (kept, count) = cpu::compact_rows::<T>(elements(&values), mask, [outer, inner], padded);
        let slices = if padded { mask.len() } else { count };
        (tensor(kept, with_dim(&shape, dim, slices), values.dtype()), count)
    })
}

fn expand_dim(values: FlexTensor, mask: FlexTensor, dim: usize) -> FlexTensor {
    let (values, mask) = (contiguous(values), contiguous(byte_mask(mask)));
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    by_size!(values.dtype(), T => {
        let expanded = cpu::expand_rows::<T>(elements(&values), elements(&mask), outer, inner);
        tensor(expanded, with_dim(&shape, dim, mask.shape()[0]), values.dtype())
    })
}

fn compact_along(
    values: FlexTensor,
    mask: FlexTensor,
    dim: usize,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let mask = byte_mask(mask);
    let (shape, dtype) = (values.shape(), values.dtype());
    by_size!(dtype, T => by_index!(int, I => {
        if let Some([of_values, of_mask]) = InMemory::alike([&values, &mask], dim) {
            let (values, mask) = (of_values.elements::<T>(&values), of_mask.elements(&mask));
            let (kept, counts) = cpu::compact_lines::<T, I>(&values.into(), &mask.into(), of_values.axis);
            let of_counts = of_values.with_len(dim, 1);
            let counts = indices(counts, of_counts.shape().clone(), int).with_layout(of_counts);
            return (tensor(kept, shape, dtype).with_layout(of_values.layout), counts);
        }
        let (outer, inner) = around(&shape, dim);
        let lines = [outer, shape[dim], inner];
        let (kept, counts) = cpu::compact_lines::<T, I>(&row_major(&values), &row_major(&mask), lines);
        (tensor(kept, shape.clone(), dtype), indices(counts, with_dim(&shape, dim, 1), int))
    }))
}

fn run_lengths_padded(
    values: FlexTensor,
    _fill: bool,
    int: IntDType,
) -> (FlexTensor, FlexTensor, FlexTensor) {
    encode(values, int, true)
}

fn run_lengths(values: FlexTensor, int: IntDType) -> (FlexTensor, FlexTensor) {
    let (values, lengths, _) = encode(values, int, false);
    (values, lengths)
}

/// The runs of equal elements, and their number.
fn encode(values: FlexTensor, int: IntDType, padded: bool) -> (FlexTensor, FlexTensor, FlexTensor) {
    let values = contiguous(values);
    macro_rules! runs {
        ($T:ty) => {
            by_index!(int, I => {
                let (heads, lengths, count) = cpu::run_lengths::<$T, I>(elements(&values), padded);
                let len = [heads.len()];
                (
                    tensor(heads, len.into(), values.dtype()),
                    indices(lengths, len.into(), int),
                    count_tensor(count, int),
                )
            })
        };
    }
    // Integers and booleans are equal where their bits are.
    match values.dtype() {
        DType::F64 => runs!(f64),
        DType::F32 | DType::Flex32 => runs!(f32),
        DType::F16 => runs!(f16),
        DType::BF16 => runs!(bf16),
        _ => by_size!(values.dtype(), T => runs!(T)),
    }
}

fn scatter_to(values: FlexTensor, destinations: FlexTensor, _offsets: FlexTensor) -> FlexTensor {
    let (values, destinations) = (contiguous(values), contiguous(destinations));
    by_size!(values.dtype(), T => by_int!(destinations.dtype(), I => {
        let scattered = cpu::scatter::<T, I>(elements(&values), elements(&destinations));
        tensor(scattered, values.shape(), values.dtype())
    }))
}

fn gather_from(values: FlexTensor, destinations: FlexTensor, _offsets: FlexTensor) -> FlexTensor {
    let (values, destinations) = (contiguous(values), contiguous(destinations));
    by_size!(values.dtype(), T => by_int!(destinations.dtype(), I => {
        let gathered = cpu::gather::<T, I>(elements(&values), elements(&destinations));
        tensor(gathered, values.shape(), values.dtype())
    }))
}

fn partition(
    values: FlexTensor,
    keys: FlexTensor,
    num_keys: usize,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let (values, keys) = (contiguous(values), contiguous(keys));
    by_size!(values.dtype(), T => by_int!(keys.dtype(), K => by_index!(int, I => {
        let (grouped, offsets) = cpu::partition::<T, K, I>(elements(&values), elements(&keys), num_keys);
        (
            tensor(grouped, values.shape(), values.dtype()),
            indices(offsets, [num_keys + 1].into(), int),
        )
    })))
}
