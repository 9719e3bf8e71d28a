//! Positions of masks, and destinations of keys.

use super::dtypes::{by_int, by_size};
use super::slices::{count_tensor, elements, mask_bytes, tensor};
use crate::cpu;
use burn::backend::TensorMetadata;
use burn::tensor::IntDType;
use burn_flex::FlexTensor;

pub(super) fn mask_indices_unpadded(mask: FlexTensor, int: IntDType) -> (FlexTensor, FlexTensor) {
    let mask = mask.to_contiguous();
    by_size!(int.into(), I => {
        let mut indices = cpu::compact_indices::<I>(&mask_bytes(&mask));
        let count = indices.len();
        let len = mask.shape().num_elements();
        indices.resize(len, 0);
        (tensor(indices, [len].into(), int.into()), count_tensor(count, int))
    })
}

pub(super) fn mask_indices(mask: FlexTensor, int: IntDType) -> FlexTensor {
    let mask = mask.to_contiguous();
    by_size!(int.into(), I => {
        let indices = cpu::compact_indices::<I>(&mask_bytes(&mask));
        let count = indices.len();
        tensor(indices, [count].into(), int.into())
    })
}

pub(super) fn mask_argwhere(mask: FlexTensor, int: IntDType) -> FlexTensor {
    let mask = mask.to_contiguous();
    let shape = mask.shape();
    by_size!(int.into(), I => {
        let rows = cpu::argwhere::<I>(&mask_bytes(&mask), &shape);
        let count = rows.len() / shape.num_dims();
        tensor(rows, [count, shape.num_dims()].into(), int.into())
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
    let mask = mask.to_contiguous();
    count_tensor(repeats * cpu::count_true(&mask_bytes(&mask)), int)
}

pub(super) fn partition_ranks(
    keys: FlexTensor,
    num_keys: usize,
    int: IntDType,
) -> (FlexTensor, FlexTensor) {
    let keys = keys.to_contiguous();
    by_int!(keys.dtype(), K => by_size!(int.into(), I => {
        let (destinations, offsets) = cpu::partition_ranks::<K, I>(elements(&keys), num_keys);
        (
            tensor(destinations, keys.shape(), int.into()),
            tensor(offsets, [num_keys + 1].into(), int.into()),
        )
    }))
}
