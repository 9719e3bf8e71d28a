//! Steps of the graph with one parent: one kind of step, whatever the operation, since each kind is compiled anew for
//! every backend.

use super::adjoints::SelectionAdjoint;
use super::scan_of_lines::Scan;
use super::segments::Reduction;
use super::sources::Sources;
use super::widened::widened;
use super::{broadcast, extrema, log_sum_exp, prod};
use crate::ScanOp;
use crate::ops::ScanBackend;
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::Shape;
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, NodeGuard, Ops, OpsKind, unary};

/// From the gradient of a result to that of its input, with what that needs.
#[derive(Clone, Debug)]
pub(super) enum InputAdjoint<B: ScanBackend> {
    SumScan(Scan<B>),
    /// A scan by another operator, and its input.
    Scan(FloatTensor<B>, Scan<B>),
    /// The positions of extrema along a dimension.
    Extremum(IntTensor<B>, usize),
    Selection(SelectionAdjoint<B>),
    Sort(Sources<B>),
    Reduction(Reduction<B>),
    /// The shape of the input.
    Broadcast(Shape),
}

impl<B: ScanBackend> InputAdjoint<B> {
    fn of(self, grad: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::SumScan(scan) => scan.scan(grad, scan.op, scan.options.reversed()),
            Self::Scan(input, scan) => scan_gradient(input, grad, &scan),
            Self::Extremum(indices, dim) => extrema::gradient_by_index::<B>(indices, grad, dim),
            Self::Selection(adjoint) => adjoint.of(grad),
            Self::Sort(sources) => sources.gradient(grad),
            Self::Reduction(reduction) => reduction.adjoint(grad),
            Self::Broadcast(shape) => broadcast::gradient::<B>(grad, shape),
        }
    }
}

/// The gradient of the input of a scan by another operator than the sum.
fn scan_gradient<B: ScanBackend>(
    input: FloatTensor<B>,
    grad: FloatTensor<B>,
    scan: &Scan<B>,
) -> FloatTensor<B> {
    // On CubeCL's devices, Burn's slices and fills fail on tensors without elements.
    if grad.shape().num_elements() == 0 {
        return grad;
    }
    match scan.op {
        ScanOp::Prod => widened::<B>([input, grad], |[input, grad]| {
            prod::gradient::<B>(input, grad, scan)
        }),
        ScanOp::LogSumExp => widened::<B>([input, grad], |[input, grad]| {
            log_sum_exp::gradient::<B>(input, grad, scan)
        }),
        ScanOp::Max | ScanOp::Min => extrema::gradient::<B>(input, grad, scan),
        ScanOp::Sum => unreachable!("a scan of sums is `SumScan`"),
    }
}

#[derive(Debug)]
struct UnaryStep;

impl<B: ScanBackend> Backward<B, 1> for UnaryStep {
    type State = InputAdjoint<B>;

    fn backward(self, ops: Ops<InputAdjoint<B>, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let adjoint = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| adjoint.of(grad));
    }
}

/// Records a step. `forward` computes it, and is told whether there will be a gradient. Its further results have none.
/// `adjoint` takes the result and these.
pub(super) fn record<B: ScanBackend, C: CheckpointStrategy, R>(
    node: NodeGuard,
    forward: impl FnOnce(bool) -> (FloatTensor<B>, R),
    adjoint: impl FnOnce(&FloatTensor<B>, &R) -> InputAdjoint<B>,
) -> (FloatTensor<Autodiff<B, C>>, R) {
    match UnaryStep.prepare::<C>([node]).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let (output, rest) = forward(true);
            (prep.finish(adjoint(&output, &rest), output), rest)
        }
        OpsKind::UnTracked(prep) => {
            let (output, rest) = forward(false);
            (prep.finish(output), rest)
        }
    }
}
