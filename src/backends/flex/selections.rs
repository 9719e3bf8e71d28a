//! The selections, by the keys of their rows in [`ops::selections`](crate::ops::selections).

use super::dtypes::{by_index, by_int, by_size};
use super::layouts::contiguous;
use super::masks::partition_ranks;
use super::segments::repeat_rows;
use super::slices::{around, count_tensor, elements, indices, mask_bytes, tensor};
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
    let (values, mask) = (contiguous(values), contiguous(mask));
    let mask = mask_bytes(&mask);
    if cpu::all_true(&mask) {
        return flat(values);
    }
    by_size!(values.dtype(), T => {
        let kept = cpu::compact::<T>(elements(&values), &mask);
        let shape = [kept.len()].into();
        tensor(kept, shape, values.dtype())
    })
}

fn compact_padded(
    values: FlexTensor,
    mask: FlexTensor,
    _fill: bool,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let (values, mask) = (contiguous(values), contiguous(mask));
    let mask = mask_bytes(&mask);
    if cpu::all_true(&mask) {
        return (flat(values), count_tensor(mask.len(), int));
    }
    by_size!(values.dtype(), T => {
        let (kept, count) = cpu::compact_padded::<T>(elements(&values), &mask);
        let shape = [kept.len()].into();
        (tensor(kept, shape, values.dtype()), count_tensor(count, int))
    })
}

/// Contiguous values in one dimension, in the same memory.
fn flat(values: FlexTensor) -> FlexTensor {
    let len = values.shape().num_elements();
    values.reshape([len].into())
}

fn front(values: FlexTensor, count: usize) -> FlexTensor {
    Flex::float_slice(values, &[ops::first(count)])
}

fn first_slices(values: FlexTensor, dim: usize, count: usize) -> FlexTensor {
    let reshape = |values: FlexTensor, shape| values.reshape(shape);
    ops::first_slices(values, dim, count, Flex::float_slice, reshape)
}

fn expand_by_mask(values: FlexTensor, mask: FlexTensor) -> FlexTensor {
    let (values, mask) = (contiguous(values), contiguous(mask));
    by_size!(values.dtype(), T => {
        let expanded = cpu::expand::<T>(elements(&values), &mask_bytes(&mask));
        tensor(expanded, mask.shape(), values.dtype())
    })
}

fn compact_dim(values: FlexTensor, mask: FlexTensor, dim: usize, _int: IntDType) -> FlexTensor {
    let (values, mask) = (contiguous(values), contiguous(mask));
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    let mask = mask_bytes(&mask);
    by_size!(values.dtype(), T => {
        let kept = cpu::compact_rows::<T>(elements(&values), &mask, outer, inner);
        tensor(kept, with_dim(&shape, dim, cpu::count_true(&mask)), values.dtype())
    })
}

fn compact_dim_padded(
    values: FlexTensor,
    mask: FlexTensor,
    dim: usize,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let (values, mask) = (contiguous(values), contiguous(mask));
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    by_size!(values.dtype(), T => {
        let (kept, count) =
            cpu::compact_rows_padded::<T>(elements(&values), &mask_bytes(&mask), outer, inner);
        (tensor(kept, shape, values.dtype()), count_tensor(count, int))
    })
}

fn expand_dim(values: FlexTensor, mask: FlexTensor, dim: usize) -> FlexTensor {
    let (values, mask) = (contiguous(values), contiguous(mask));
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    by_size!(values.dtype(), T => {
        let expanded = cpu::expand_rows::<T>(elements(&values), &mask_bytes(&mask), outer, inner);
        tensor(expanded, with_dim(&shape, dim, mask.shape()[0]), values.dtype())
    })
}

fn compact_along(
    values: FlexTensor,
    mask: FlexTensor,
    dim: usize,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let (values, mask) = (contiguous(values), contiguous(mask));
    let shape = values.shape();
    let (outer, inner) = around(&shape, dim);
    let lines = [outer, shape[dim], inner];
    by_size!(values.dtype(), T => by_index!(int, I => {
        let (kept, counts) = cpu::compact_lines::<T, I>(elements(&values), &mask_bytes(&mask), lines);
        let counts = indices(counts, with_dim(&shape, dim, 1), int);
        (tensor(kept, shape, values.dtype()), counts)
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
    let (destinations, offsets) = partition_ranks(keys, num_keys, int);
    (scatter_to(values, destinations, offsets.clone()), offsets)
}
