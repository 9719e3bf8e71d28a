//! Bad input, reported in the form of Burn's own tensor checks.

use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Bool, DType, Shape, Tensor};

/// Panics as Burn's tensor checks do.
#[track_caller]
pub(crate) fn fail(operation: &str, reason: &str) -> ! {
    panic!(
        "=== Tensor Operation Error ===\n  Operation: '{operation}'\n  Reason:\n    1. {reason} \n"
    );
}

/// `dim` as an index below `rank`.
#[track_caller]
pub(crate) fn dim(operation: &str, dim: impl AsIndex, rank: usize) -> usize {
    dim.try_dim_index(rank)
        .unwrap_or_else(|error| fail(operation, &error.to_string()))
}

/// The tensor's type is one that the device computes with.
#[track_caller]
pub(crate) fn dtype<const D: usize, K: Basic>(operation: &str, tensor: &Tensor<D, K>) {
    let dtype = tensor.dtype();
    match dtype {
        DType::F32 | DType::I32 | DType::U32 | DType::Bool(_) => {}
        DType::QFloat(_) => fail(
            operation,
            "The tensor is quantized. Dequantize it first: `tensor.dequantize()`.",
        ),
        _ if !tensor.device().supports_dtype(dtype) => fail(
            operation,
            &format!(
                "The device {:?} cannot compute with {dtype:?}.",
                tensor.device()
            ),
        ),
        _ => {}
    }
}

/// Two tensors of one operation live on one device, autodiff or not.
#[track_caller]
pub(crate) fn same_device<const D: usize, const D2: usize, K: Basic, K2: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    other: &Tensor<D2, K2>,
    what: &str,
) {
    if tensor.device() != other.device() {
        fail(
            operation,
            &format!(
                "The tensor and the {what} must be on the same device. Tensor device: {:?}, {what} device: {:?}.",
                tensor.device(),
                other.device()
            ),
        );
    }
}

/// A mask has the tensor's shape and device.
#[track_caller]
pub(crate) fn mask<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    mask: &Tensor<D, Bool>,
) {
    same_device(operation, tensor, mask, "mask");
    shapes(
        operation,
        "The mask must have the shape of the tensor.",
        &tensor.shape(),
        "Mask",
        &mask.shape(),
    );
}

/// A mask over one dimension has its length and the tensor's device.
#[track_caller]
pub(crate) fn dim_mask<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    mask: &Tensor<1, Bool>,
    dim: usize,
) {
    same_device(operation, tensor, mask, "mask");
    if tensor.dims()[dim] != mask.dims()[0] {
        fail(
            operation,
            &format!(
                "The mask must have one entry per slice along dimension {dim}. Tensor shape: {:?}, mask shape: {:?}.",
                tensor.dims(),
                mask.dims()
            ),
        );
    }
}

/// Two shapes agree.
#[track_caller]
pub(crate) fn shapes(operation: &str, rule: &str, tensor: &Shape, what: &str, other: &Shape) {
    if tensor != other {
        fail(
            operation,
            &format!(
                "{rule} Tensor shape: {:?}, {what} shape: {:?}.",
                tensor.to_vec(),
                other.to_vec()
            ),
        );
    }
}
