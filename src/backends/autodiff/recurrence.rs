//! The gradient of a linear recurrence `h[t] = a[t]·h[t−1] + x[t]`: a linear recurrence in the other direction.
//!
//! ```text
//! g[t] = dh[t] + a[t+1]·g[t+1]        dx = g        da[t] = g[t]·h[t−1]        dinitial = a[0]·g[0]
//! ```
//!
//! Only `a` and `h` are saved, and the initial values. The gradient of a recurrence with resets has the same resets.

use crate::ScanOptions;
use crate::ops::shift::{all_but_last, first, in_order, line_of, zeros};
use crate::ops::{ScanBackend, adjoint_by_scan};
use burn::backend::TensorMetadata;
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind};

/// What the gradient of a recurrence needs.
#[derive(Clone, Debug)]
struct Saved<T> {
    decay: T,
    output: T,
    initial: Option<T>,
    dim: usize,
    reverse: bool,
    resets: bool,
}

#[derive(Debug)]
struct Recurrence;

/// The parents are values, decay and, if there is a third, the initial values.
impl<B: ScanBackend, const N: usize> Backward<B, N> for Recurrence {
    type State = Saved<FloatTensor<B>>;

    fn backward(self, ops: Ops<Self::State, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let Saved {
            decay,
            output,
            initial,
            dim,
            reverse,
            resets,
        } = ops.state;
        let flow = grads.consume::<B>(&ops.node);
        let (of_values, of_decay, of_initial) = match initial {
            // There is no gradient.
            _ if flow.shape().num_elements() == 0 => {
                let of_initial = initial
                    .map(|initial| zeros::<B>(initial.shape(), &initial.device(), initial.dtype()));
                (flow.clone(), flow, of_initial)
            }
            None => {
                let (of_values, of_decay) = if resets {
                    let recurrence = B::float_reset_recurrence;
                    adjoint_by_scan::<B>(recurrence, flow, decay, output, None, dim, reverse)
                } else {
                    B::float_recurrence_adjoint(flow, decay, output, dim, reverse)
                };
                (of_values, of_decay, None)
            }
            Some(initial) => {
                let (of_values, of_decay, of_initial) =
                    B::float_recurrence_adjoint_from(flow, decay, output, initial, dim, reverse);
                (of_values, of_decay, Some(of_initial))
            }
        };
        let flows = [Some(of_values), Some(of_decay), of_initial];
        for (node, flow) in ops.parents.iter().zip(flows) {
            if let (Some(node), Some(flow)) = (node, flow) {
                grads.register::<B>(node.id, flow);
            }
        }
    }
}

/// A linear recurrence. If it `resets`, a decay of 0 forgets what is before it. An exclusive result that is tracked
/// is an inclusive one, [shifted](entering): both are steps of the graph.
pub(super) fn recurrence<B: ScanBackend, C: CheckpointStrategy>(
    values: FloatTensor<Autodiff<B, C>>,
    decay: FloatTensor<Autodiff<B, C>>,
    dim: usize,
    options: ScanOptions,
    resets: bool,
) -> FloatTensor<Autodiff<B, C>> {
    let tracked = (values.clone(), decay.clone());
    let (values, values_node) = values.into_parts();
    let (decay, decay_node) = decay.into_parts();
    let forward = |decay| {
        if resets {
            B::float_reset_recurrence(values, decay, dim, options)
        } else {
            B::float_linear_recurrence(values, decay, dim, options)
        }
    };
    match Backward::<B, 2>::prepare::<C>(Recurrence, [values_node, decay_node])
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(_) if options.exclusive => {
            let (values, decay) = tracked;
            entering::<B, C>(values, decay, None, dim, options, |values, decay| {
                recurrence::<B, C>(values, decay, dim, options.inclusive(), resets)
            })
        }
        OpsKind::Tracked(prep) => {
            let output = forward(decay.clone());
            let saved = Saved {
                decay,
                output: output.clone(),
                initial: None,
                dim,
                reverse: options.reverse,
                resets,
            };
            prep.finish(saved, output)
        }
        OpsKind::UnTracked(prep) => prep.finish(forward(decay)),
    }
}

/// A linear recurrence from initial values.
pub(super) fn linear_recurrence_from<B: ScanBackend, C: CheckpointStrategy>(
    values: FloatTensor<Autodiff<B, C>>,
    decay: FloatTensor<Autodiff<B, C>>,
    initial: FloatTensor<Autodiff<B, C>>,
    dim: usize,
    options: ScanOptions,
) -> FloatTensor<Autodiff<B, C>> {
    let tracked = (values.clone(), decay.clone(), initial.clone());
    let (values, values_node) = values.into_parts();
    let (decay, decay_node) = decay.into_parts();
    let (initial, initial_node) = initial.into_parts();
    let forward =
        |decay, initial| B::float_linear_recurrence_from(values, decay, initial, dim, options);
    match Backward::<B, 3>::prepare::<C>(Recurrence, [values_node, decay_node, initial_node])
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(_) if options.exclusive => {
            let (values, decay, initial) = tracked;
            let start = Some(initial.clone());
            entering::<B, C>(values, decay, start, dim, options, |values, decay| {
                let inclusive = options.inclusive();
                linear_recurrence_from::<B, C>(values, decay, initial, dim, inclusive)
            })
        }
        OpsKind::Tracked(prep) => {
            let output = forward(decay.clone(), initial.clone());
            let saved = Saved {
                decay,
                output: output.clone(),
                initial: Some(initial),
                dim,
                reverse: options.reverse,
                resets: false,
            };
            prep.finish(saved, output)
        }
        OpsKind::UnTracked(prep) => prep.finish(forward(decay, initial)),
    }
}

/// The states that enter each step: the initial one, and `states` after all steps but the last. No result contains the
/// last step. It stays part of the graph, with gradients of zeros even where it is infinite.
fn entering<B: ScanBackend, C: CheckpointStrategy>(
    values: FloatTensor<Autodiff<B, C>>,
    decay: FloatTensor<Autodiff<B, C>>,
    initial: Option<FloatTensor<Autodiff<B, C>>>,
    dim: usize,
    options: ScanOptions,
    states: impl FnOnce(
        FloatTensor<Autodiff<B, C>>,
        FloatTensor<Autodiff<B, C>>,
    ) -> FloatTensor<Autodiff<B, C>>,
) -> FloatTensor<Autodiff<B, C>> {
    let shape = values.shape();
    if shape.num_elements() == 0 {
        return states(values, decay);
    }
    let initial = initial.unwrap_or_else(|| line_of::<Autodiff<B, C>>(&values, dim, 0.));
    if shape[dim] == 1 {
        let all = Autodiff::<B, C>::float_cat(vec![initial, values, decay], dim);
        return first::<Autodiff<B, C>>(all, dim, false);
    }
    let seen = |tensor| all_but_last::<Autodiff<B, C>>(tensor, dim, options.reverse);
    let states = states(seen(values), seen(decay));
    in_order::<Autodiff<B, C>>(initial, states, dim, options.reverse)
}
