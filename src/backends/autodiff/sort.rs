//! Sorts as steps of the graph. Their gradient is that of their [`sources`](super::sources).

use super::on_inner;
use super::sources::{Sources, dtype_of_positions};
use super::step::{self, InputAdjoint};
use crate::SortOrder;
use crate::ops::sort::sort_operations;
use crate::ops::{ScanBackend, SortOps};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::IntDType;
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;

/// Records a sort. `with_positions` computes it with positions, and `plain` without them.
fn record<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    dim: usize,
    with_positions: impl FnOnce(FloatTensor<B>) -> (FloatTensor<B>, IntTensor<B>),
    plain: impl FnOnce(FloatTensor<B>) -> (FloatTensor<B>, Option<IntTensor<B>>),
) -> (FloatTensor<Autodiff<B, C>>, Option<IntTensor<B>>) {
    let (input, node) = tensor.into_parts();
    let len = input.shape()[dim];
    let forward = |is_tracked| {
        if is_tracked {
            let (values, positions) = with_positions(input);
            (values, Some(positions))
        } else {
            plain(input)
        }
    };
    let adjoint = |_: &_, positions: &Option<IntTensor<B>>| {
        let positions = positions.clone().expect("found for the gradient");
        InputAdjoint::Sort(Sources {
            positions,
            dim,
            len,
        })
    };
    step::record::<B, C, _>(node, forward, adjoint)
}

/// [`record`] for a sort whose positions are a result.
fn record_with_positions<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    dim: usize,
    sort: impl Fn(FloatTensor<B>) -> (FloatTensor<B>, IntTensor<B>),
) -> (FloatTensor<Autodiff<B, C>>, IntTensor<B>) {
    let plain = |tensor| {
        let (values, positions) = sort(tensor);
        (values, Some(positions))
    };
    let (values, positions) = record::<B, C>(tensor, dim, &sort, plain);
    (values, positions.expect("both ways find positions"))
}

#[expect(
    unused_parens,
    reason = "a row has its results in parentheses, one or several"
)]
impl<B: ScanBackend, C: CheckpointStrategy> SortOps for Autodiff<B, C> {
    sort_operations! { on_inner(Tracked, IntTensor, BoolTensor) }

    fn float_radix_sort(
        tensor: FloatTensor<Self>,
        dim: usize,
        order: SortOrder,
    ) -> FloatTensor<Self> {
        let int = dtype_of_positions(tensor.shape()[dim]);
        let with_positions = |tensor| B::float_radix_sort_with_indices(tensor, dim, order, int);
        let plain = |tensor| (B::float_radix_sort(tensor, dim, order), None);
        record::<B, C>(tensor, dim, with_positions, plain).0
    }

    fn float_radix_sort_with_indices(
        tensor: FloatTensor<Self>,
        dim: usize,
        order: SortOrder,
        int: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        record_with_positions::<B, C>(tensor, dim, |tensor| {
            B::float_radix_sort_with_indices(tensor, dim, order, int)
        })
    }

    fn float_radix_topk(
        tensor: FloatTensor<Self>,
        k: usize,
        dim: usize,
        int: IntDType,
    ) -> (FloatTensor<Self>, IntTensor<Self>) {
        record_with_positions::<B, C>(tensor, dim, |tensor| {
            B::float_radix_topk(tensor, k, dim, int)
        })
    }

    fn float_radix_argsort(
        tensor: FloatTensor<Self>,
        dim: usize,
        order: SortOrder,
        int: IntDType,
    ) -> IntTensor<Self> {
        let (input, _) = tensor.into_parts();
        B::float_radix_argsort(input, dim, order, int)
    }
}
