//! Sorts as steps of the graph: a gradient goes back to where its element came from.
//!
//! The positions within lines become positions in the whole tensor, each of which occurs once. For a whole sort they
//! are a permutation, which scatters the gradients. For the `k` largest they are a few places in a larger tensor: they
//! are sorted with their gradients, and the gradients are expanded to them. Nothing is added, so no order of additions
//! can show.

use super::on_inner;
use crate::SortOrder;
use crate::ops::sort::sort_operations;
use crate::ops::{ScanBackend, SortOps, with_dim};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{IntDType, Shape};
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn_backend::get_device_settings;

#[derive(Debug)]
struct Sorted;

/// Where the elements of a result came from.
#[derive(Clone, Debug)]
struct Sources<B: ScanBackend> {
    positions: IntTensor<B>,
    dim: usize,
    /// The length of the lines they came from.
    len: usize,
}

impl<B: ScanBackend> Backward<B, 1> for Sorted {
    type State = Sources<B>;

    fn backward(self, ops: Ops<Sources<B>, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let sources = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| sources.gradient(grad));
    }
}

impl<B: ScanBackend> Sources<B> {
    fn gradient(self, grad: FloatTensor<B>) -> FloatTensor<B> {
        let Self { dim, len, .. } = self;
        let (device, few) = (grad.device(), grad.shape());
        let shape = with_dim(&few, dim, len);
        let (taken, elements) = (few.num_elements(), shape.num_elements());
        if taken == 0 {
            return B::float_zeros(shape, &device, grad.dtype().into());
        }
        let int = match i32::try_from(elements) {
            Ok(_) => IntDType::I32,
            Err(_) => IntDType::I64,
        };
        let places = self.places(int);
        let grad = B::float_reshape(grad, [taken].into());
        let number = B::int_full([1].into(), (taken as i64).into(), &device, int);
        if taken == elements {
            return B::float_reshape(B::float_scatter_to(grad, places, number), shape);
        }
        let bits = usize::BITS - elements.leading_zeros();
        let (places, order) = B::radix_sort_bits(places, bits as usize, SortOrder::Ascending, int);
        let grad = B::float_gather_from(grad, order, number);
        let bool_dtype = get_device_settings::<B>(&device).bool_dtype;
        let is_taken = B::segment_starts(places, elements, bool_dtype);
        B::float_reshape(B::float_expand_by_mask(grad, is_taken), shape)
    }

    /// The row-major positions in the whole tensor, in one dimension.
    fn places(self, int: IntDType) -> IntTensor<B> {
        let Self {
            positions,
            dim,
            len,
        } = self;
        let (device, shape) = (positions.device(), positions.shape());
        let outer: usize = shape[..dim].iter().product();
        let inner: usize = shape[dim + 1..].iter().product();
        let steps = |count: usize, by: usize, shape: Shape| {
            let steps = B::int_arange(0..count as i64, &device, int);
            B::int_reshape(B::int_mul_scalar(steps, (by as i64).into()), shape)
        };
        let positions = B::int_reshape(positions, [outer, shape[dim], inner].into());
        let positions = if positions.dtype() == int.into() {
            positions
        } else {
            B::int_cast(positions, int)
        };
        let rows = B::int_mul_scalar(positions, (inner as i64).into());
        let rows = B::int_add(rows, steps(outer, len * inner, [outer, 1, 1].into()));
        let places = B::int_add(rows, steps(inner, 1, [1, 1, inner].into()));
        B::int_reshape(places, [shape.num_elements()].into())
    }
}

/// Records a sort. `with_positions` computes it with positions, and `plain` without them.
fn record<B: ScanBackend, C: CheckpointStrategy>(
    tensor: FloatTensor<Autodiff<B, C>>,
    dim: usize,
    with_positions: impl FnOnce(FloatTensor<B>) -> (FloatTensor<B>, IntTensor<B>),
    plain: impl FnOnce(FloatTensor<B>) -> (FloatTensor<B>, Option<IntTensor<B>>),
) -> (FloatTensor<Autodiff<B, C>>, Option<IntTensor<B>>) {
    let (input, node) = tensor.into_parts();
    let len = input.shape()[dim];
    match Sorted.prepare::<C>([node]).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let (values, positions) = with_positions(input);
            let sources = Sources {
                positions: positions.clone(),
                dim,
                len,
            };
            (prep.finish(sources, values), Some(positions))
        }
        OpsKind::UnTracked(prep) => {
            let (values, positions) = plain(input);
            (prep.finish(values), positions)
        }
    }
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
        let int = match i32::try_from(tensor.shape()[dim]) {
            Ok(_) => IntDType::I32,
            Err(_) => IntDType::I64,
        };
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
