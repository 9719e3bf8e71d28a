//! Positions of masks, and destinations of keys.

use super::dtypes::{by_index, by_int};
use super::layouts::contiguous;
use super::slices::{count_tensor, elements, indices, row_major, tensor};
use crate::cpu;
use burn::backend::TensorMetadata;
use burn::tensor::{DType, IntDType};
use burn_flex::FlexTensor;
use burn_std::BoolStore;

/// A mask of bytes, whatever its store.
pub(super) fn byte_mask(mask: FlexTensor) -> FlexTensor {
    if mask.dtype() != DType::Bool(BoolStore::U32) {
        return mask;
    }
    let mask = contiguous(mask);
    let trues = elements::<u32>(&mask)
        .iter()
        .map(|&element| u8::from(element != 0));
    tensor(
        trues.collect(),
        mask.shape(),
        DType::Bool(BoolStore::Native),
    )
}

pub(super) fn mask_indices_unpadded(mask: FlexTensor, int: IntDType) -> (FlexTensor, FlexTensor) {
    let mask = byte_mask(mask);
    by_index!(int, I => {
        let mut found = cpu::compact_indices::<I>(&row_major(&mask));
        let count = found.len();
        let len = mask.shape().num_elements();
        found.resize(len, 0);
        (indices(found, [len].into(), int), count_tensor(count, int))
    })
}

pub(super) fn mask_indices(mask: FlexTensor, int: IntDType) -> FlexTensor {
    let mask = byte_mask(mask);
    by_index!(int, I => {
        let found = cpu::compact_indices::<I>(&row_major(&mask));
        let count = found.len();
        indices(found, [count].into(), int)
    })
}

pub(super) fn mask_argwhere(mask: FlexTensor, int: IntDType) -> FlexTensor {
    let mask = byte_mask(mask);
    let shape = mask.shape();
    by_index!(int, I => {
        let rows = cpu::argwhere::<I>(&row_major(&mask), &shape);
        let count = rows.len() / shape.num_dims();
        indices(rows, [count, shape.num_dims()].into(), int)
    })
}

/// The trues of a mask, counted in its bytes. What a broadcast repeats is counted once.
pub(super) fn mask_count(mut mask: FlexTensor, int: IntDType) -> FlexTensor {
    let mut repeats = 1usize;
    for dim in 0..mask.shape().num_dims() {
        let (size, stride) = (mask.shape()[dim], mask.layout().strides()[dim]);
        if size > 1 && stride == 0 {
            mask = mask.narrow(dim, 0, 1);
            repeats *= size;
        }
    }
    let mask = byte_mask(mask);
    count_tensor(repeats * cpu::count_true(&row_major(&mask)), int)
}

pub(super) fn partition_ranks(
    keys: FlexTensor,
    num_keys: usize,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let keys = contiguous(keys);
    by_int!(keys.dtype(), K => by_index!(int, I => {
        let (destinations, offsets) = cpu::partition_ranks::<K, I>(elements(&keys), num_keys);
        (
            indices(destinations, keys.shape(), int),
            indices(offsets, [num_keys + 1].into(), int),
        )
    }))
}
