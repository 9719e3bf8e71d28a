//! Where the elements of a sort came from: a gradient goes back there.
//!
//! The positions within lines become positions in the whole tensor, each of which occurs once. For a whole sort they
//! are a permutation, which scatters the gradients. For the `k` largest they are a few places in a larger tensor: they
//! are sorted with their gradients, and the gradients are expanded to them. Nothing is added, so no order of additions
//! can show.

use crate::SortOrder;
use crate::ops::shift::zeros;
use crate::ops::{ScanBackend, range, with_dim};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::{IntDType, Shape};
use burn_backend::get_device_settings;

/// Where the elements of a result came from.
#[derive(Clone, Debug)]
pub(super) struct Sources<B: ScanBackend> {
    pub(super) positions: IntTensor<B>,
    pub(super) dim: usize,
    /// The length of the lines they came from.
    pub(super) len: usize,
}

impl<B: ScanBackend> Sources<B> {
    pub(super) fn gradient(self, grad: FloatTensor<B>) -> FloatTensor<B> {
        let Self { dim, len, .. } = self;
        let (device, few) = (grad.device(), grad.shape());
        let shape = with_dim(&few, dim, len);
        let (taken, elements) = (few.num_elements(), shape.num_elements());
        if taken == 0 {
            return zeros::<B>(shape, &device, grad.dtype());
        }
        let int = dtype_of_positions(elements);
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
            let steps = range::<B>(count, &device, int);
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

/// The narrower dtype that has all positions among some elements.
pub(super) fn dtype_of_positions(elements: usize) -> IntDType {
    match i32::try_from(elements) {
        Ok(_) => IntDType::I32,
        Err(_) => IntDType::I64,
    }
}
