//! Scans as steps of the graph, of whole lines and of segments.

use super::scan_of_lines::Scan;
use super::{extrema, log_sum_exp, prod};
use crate::ScanOp;
use crate::ops::{self, ScanBackend};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::IntDType;
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind, binary, unary};

#[derive(Debug)]
struct SumScan;

impl<B: ScanBackend> Backward<B, 1> for SumScan {
    type State = Scan<B>;

    fn backward(self, ops: Ops<Scan<B>, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let scan = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            scan.scan(grad, scan.op, scan.options.reversed())
        });
    }
}

#[derive(Debug)]
struct InputScan;

impl<B: ScanBackend> Backward<B, 1> for InputScan {
    type State = (FloatTensor<B>, Scan<B>);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (input, scan) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            // On CubeCL's devices, Burn's slices and fills fail on tensors without elements.
            if grad.shape().num_elements() == 0 {
                return grad;
            }
            match scan.op {
                ScanOp::Prod => prod::gradient::<B>(input, grad, &scan),
                ScanOp::LogSumExp => log_sum_exp::gradient::<B>(input, grad, &scan),
                _ => extrema::gradient::<B>(input, grad, &scan),
            }
        });
    }
}

pub(super) fn scan<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    scan: Scan<B>,
) -> FloatTensor<Autodiff<B, C>> {
    let (input, node) = tensor.into_parts();
    let output = scan.scan(input.clone(), scan.op, scan.options);
    if scan.op == ScanOp::Sum {
        match SumScan.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(scan, output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    } else {
        match InputScan.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((input, scan), output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }
}

/// A sum scan from initial values. An initial value reaches every result of its line.
#[derive(Debug)]
struct SumScanFrom;

impl<B: ScanBackend> Backward<B, 2> for SumScanFrom {
    type State = Scan<B>;

    fn backward(self, ops: Ops<Scan<B>, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let Scan {
            dim, op, options, ..
        } = ops.state;
        binary::<B, _, _>(
            ops.parents,
            ops.node,
            grads,
            |grad| B::float_scan(grad, dim, op, options.reversed()),
            |grad| B::float_sum_dim(grad, dim),
        );
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
    let (first, first_node) = initial.clone().into_parts();
    let forward = || B::float_scan_from(input, first, dim, op, options);
    let nodes = [input_node, first_node];
    match SumScanFrom.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) if op == ScanOp::Sum => prep.finish(scan, forward()),
        // This is composed of steps that have gradients.
        OpsKind::Tracked(_) => {
            ops::float_scan_from_by_scan::<Autodiff<B, C>>(tensor, initial, dim, op, options)
        }
        OpsKind::UnTracked(prep) => prep.finish(forward()),
    }
}

/// A running maximum or minimum with positions.
#[derive(Debug)]
struct ExtremumWithIndices;

impl<B: ScanBackend> Backward<B, 1> for ExtremumWithIndices {
    type State = (IntTensor<B>, usize);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (indices, dim) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            extrema::gradient_by_index::<B>(indices, grad, dim)
        });
    }
}

pub(super) fn extremum_with_indices<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    dim: usize,
    is_max: bool,
    int_dtype: IntDType,
) -> (FloatTensor<Autodiff<B, C>>, IntTensor<B>) {
    let (input, node) = tensor.into_parts();
    let (values, indices) = B::float_extremum_with_indices(input, dim, is_max, int_dtype);
    let values = match ExtremumWithIndices
        .prepare::<C>([node])
        .compute_bound()
        .stateful()
    {
        OpsKind::Tracked(prep) => prep.finish((indices.clone(), dim), values),
        OpsKind::UnTracked(prep) => prep.finish(values),
    };
    (values, indices)
}
