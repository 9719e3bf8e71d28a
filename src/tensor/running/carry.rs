//! What the chunks so far leave to the next one.

use core::array;

use crate::check;
use burn::tensor::kind::Basic;
use burn::tensor::{Bool, DType, Float, Tensor};

#[derive(Clone, Debug)]
pub(super) struct Carry<const D: usize, K: Basic> {
    /// The shape of the first chunk, with size 1 along the dimension.
    line: Option<[usize; D]>,
    /// The carry after the last element, or what the caller has set. It is in the dtype that it is accumulated in.
    pub(super) state: Option<Tensor<D, K>>,
}

impl<const D: usize, K: Basic> Carry<D, K> {
    pub(super) fn new() -> Self {
        Self {
            line: None,
            state: None,
        }
    }

    /// A chunk has any length along `dim`, and the shape of the chunks before it otherwise.
    #[track_caller]
    pub(super) fn check(&mut self, operation: &str, chunk: &Tensor<D, K>, dim: usize) {
        let mut line = chunk.dims();
        line[dim] = 1;
        let expected = *self.line.get_or_insert(line);
        if line != expected {
            let mut before: Vec<String> = expected.iter().map(ToString::to_string).collect();
            before[dim] = "any".to_owned();
            check::fail(
                operation,
                &format!(
                    "A chunk must have the shape of those before it but for dimension {dim}. Before: [{}], chunk: {:?}.",
                    before.join(", "),
                    chunk.dims()
                ),
            );
        }
        // A copy: a call that is refused changes nothing.
        if let Some(state) = self.state.clone() {
            check::same_device(operation, chunk, &state, "state");
            self.state = Some(check::expand(operation, chunk, state, "state", line));
        }
    }

    /// Puts `identity` of the state where the mask is true. Returns the mask if there is a state.
    #[track_caller]
    pub(super) fn reset_where(
        &mut self,
        operation: &str,
        mask: Tensor<D, Bool>,
        dim: usize,
        identity: impl FnOnce(Tensor<D, K>) -> Tensor<D, K>,
    ) -> Option<Tensor<D, Bool>> {
        let found = mask.dims();
        let mut expected = self.line.unwrap_or_else(|| {
            let state = self.state.as_ref().map_or([1; D], Tensor::dims);
            array::from_fn(|at| if state[at] == 1 { found[at] } else { state[at] })
        });
        expected[dim] = 1;
        if found != expected {
            check::fail(
                operation,
                &format!(
                    "The mask must have one entry for each line. Expected shape: {expected:?}, mask shape: {found:?}."
                ),
            );
        }
        let state = self.state.clone()?;
        check::same_device(operation, &state, &mask, "mask");
        let state = check::expand(operation, &mask, state, "state", expected);
        self.state = Some(state.clone().mask_where(mask.clone(), identity(state)));
        Some(mask)
    }
}

impl<const D: usize> Carry<D, Float> {
    pub(super) fn detach(&mut self) {
        self.state = self.state.take().map(Tensor::detach);
    }
}

/// The last element of each line.
pub(super) fn last<const D: usize, K: Basic>(tensor: Tensor<D, K>, dim: usize) -> Tensor<D, K> {
    let len = tensor.dims()[dim];
    tensor.narrow(dim, len - 1, 1)
}

/// The dtype in which floats of `dtype` are accumulated.
pub(in super::super) fn accumulated(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        _ => dtype,
    }
}

pub(in super::super) fn cast<const D: usize>(tensor: Tensor<D>, dtype: DType) -> Tensor<D> {
    if tensor.dtype() == dtype {
        tensor
    } else {
        tensor.cast(dtype)
    }
}

/// A tensor of floats, whose kind a generic function does not know.
pub(super) fn float<const D: usize, K: Basic>(tensor: Tensor<D, K>) -> Tensor<D> {
    Tensor::from_dispatch(tensor.into_dispatch())
}

/// The inverse of [`float`].
pub(super) fn of_kind<const D: usize, K: Basic>(tensor: Tensor<D>) -> Tensor<D, K> {
    Tensor::from_dispatch(tensor.into_dispatch())
}
