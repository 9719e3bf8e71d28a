//! The gradient of a linear recurrence `h[t] = a[t]·h[t−1] + x[t]`: a linear recurrence in the other direction.
//!
//! ```text
//! g[t] = dh[t] + a[t+1]·g[t+1]        dx = g        da[t] = g[t]·h[t−1]        dinitial = a[0]·g[0]
//! ```
//!
//! Only `a` and `h` are kept.

use super::shift::{first, pulled, pushed};
use crate::ops::ScanBackend;
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::TensorData;
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind};

/// What the gradient of one needs.
#[derive(Clone, Debug)]
struct Kept<T> {
    decay: T,
    output: T,
    initial: Option<T>,
    dim: usize,
    reverse: bool,
}

#[derive(Debug)]
struct Recurrence;

/// The parents are values, decay and, if there is a third, the initial values.
impl<B: ScanBackend, const N: usize> Backward<B, N> for Recurrence {
    type State = Kept<FloatTensor<B>>;

    fn backward(self, ops: Ops<Self::State, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let Kept {
            decay,
            output,
            initial,
            dim,
            reverse,
        } = ops.state;
        let grad = grads.consume::<B>(&ops.node);
        let is_empty = grad.shape().num_elements() == 0;
        let flows = match is_empty {
            true => grad,
            false => {
                let next = pulled::<B>(decay.clone(), dim, reverse);
                B::float_linear_recurrence(grad, next, dim, !reverse)
            }
        };
        let [values_node, decay_node] = [0, 1].map(|parent| ops.parents[parent].clone());
        let initial_node = ops.parents.get(2).cloned().flatten();
        if let Some(node) = decay_node {
            let grad = match is_empty {
                true => flows.clone(),
                false => {
                    let before = pushed::<B>(output, initial.clone(), dim, reverse);
                    B::float_mul(flows.clone(), before)
                }
            };
            grads.register::<B>(node.id, grad);
        }
        if let (Some(node), Some(initial)) = (initial_node, initial) {
            let grad = match is_empty {
                // Burn fuses a fill with what it does to the empty gradient, and then fills nothing.
                true => {
                    let zeros = TensorData::zeros::<f32, _>(initial.shape());
                    let zeros = zeros.convert_dtype(initial.dtype());
                    B::float_from_data(zeros, &initial.device())
                }
                false => B::float_mul(
                    first::<B>(decay, dim, reverse),
                    first::<B>(flows.clone(), dim, reverse),
                ),
            };
            grads.register::<B>(node.id, grad);
        }
        if let Some(node) = values_node {
            grads.register::<B>(node.id, flows);
        }
    }
}

pub(super) fn linear_recurrence<B: ScanBackend, C: CheckpointStrategy>(
    values: FloatTensor<Autodiff<B, C>>,
    decay: FloatTensor<Autodiff<B, C>>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<Autodiff<B, C>> {
    let (values, values_node) = values.into_parts();
    let (decay, decay_node) = decay.into_parts();
    let forward = |decay| B::float_linear_recurrence(values, decay, dim, reverse);
    match Backward::<B, 2>::prepare::<C>(Recurrence, [values_node, decay_node])
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(prep) => {
            let output = forward(decay.clone());
            let kept = Kept {
                decay,
                output: output.clone(),
                initial: None,
                dim,
                reverse,
            };
            prep.finish(kept, output)
        }
        OpsKind::UnTracked(prep) => prep.finish(forward(decay)),
    }
}

pub(super) fn linear_recurrence_from<B: ScanBackend, C: CheckpointStrategy>(
    values: FloatTensor<Autodiff<B, C>>,
    decay: FloatTensor<Autodiff<B, C>>,
    initial: FloatTensor<Autodiff<B, C>>,
    dim: usize,
    reverse: bool,
) -> FloatTensor<Autodiff<B, C>> {
    let (values, values_node) = values.into_parts();
    let (decay, decay_node) = decay.into_parts();
    let (initial, initial_node) = initial.into_parts();
    let forward =
        |decay, initial| B::float_linear_recurrence_from(values, decay, initial, dim, reverse);
    match Backward::<B, 3>::prepare::<C>(Recurrence, [values_node, decay_node, initial_node])
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(prep) => {
            let output = forward(decay.clone(), initial.clone());
            let kept = Kept {
                decay,
                output: output.clone(),
                initial: Some(initial),
                dim,
                reverse,
            };
            prep.finish(kept, output)
        }
        OpsKind::UnTracked(prep) => prep.finish(forward(decay, initial)),
    }
}
