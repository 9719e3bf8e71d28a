//! Scans as steps of the graph, of whole lines and of segments, and reductions of segments.

use super::scan_of_lines::Scan;
use super::segments::Reduction;
use super::step::{InputAdjoint, record};
use crate::ScanOp;
use crate::ops::shift::{first, first_alone, zeros};
use crate::ops::{self, ScanBackend, with_dim};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{IntDType, Shape};
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind};

pub(super) fn scan<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    scan: Scan<B>,
) -> FloatTensor<Autodiff<B, C>> {
    let (input, node) = tensor.into_parts();
    let output = scan.scan(input.clone(), scan.op, scan.options);
    let adjoint = |_: &_, (): &()| {
        if scan.op == ScanOp::Sum {
            InputAdjoint::SumScan(scan)
        } else {
            InputAdjoint::Scan(input, scan)
        }
    };
    record::<B, C, _>(node, |_| (output, ()), adjoint).0
}

/// A sum scan from initial values. An initial value reaches every result of its line, and so does the first element, except
/// for its own result in an exclusive scan. Without elements nothing reaches anything, whatever the operator.
#[derive(Debug)]
struct SumScanFrom;

impl<B: ScanBackend> Backward<B, 2> for SumScanFrom {
    type State = Scan<B>;

    fn backward(self, ops: Ops<Scan<B>, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let Scan { dim, options, .. } = ops.state;
        let grad = grads.consume::<B>(&ops.node);
        let (shape, dtype) = (grad.shape(), grad.dtype());
        let (of_input, of_initial) = if shape.num_elements() == 0 {
            let zeros = zeros::<B>(with_dim(&shape, dim, 1), &grad.device(), dtype);
            (grad, zeros)
        } else {
            let reaching = B::float_scan(grad.clone(), dim, ScanOp::Sum, options.reversed());
            let of_initial = if options.exclusive {
                let [total, own] =
                    [reaching.clone(), grad].map(|tensor| first::<B>(tensor, dim, options.reverse));
                B::float_add(total, own)
            } else {
                first_alone::<B>(reaching.clone(), dim, options.reverse)
            };
            (reaching, of_initial)
        };
        for (node, flow) in ops.parents.into_iter().zip([of_input, of_initial]) {
            if let Some(node) = node {
                grads.register::<B>(node.id, flow);
            }
        }
    }
}

pub(super) fn scan_from<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    initial: FloatTensor<Autodiff<B, C>>,
    scan: Scan<B>,
) -> FloatTensor<Autodiff<B, C>> {
    let Scan {
        dim, op, options, ..
    } = scan;
    let (input, input_node) = tensor.clone().into_parts();
    let (start, start_node) = initial.clone().into_parts();
    let is_empty = input.shape().num_elements() == 0;
    let forward = || B::float_scan_from(input, start, dim, op, options);
    let nodes = [input_node, start_node];
    match SumScanFrom.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) if op == ScanOp::Sum || is_empty => prep.finish(scan, forward()),
        // This is composed of steps that have gradients.
        OpsKind::Tracked(_) => {
            ops::float_scan_from_by_scan::<Autodiff<B, C>>(tensor, initial, dim, op, options)
        }
        OpsKind::UnTracked(prep) => prep.finish(forward()),
    }
}

/// A running maximum or minimum with positions.
pub(super) fn extremum_with_indices<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    dim: usize,
    is_max: bool,
    int_dtype: IntDType,
) -> (FloatTensor<Autodiff<B, C>>, IntTensor<B>) {
    let (input, node) = tensor.into_parts();
    let forward = |_| B::float_extremum_with_indices(input, dim, is_max, int_dtype);
    record::<B, C, _>(node, forward, |_, indices| {
        InputAdjoint::Extremum(indices.clone(), dim)
    })
}

pub(super) fn broadcast<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    shape: Shape,
) -> FloatTensor<Autodiff<B, C>> {
    let (input, node) = tensor.into_parts();
    let adjoint = InputAdjoint::Broadcast(input.shape());
    let forward = |_| (B::float_expand(input, shape), ());
    record::<B, C, _>(node, forward, |_, ()| adjoint).0
}

pub(super) fn segment_reduce<B: ScanBackend, C: CheckpointStrategy>(
    values: FloatTensor<Autodiff<B, C>>,
    offsets: IntTensor<B>,
    op: ScanOp,
) -> FloatTensor<Autodiff<B, C>> {
    let (input, node) = values.into_parts();
    let total = B::float_segment_reduce(input.clone(), offsets.clone(), op);
    let adjoint = |total: &FloatTensor<B>, (): &()| {
        InputAdjoint::Reduction(Reduction {
            op,
            offsets,
            len: input.shape()[0],
            values: (op != ScanOp::Sum).then(|| (input, total.clone())),
        })
    };
    record::<B, C, _>(node, |_| (total, ()), adjoint).0
}
