//! From device to device, whatever the kind of the tensor.

use burn::backend::DispatchDevice;
use burn::tensor::kind::Basic;
use burn::tensor::{Bool, DType, Device, Shape, Tensor};

/// The tensor on `device`; the same tensor where it is there already, so that a gradient's way is no longer than it
/// must be.
///
/// Booleans travel as integers: each backend stores them in its own way, and Burn 0.22.1 refuses to take over
/// another's.
pub(super) fn transfer<const D: usize, K: Basic>(
    tensor: Tensor<D, K>,
    device: &Device,
) -> Tensor<D, K> {
    if tensor.device() == *device {
        return tensor;
    }
    if !matches!(tensor.dtype(), DType::Bool(_)) {
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

/// Joined along `dim`. Burn's `cat` drops tensors that are empty along `dim`, and hands those that are empty
/// otherwise to kernels.
pub(super) fn joined<const D: usize, K: Basic>(
    tensors: Vec<Tensor<D, K>>,
    dim: usize,
) -> Tensor<D, K> {
    let mut shape = tensors[0].dims();
    shape[dim] = tensors.iter().map(|tensor| tensor.dims()[dim]).sum();
    match Shape::from(shape).num_elements() {
        // Nothing in another shape, and still a part of the graph.
        0 => tensors.into_iter().next().expect("one").reshape(shape),
        _ => Tensor::cat(tensors, dim),
    }
}

/// Where operations end before they return. The other devices queue them, so that they are given theirs first.
pub(super) fn is_eager(device: &Device) -> bool {
    is_flex(device.as_dispatch())
}

fn is_flex(device: &DispatchDevice) -> bool {
    match device {
        #[cfg(feature = "flex")]
        DispatchDevice::Flex(_) => true,
        #[cfg(feature = "autodiff")]
        DispatchDevice::Autodiff(device) => is_flex(device),
        #[allow(unreachable_patterns, reason = "depends on the backends in the build")]
        _ => false,
    }
}
