//! What the chunks so far leave to the next one.

use core::array;

use crate::check;
use crate::ops::MOST_KEPT;
use burn::tensor::kind::{Basic, Kind};
use burn::tensor::{Bool, DType, Float, Int, Tensor};

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

    /// The shape of the lines of a chunk, and the state before it, one value for each line. A chunk has any length along
    /// `dim`, and the shape of the chunks before it otherwise.
    #[track_caller]
    pub(super) fn enter(
        &self,
        operation: &str,
        chunk: &Tensor<D, K>,
        dim: usize,
    ) -> ([usize; D], Option<Tensor<D, K>>) {
        let mut line = chunk.dims();
        line[dim] = 1;
        let expected = self.line.unwrap_or(line);
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
        let state = self.state.clone().map(|state| {
            check::same_device(operation, chunk, &state, "state");
            check::expand(operation, chunk, state, "state", line)
        });
        (line, state)
    }

    /// Takes over what a chunk leaves, which has been walked: a call that is refused changes nothing.
    pub(super) fn leave(&mut self, line: [usize; D], state: Option<Tensor<D, K>>) {
        (self.line, self.state) = (Some(line), state);
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

/// The last element of each line, of numbers.
pub(super) fn last<const D: usize, K: Basic>(tensor: Tensor<D, K>, dim: usize) -> Tensor<D, K> {
    let len = tensor.dims()[dim];
    alone(tensor, dim, len - 1)
}

/// The element at this position of each line, of numbers. A view of few of them would keep all of them.
pub(in super::super) fn alone<const D: usize, K: Basic>(
    tensor: Tensor<D, K>,
    dim: usize,
    at: usize,
) -> Tensor<D, K> {
    let len = tensor.dims()[dim];
    let found = tensor.narrow(dim, at, 1);
    match K::KIND {
        _ if len <= MOST_KEPT => found,
        Kind::Float => of_kind(float(found).mul_scalar(1)),
        _ => {
            let found = Tensor::<D, Int>::from_dispatch(found.into_dispatch());
            Tensor::from_dispatch(found.mul_scalar(1).into_dispatch())
        }
    }
}

/// The dtype in which floats of `dtype` are accumulated. Carries of f16 and bf16 would be rounded to 11 or 8 bits.
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
pub(in super::super) fn float<const D: usize, K: Basic>(tensor: Tensor<D, K>) -> Tensor<D> {
    Tensor::from_dispatch(tensor.into_dispatch())
}

/// The inverse of [`float`].
pub(in super::super) fn of_kind<const D: usize, K: Basic>(tensor: Tensor<D>) -> Tensor<D, K> {
    Tensor::from_dispatch(tensor.into_dispatch())
}
