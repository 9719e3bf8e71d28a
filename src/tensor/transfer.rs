//! From device to device, whatever the kind of the tensor.

use crate::ops::booleans;
use burn::backend::Dispatch;
use burn::tensor::kind::{Basic, Kind};
use burn::tensor::{Bool, DType, Device, Shape, Tensor};

/// The tensor on `device`. A tensor that is already there is returned as it is, so that its gradient takes no further
/// step.
///
/// Booleans travel as integers: each backend stores them in its own way, and Burn 0.22.1 does not convert between
/// backends.
pub(super) fn transfer<const D: usize, K: Basic>(
    tensor: Tensor<D, K>,
    device: &Device,
) -> Tensor<D, K> {
    let tensor = of_its_kind(tensor);
    if tensor.device() == *device {
        return tensor;
    }
    if K::KIND != Kind::Bool {
        return tensor.to_device(device);
    }
    let shape = tensor.shape();
    let flags = Tensor::<D, Bool>::from_dispatch(tensor.into_dispatch());
    let moved = match shape.num_elements() {
        0 => Tensor::<D, Bool>::empty(shape, device),
        _ => flags
            .int()
            .cast(DType::I32)
            .to_device(device)
            .not_equal_elem(0),
    };
    Tensor::from_dispatch(moved.into_dispatch())
}

/// The tensor, with a dtype of its kind: see [`booleans`].
pub(super) fn of_its_kind<const D: usize, K: Basic>(tensor: Tensor<D, K>) -> Tensor<D, K> {
    match K::KIND {
        Kind::Bool => Tensor::from_dispatch(booleans::<Dispatch>(tensor.into_dispatch())),
        _ => tensor,
    }
}

/// The tensors joined along `dim`. Burn's `cat` drops tensors that are empty along `dim`, and gives tensors that are
/// empty along another dimension to kernels.
pub(super) fn joined<const D: usize, K: Basic>(
    tensors: Vec<Tensor<D, K>>,
    dim: usize,
) -> Tensor<D, K> {
    let mut shape = tensors[0].dims();
    shape[dim] = tensors.iter().map(|tensor| tensor.dims()[dim]).sum();
    match Shape::from(shape).num_elements() {
        // A reshape of no elements is still a step of the graph.
        0 => tensors.into_iter().next().expect("one").reshape(shape),
        _ => Tensor::cat(tensors, dim),
    }
}
