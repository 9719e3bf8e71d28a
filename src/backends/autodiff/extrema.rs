//! The gradient of a maximum or minimum scan: the gradient of each result goes to the element that set it.
//!
//! Of equal elements, the one nearest to the result counts, as in Burn's `cummax` and `cummin`. A NaN sets the results
//! from it on, up to the next NaN, as in torch. An exclusive result is the inclusive result of the element before it,
//! and the first is a constant. So exclusive gradients are shifted by one and then treated as inclusive ones.
//!
//! The results from such an element up to the next one are a segment. The element's gradient is the sum of their
//! gradients.

use super::scan_of_lines::Scan;
use crate::ops::{ScanBackend, along};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};

pub(super) fn gradient<B: ScanBackend>(
    input: FloatTensor<B>,
    grad: FloatTensor<B>,
    scan: &Scan<B>,
) -> FloatTensor<B> {
    let grad = scan.inclusive_grad(grad);
    let output = scan.scan(input.clone(), scan.op, scan.options.inclusive());
    let bool_dtype = burn_backend::get_or_init_device_settings::<B>(&grad.device()).bool_dtype;
    let is_nan = B::float_is_nan(input.clone(), bool_dtype);
    let sets = B::bool_or(B::float_equal(output, input, bool_dtype), is_nan);
    let heads = match scan.starts() {
        None => sets,
        Some(starts) => B::bool_or(sets, starts),
    };
    B::float_segment_sums(grad, heads, scan.dim, scan.options.reverse)
}

/// The same for a forward scan, given the position of the element that set each result.
pub(super) fn gradient_by_index<B: ScanBackend>(
    indices: IntTensor<B>,
    grad: FloatTensor<B>,
    dim: usize,
) -> FloatTensor<B> {
    let shape = grad.shape();
    if shape.num_elements() == 0 || shape[dim] == 1 {
        return grad;
    }
    let bool_dtype = burn_backend::get_or_init_device_settings::<B>(&grad.device()).bool_dtype;
    // An element sets its result if the position differs from the previous one. The first element of a line always
    // does.
    let part = |range| {
        let slices = along(shape.num_dims(), dim, range);
        B::int_slice(indices.clone(), &slices)
    };
    let before = B::int_cat(vec![part(0..1), part(0..shape[dim] - 1)], dim);
    let sets = B::int_not_equal(indices, before, bool_dtype);
    B::float_segment_sums(grad, sets, dim, false)
}
