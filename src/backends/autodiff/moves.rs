//! Compaction and expansion are each other's adjoint, and so are scatter and gather.

use crate::ops::{FloatMoveOps, ScanBackend, first_slices, with_dim};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::{IntDType, Shape};
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind, unary};

/// One move, with what its adjoint needs.
#[derive(Clone, Debug)]
enum Move<B: ScanBackend> {
    /// Flat compaction of values of this shape, exact or padded.
    Compact { mask: BoolTensor<B>, shape: Shape },
    /// Flat expansion of so many values.
    Expand {
        mask: BoolTensor<B>,
        values: usize,
        int: IntDType,
    },
    /// Compaction along a dimension.
    CompactDim { mask: BoolTensor<B>, dim: usize },
    /// Expansion along a dimension of values with so many slices.
    ExpandDim {
        mask: BoolTensor<B>,
        dim: usize,
        slices: usize,
        int: IntDType,
    },
    /// To slots, and where the groups of slots begin.
    Scatter {
        slots: IntTensor<B>,
        offsets: IntTensor<B>,
    },
    Gather {
        slots: IntTensor<B>,
        offsets: IntTensor<B>,
    },
}

impl<B: ScanBackend> Move<B> {
    fn adjoint(self, grad: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Move::Compact { mask, shape } => {
                B::float_reshape(B::float_expand_by_mask(grad, mask), shape)
            }
            Move::Expand { mask, values, int } => {
                let (packed, _) = B::float_compact_padded(grad, mask, true, int);
                fit::<B>(packed, 0, values)
            }
            Move::CompactDim { mask, dim } => B::float_expand_dim(grad, mask, dim),
            Move::ExpandDim {
                mask,
                dim,
                slices,
                int,
            } => {
                let (packed, _) = B::float_compact_dim_padded(grad, mask, dim, int);
                fit::<B>(packed, dim, slices)
            }
            Move::Scatter { slots, offsets } => B::float_gather_slots(grad, slots, offsets),
            Move::Gather { slots, offsets } => B::float_scatter_slots(grad, slots, offsets),
        }
    }
}

/// Cuts or zero-fills `tensor` to `size` slices along `dim`: values beyond the trues had no effect, and no gradient.
fn fit<B: ScanBackend>(tensor: FloatTensor<B>, dim: usize, size: usize) -> FloatTensor<B> {
    let shape = tensor.shape();
    if shape[dim] < size {
        let rest = with_dim(&shape, dim, size - shape[dim]);
        let zeros = B::float_zeros(rest, &tensor.device(), tensor.dtype().into());
        return B::float_cat(vec![tensor, zeros], dim);
    }
    first_slices(tensor, dim, size, B::float_slice, B::float_reshape)
}

#[derive(Debug)]
struct Moved;

impl<B: ScanBackend> Backward<B, 1> for Moved {
    type State = Move<B>;

    fn backward(self, ops: Ops<Move<B>, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let step = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| step.adjoint(grad));
    }
}

/// Records a move whose forward result is `$forward` of the inner tensor, which may be a pair.
fn record<B: ScanBackend, C: CheckpointStrategy, R>(
    values: FloatTensor<Autodiff<B, C>>,
    step: impl FnOnce(&FloatTensor<B>) -> Move<B>,
    forward: impl FnOnce(FloatTensor<B>) -> (FloatTensor<B>, R),
) -> (FloatTensor<Autodiff<B, C>>, R) {
    let (inner, node) = values.into_parts();
    match Moved.prepare::<C>([node]).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let step = step(&inner);
            let (output, rest) = forward(inner);
            (prep.finish(step, output), rest)
        }
        OpsKind::UnTracked(prep) => {
            let (output, rest) = forward(inner);
            (prep.finish(output), rest)
        }
    }
}

impl<B: ScanBackend, C: CheckpointStrategy> FloatMoveOps for Autodiff<B, C> {
    fn float_compact_padded(
        values: FloatTensor<Self>,
        mask: BoolTensor<Self>,
        fill: bool,
        int: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        record::<B, C, _>(
            values,
            |values| Move::Compact {
                mask: mask.clone(),
                shape: values.shape(),
            },
            |values| B::float_compact_padded(values, mask.clone(), fill, int),
        )
    }

    fn float_compact(
        values: FloatTensor<Self>,
        mask: BoolTensor<Self>,
        int: IntDType,
    ) -> FloatTensor<Self> {
        record::<B, C, _>(
            values,
            |values| Move::Compact {
                mask: mask.clone(),
                shape: values.shape(),
            },
            |values| (B::float_compact(values, mask.clone(), int), ()),
        )
        .0
    }

    fn float_expand_by_mask(
        values: FloatTensor<Self>,
        mask: BoolTensor<Self>,
    ) -> FloatTensor<Self> {
        record::<B, C, _>(
            values,
            |values| Move::Expand {
                mask: mask.clone(),
                values: values.shape()[0],
                int: IntDType::I32,
            },
            |values| (B::float_expand_by_mask(values, mask.clone()), ()),
        )
        .0
    }

    fn float_compact_dim_padded(
        values: FloatTensor<Self>,
        mask: BoolTensor<Self>,
        dim: usize,
        int: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        record::<B, C, _>(
            values,
            |_| Move::CompactDim {
                mask: mask.clone(),
                dim,
            },
            |values| B::float_compact_dim_padded(values, mask.clone(), dim, int),
        )
    }

    fn float_compact_dim(
        values: FloatTensor<Self>,
        mask: BoolTensor<Self>,
        dim: usize,
        int: IntDType,
    ) -> FloatTensor<Self> {
        record::<B, C, _>(
            values,
            |_| Move::CompactDim {
                mask: mask.clone(),
                dim,
            },
            |values| (B::float_compact_dim(values, mask.clone(), dim, int), ()),
        )
        .0
    }

    fn float_expand_dim(
        values: FloatTensor<Self>,
        mask: BoolTensor<Self>,
        dim: usize,
    ) -> FloatTensor<Self> {
        record::<B, C, _>(
            values,
            |values| Move::ExpandDim {
                mask: mask.clone(),
                dim,
                slices: values.shape()[dim],
                int: IntDType::I32,
            },
            |values| (B::float_expand_dim(values, mask.clone(), dim), ()),
        )
        .0
    }

    fn float_scatter_slots(
        values: FloatTensor<Self>,
        slots: IntTensor<Self>,
        offsets: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        record::<B, C, _>(
            values,
            |_| Move::Scatter {
                slots: slots.clone(),
                offsets: offsets.clone(),
            },
            |values| {
                let moved = B::float_scatter_slots(values, slots.clone(), offsets.clone());
                (moved, ())
            },
        )
        .0
    }

    fn float_gather_slots(
        values: FloatTensor<Self>,
        slots: IntTensor<Self>,
        offsets: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        record::<B, C, _>(
            values,
            |_| Move::Gather {
                slots: slots.clone(),
                offsets: offsets.clone(),
            },
            |values| {
                let moved = B::float_gather_slots(values, slots.clone(), offsets.clone());
                (moved, ())
            },
        )
        .0
    }
}
