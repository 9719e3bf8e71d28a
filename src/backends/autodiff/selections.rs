//! Selections of floats as steps of the graph.

use super::adjoints::Selection;
use crate::ops::{FloatSelectionOps, ScanBackend};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::IntDType;
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn_backend::get_device_settings;

#[derive(Debug)]
struct Selected;

impl<B: ScanBackend> Backward<B, 1> for Selected {
    type State = Selection<B>;

    fn backward(self, ops: Ops<Selection<B>, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let selection = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| selection.adjoint(grad));
    }
}

/// Records a selection. `forward` computes it on the inner tensor; what else it returns has no gradient.
fn record<B: ScanBackend, C: CheckpointStrategy, R>(
    values: FloatTensor<Autodiff<B, C>>,
    selection: impl FnOnce(&FloatTensor<B>) -> Selection<B>,
    forward: impl FnOnce(FloatTensor<B>) -> (FloatTensor<B>, R),
) -> (FloatTensor<Autodiff<B, C>>, R) {
    let (inner, node) = values.into_parts();
    match Selected.prepare::<C>([node]).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let selection = selection(&inner);
            let (output, rest) = forward(inner);
            (prep.finish(selection, output), rest)
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
            |values| Selection::Compact {
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
            |values| Selection::Compact {
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
            |values| Selection::Expand {
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
            |_| Selection::CompactDim {
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
            |_| Selection::CompactDim {
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
            |values| Selection::ExpandDim {
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
            |_| Selection::Scatter {
                destinations: destinations.clone(),
                offsets: offsets.clone(),
            },
            |values| {
                let selected = B::float_scatter_to(values, destinations.clone(), offsets.clone());
                (selected, ())
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
            |_| Selection::Gather {
                destinations: destinations.clone(),
                offsets: offsets.clone(),
            },
            |values| {
                let selected = B::float_gather_from(values, destinations.clone(), offsets.clone());
                (selected, ())
            },
        )
        .0
    }

    fn float_partition(
        values: FloatTensor<Self>,
        keys: IntTensor<Self>,
        num_keys: usize,
        int: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        // The adjoint needs the destinations.
        let (destinations, offsets) = B::partition_ranks(keys, num_keys, int);
        let grouped = Self::float_scatter_to(values, destinations, offsets.clone());
        (grouped, offsets)
    }

    fn float_compact_along(
        values: FloatTensor<Self>,
        mask: BoolTensor<Self>,
        dim: usize,
        int: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        record::<B, C, _>(
            values,
            |_| Selection::CompactAlong {
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
            |_| Selection::RepeatRows {
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
            // The adjoint reads all lengths, so zeros must follow them.
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

/// Records run-length encoding. Its adjoint needs the lengths that `forward` finds.
fn record_runs<B: ScanBackend, C: CheckpointStrategy, R>(
    values: FloatTensor<Autodiff<B, C>>,
    forward: impl FnOnce(FloatTensor<B>) -> (FloatTensor<B>, IntTensor<B>, R),
) -> (FloatTensor<Autodiff<B, C>>, R) {
    let (inner, node) = values.into_parts();
    let elements = inner.shape().num_elements();
    let bool_dtype = get_device_settings::<B>(&inner.device()).bool_dtype;
    let (output, lengths, rest) = forward(inner);
    let output = match Selected.prepare::<C>([node]).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let selection = Selection::RunLengths {
                lengths,
                elements,
                bool_dtype,
            };
            prep.finish(selection, output)
        }
        OpsKind::UnTracked(prep) => prep.finish(output),
    };
    (output, rest)
}
