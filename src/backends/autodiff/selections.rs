//! Compaction and expansion are each other's adjoint, and so are scatter and gather.

use crate::ops::{FloatSelectionOps, ScanBackend, first_slices, with_dim};
use crate::{ScanOp, ScanOptions};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::{BoolDType, IntDType, Shape};
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn_backend::get_device_settings;

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
    /// To destinations, and where the groups of destinations begin.
    Scatter {
        destinations: IntTensor<B>,
        offsets: IntTensor<B>,
    },
    Gather {
        destinations: IntTensor<B>,
        offsets: IntTensor<B>,
    },
    /// Compaction of lines along a dimension.
    CompactAlong {
        mask: BoolTensor<B>,
        dim: usize,
        int: IntDType,
    },
    /// Repetition of rows.
    RepeatRows { offsets: IntTensor<B> },
    /// The first elements of runs of these lengths, of so many elements.
    RunLengths {
        lengths: IntTensor<B>,
        elements: usize,
        bool_dtype: BoolDType,
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
            Move::Scatter {
                destinations,
                offsets,
            } => B::float_gather_from(grad, destinations, offsets),
            Move::Gather {
                destinations,
                offsets,
            } => B::float_scatter_to(grad, destinations, offsets),
            Move::CompactAlong { mask, dim, int } => expand_along::<B>(grad, mask, dim, int),
            Move::RepeatRows { offsets } => B::float_segment_reduce(grad, offsets, ScanOp::Sum),
            Move::RunLengths {
                lengths,
                elements,
                bool_dtype,
            } => {
                if elements == 0 {
                    return grad;
                }
                let options = ScanOptions::default().exclusive();
                let starts = B::int_scan(lengths, 0, ScanOp::Sum, options);
                let heads = B::segment_starts(starts, elements, bool_dtype);
                B::float_expand_by_mask(grad, heads)
            }
        }
    }
}

/// What each line's survivors were packed from, zero elsewhere.
fn expand_along<B: ScanBackend>(
    grad: FloatTensor<B>,
    mask: BoolTensor<B>,
    dim: usize,
    int: IntDType,
) -> FloatTensor<B> {
    if grad.shape().num_elements() == 0 {
        return grad;
    }
    let options = ScanOptions::default().exclusive();
    let ranks = B::int_scan(
        B::bool_into_int(mask.clone(), int),
        dim,
        ScanOp::Sum,
        options,
    );
    let values = B::float_gather(dim, grad, ranks);
    B::float_mask_fill(values, B::bool_not(mask), 0.into())
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

impl<B: ScanBackend, C: CheckpointStrategy> FloatSelectionOps for Autodiff<B, C> {
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

    fn float_scatter_to(
        values: FloatTensor<Self>,
        destinations: IntTensor<Self>,
        offsets: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        record::<B, C, _>(
            values,
            |_| Move::Scatter {
                destinations: destinations.clone(),
                offsets: offsets.clone(),
            },
            |values| {
                let moved = B::float_scatter_to(values, destinations.clone(), offsets.clone());
                (moved, ())
            },
        )
        .0
    }

    fn float_gather_from(
        values: FloatTensor<Self>,
        destinations: IntTensor<Self>,
        offsets: IntTensor<Self>,
    ) -> FloatTensor<Self> {
        record::<B, C, _>(
            values,
            |_| Move::Gather {
                destinations: destinations.clone(),
                offsets: offsets.clone(),
            },
            |values| {
                let moved = B::float_gather_from(values, destinations.clone(), offsets.clone());
                (moved, ())
            },
        )
        .0
    }

    fn float_compact_along(
        values: FloatTensor<Self>,
        mask: BoolTensor<Self>,
        dim: usize,
        int: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        record::<B, C, _>(
            values,
            |_| Move::CompactAlong {
                mask: mask.clone(),
                dim,
                int,
            },
            |values| B::float_compact_along(values, mask.clone(), dim, int),
        )
    }

    fn float_repeat_rows(
        values: FloatTensor<Self>,
        offsets: IntTensor<Self>,
        total: usize,
    ) -> FloatTensor<Self> {
        record::<B, C, _>(
            values,
            |_| Move::RepeatRows {
                offsets: offsets.clone(),
            },
            |values| (B::float_repeat_rows(values, offsets.clone(), total), ()),
        )
        .0
    }

    fn float_run_lengths_padded(
        values: FloatTensor<Self>,
        _fill: bool,
        int: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>, IntTensor<Self>) {
        let (values, (lengths, count)) = record_runs::<B, C, _>(values, |values| {
            // The adjoint reads all lengths.
            let (values, lengths, count) = B::float_run_lengths_padded(values, true, int);
            (values, lengths.clone(), (lengths, count))
        });
        (values, lengths, count)
    }

    fn float_run_lengths(
        values: FloatTensor<Self>,
        int: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        record_runs::<B, C, _>(values, |values| {
            let (values, lengths) = B::float_run_lengths(values, int);
            (values, lengths.clone(), lengths)
        })
    }
}

/// Records run-length encoding, whose adjoint needs the lengths that it finds.
fn record_runs<B: ScanBackend, C: CheckpointStrategy, R>(
    values: FloatTensor<Autodiff<B, C>>,
    forward: impl FnOnce(FloatTensor<B>) -> (FloatTensor<B>, IntTensor<B>, R),
) -> (FloatTensor<Autodiff<B, C>>, R) {
    let (inner, node) = values.into_parts();
    let elements = inner.shape().num_elements();
    let bool_dtype = get_device_settings::<B>(&inner.device()).bool_dtype;
    let (output, lengths, rest) = forward(inner);
    let output = match Moved.prepare::<C>([node]).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let step = Move::RunLengths {
                lengths,
                elements,
                bool_dtype,
            };
            prep.finish(step, output)
        }
        OpsKind::UnTracked(prep) => prep.finish(output),
    };
    (output, rest)
}
