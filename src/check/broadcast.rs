//! Arguments that broadcast: decays, initial values, states.

use super::{fail, same_device};
use crate::ops::ScanOps;
use burn::backend::Dispatch;
use burn::tensor::kind::{Basic, Kind};
use burn::tensor::{Shape, Tensor};

/// `other`, expanded to `shape`. It has the tensor's device and dtype, and broadcasts to that shape.
#[track_caller]
pub(crate) fn broadcast<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    other: Tensor<D, K>,
    what: &str,
    shape: [usize; D],
) -> Tensor<D, K> {
    same_device(operation, tensor, &other, what);
    same_dtype(operation, tensor, &other, what);
    expand(operation, tensor, other, what, shape)
}

/// Two tensors of one operation have one dtype.
#[track_caller]
pub(crate) fn same_dtype<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    other: &Tensor<D, K>,
    what: &str,
) {
    if other.dtype() != tensor.dtype() {
        fail(
            operation,
            &format!(
                "The {what} must have the dtype of the tensor. Tensor dtype: {:?}, {what} dtype: {:?}.",
                tensor.dtype(),
                other.dtype()
            ),
        );
    }
}

/// `other`, expanded to `shape`, to which it broadcasts.
#[track_caller]
pub(crate) fn expand<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, impl Basic>,
    other: Tensor<D, K>,
    what: &str,
    shape: [usize; D],
) -> Tensor<D, K> {
    let found = other.dims();
    let fits = (found.iter().zip(&shape)).all(|(&found, &size)| found == size || found == 1);
    if !fits {
        fail(
            operation,
            &format!(
                "The {what} must broadcast to {shape:?}. Tensor shape: {:?}, {what} shape: {found:?}.",
                tensor.dims()
            ),
        );
    }
    if found == shape {
        return other;
    }
    let shape = Shape::from(shape);
    match K::KIND {
        Kind::Float => Tensor::from_dispatch(<Dispatch as ScanOps>::float_broadcast(
            other.into_dispatch(),
            shape,
        )),
        _ => other.expand(shape),
    }
}

/// The initial values of lines, expanded to one value for each line.
#[track_caller]
pub(crate) fn initial<const D: usize, K: Basic>(
    operation: &str,
    tensor: &Tensor<D, K>,
    initial: Tensor<D, K>,
    dim: usize,
) -> Tensor<D, K> {
    let mut shape = tensor.dims();
    shape[dim] = 1;
    broadcast(operation, tensor, initial, "initial value", shape)
}
