//! Gradients, each a hand-written adjoint.
//!
//! | forward | gradient of the input | state |
//! |---|---|---|
//! | sum scan | the same scan in the other direction | none |
//! | product scan | see [`prod`] | the input |
//! | max, min scan | each gradient goes to the element that set the result | the input |
//! | log-sum-exp scan | see [`log_sum_exp`] | the input |
//! | scan from a value | of sums as above, and their total; else that of a scan of all that is seen | |
//! | linear recurrence | see [`recurrence`] | decays and results |
//! | compact | expand by the same mask | the mask |
//! | expand | compact by the same mask | the mask |
//! | partition (scatter to slots) | gather from the same slots | the slots |
//!
//! Inputs that are not tracked cost nothing but the forward operation.

mod extrema;
mod log_sum_exp;
mod moves;
mod prod;
mod recurrence;
mod shift;

use crate::ops::{self, BoolMoveOps, IntMoveOps, ScanBackend, ScanOps};
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::IntDType;
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind, binary, unary};

/// A scan along a dimension, as a step of the graph.
#[derive(Clone, Copy, Debug)]
struct Scan {
    dim: usize,
    op: ScanOp,
    options: ScanOptions,
}

#[derive(Debug)]
struct SumScan;

impl<B: ScanBackend> Backward<B, 1> for SumScan {
    type State = Scan;

    fn backward(self, ops: Ops<Scan, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let Scan { dim, op, options } = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::float_scan(grad, dim, op, options.reversed())
        });
    }
}

#[derive(Debug)]
struct InputScan;

impl<B: ScanBackend> Backward<B, 1> for InputScan {
    type State = (FloatTensor<B>, Scan);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (input, scan) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            // Burn's slices and fills of tensors without elements fail on CubeCL's devices.
            if grad.shape().num_elements() == 0 {
                return grad;
            }
            match scan.op {
                ScanOp::Prod => prod::gradient::<B>(input, grad, scan),
                ScanOp::LogSumExp => log_sum_exp::gradient::<B>(input, grad, scan),
                _ => extrema::gradient::<B>(input, grad, scan),
            }
        });
    }
}

/// A sum scan from initial values: these reach every result of their line.
#[derive(Debug)]
struct SumScanFrom;

impl<B: ScanBackend> Backward<B, 2> for SumScanFrom {
    type State = Scan;

    fn backward(self, ops: Ops<Scan, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let Scan { dim, op, options } = ops.state;
        binary::<B, _, _>(
            ops.parents,
            ops.node,
            grads,
            |grad| B::float_scan(grad, dim, op, options.reversed()),
            |grad| B::float_sum_dim(grad, dim),
        );
    }
}

fn scan_from<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    initial: FloatTensor<Autodiff<B, C>>,
    scan: Scan,
) -> FloatTensor<Autodiff<B, C>> {
    let Scan { dim, op, options } = scan;
    let ([input, first], nodes) = {
        let (input, input_node) = tensor.clone().into_parts();
        let (first, first_node) = initial.clone().into_parts();
        ([input, first], [input_node, first_node])
    };
    let prep = SumScanFrom.prepare::<C>(nodes).compute_bound().stateful();
    match prep {
        OpsKind::Tracked(prep) if op == ScanOp::Sum => {
            prep.finish(scan, B::float_scan_from(input, first, dim, op, options))
        }
        // As steps of the graph that have gradients.
        OpsKind::Tracked(_) => {
            ops::float_scan_behind::<Autodiff<B, C>>(tensor, initial, dim, op, options)
        }
        OpsKind::UnTracked(prep) => prep.finish(B::float_scan_from(input, first, dim, op, options)),
    }
}

impl<B: ScanBackend, C: CheckpointStrategy> ScanOps for Autodiff<B, C> {
    fn float_scan(
        tensor: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        let scan = Scan { dim, op, options };
        let (input, node) = tensor.into_parts();
        let forward = |input| B::float_scan(input, dim, op, options);
        if op == ScanOp::Sum {
            match SumScan.prepare::<C>([node]).compute_bound().stateful() {
                OpsKind::Tracked(prep) => prep.finish(scan, forward(input)),
                OpsKind::UnTracked(prep) => prep.finish(forward(input)),
            }
        } else {
            match InputScan.prepare::<C>([node]).compute_bound().stateful() {
                OpsKind::Tracked(prep) => prep.finish((input.clone(), scan), forward(input)),
                OpsKind::UnTracked(prep) => prep.finish(forward(input)),
            }
        }
    }

    fn int_scan(
        tensor: IntTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self> {
        B::int_scan(tensor, dim, op, options)
    }

    fn float_scan_from(
        tensor: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> FloatTensor<Self> {
        scan_from::<B, C>(tensor, initial, Scan { dim, op, options })
    }

    fn int_scan_from(
        tensor: IntTensor<Self>,
        initial: IntTensor<Self>,
        dim: usize,
        op: ScanOp,
        options: ScanOptions,
    ) -> IntTensor<Self> {
        B::int_scan_from(tensor, initial, dim, op, options)
    }

    fn float_linear_recurrence(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> FloatTensor<Self> {
        recurrence::linear_recurrence::<B, C>(values, decay, dim, reverse)
    }

    fn float_linear_recurrence_from(
        values: FloatTensor<Self>,
        decay: FloatTensor<Self>,
        initial: FloatTensor<Self>,
        dim: usize,
        reverse: bool,
    ) -> FloatTensor<Self> {
        recurrence::linear_recurrence_from::<B, C>(values, decay, initial, dim, reverse)
    }

    fn mask_indices_front(
        mask: BoolTensor<Self>,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>) {
        B::mask_indices_front(mask, int_dtype)
    }

    fn mask_indices(mask: BoolTensor<Self>, int_dtype: IntDType) -> IntTensor<Self> {
        B::mask_indices(mask, int_dtype)
    }

    fn mask_argwhere(mask: BoolTensor<Self>, int_dtype: IntDType) -> IntTensor<Self> {
        B::mask_argwhere(mask, int_dtype)
    }

    fn key_slots(
        keys: IntTensor<Self>,
        num_keys: usize,
        int_dtype: IntDType,
    ) -> (IntTensor<Self>, IntTensor<Self>) {
        B::key_slots(keys, num_keys, int_dtype)
    }
}

macro_rules! inner_moves {
    (
        $Trait:ident, $Tensor:ident, $compact_padded:ident, $compact:ident, $expand:ident, $compact_dim_padded:ident,
        $compact_dim:ident, $expand_dim:ident, $scatter_slots:ident, $gather_slots:ident
    ) => {
        impl<B: ScanBackend, C: CheckpointStrategy> $Trait for Autodiff<B, C> {
            fn $compact_padded(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                fill: bool,
                int: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>) {
                B::$compact_padded(values, mask, fill, int)
            }

            fn $compact(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                int: IntDType,
            ) -> $Tensor<Self> {
                B::$compact(values, mask, int)
            }

            fn $expand(values: $Tensor<Self>, mask: BoolTensor<Self>) -> $Tensor<Self> {
                B::$expand(values, mask)
            }

            fn $compact_dim_padded(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
                int: IntDType,
            ) -> ($Tensor<Self>, IntTensor<Self>) {
                B::$compact_dim_padded(values, mask, dim, int)
            }

            fn $compact_dim(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
                int: IntDType,
            ) -> $Tensor<Self> {
                B::$compact_dim(values, mask, dim, int)
            }

            fn $expand_dim(
                values: $Tensor<Self>,
                mask: BoolTensor<Self>,
                dim: usize,
            ) -> $Tensor<Self> {
                B::$expand_dim(values, mask, dim)
            }

            fn $scatter_slots(
                values: $Tensor<Self>,
                slots: IntTensor<Self>,
                offsets: IntTensor<Self>,
            ) -> $Tensor<Self> {
                B::$scatter_slots(values, slots, offsets)
            }

            fn $gather_slots(
                values: $Tensor<Self>,
                slots: IntTensor<Self>,
                offsets: IntTensor<Self>,
            ) -> $Tensor<Self> {
                B::$gather_slots(values, slots, offsets)
            }
        }
    };
}

inner_moves!(
    IntMoveOps,
    IntTensor,
    int_compact_padded,
    int_compact,
    int_expand_by_mask,
    int_compact_dim_padded,
    int_compact_dim,
    int_expand_dim,
    int_scatter_slots,
    int_gather_slots
);
inner_moves!(
    BoolMoveOps,
    BoolTensor,
    bool_compact_padded,
    bool_compact,
    bool_expand_by_mask,
    bool_compact_dim_padded,
    bool_compact_dim,
    bool_expand_dim,
    bool_scatter_slots,
    bool_gather_slots
);
