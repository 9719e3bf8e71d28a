//! The gradient of a maximum or minimum scan: the gradient of each result goes to the element that set it.
//!
//! Of equal elements the nearest to the result counts, as in Burn's `cummax` and `cummin`. A NaN equals nothing: as in
//! Burn, the gradients of its results go to the element that set the result before. An exclusive result is the
//! inclusive result of the element before it, and the first is a constant. So exclusive gradients are shifted by one
//! and then treated as inclusive ones.
//!
//! The results from such an element up to the next one are a segment. The element's gradient is the sum of their
//! gradients.

use super::scan_of_lines::Scan;
use crate::ops::ScanBackend;
use burn::backend::TensorMetadata;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::tensor::Shape;

pub(super) fn gradient<B: ScanBackend>(
    input: FloatTensor<B>,
    grad: FloatTensor<B>,
    scan: &Scan<B>,
) -> FloatTensor<B> {
    let grad = match scan.options.exclusive {
        true => scan.next_elements(grad),
        false => grad,
    };
    let output = scan.scan(input.clone(), scan.op, scan.options.inclusive());
    let bool_dtype = burn_backend::get_or_init_device_settings::<B>(&grad.device()).bool_dtype;
    let sets = B::float_equal(output, input, bool_dtype);
    let heads = match scan.starts() {
        None => sets,
        Some(starts) => B::bool_or(sets, starts),
    };
    B::float_segment_sums(grad, heads, scan.dim, scan.options.reverse)
}

/// The same of a forward scan, given the position of the element that set each result.
pub(super) fn gradient_by_index<B: ScanBackend>(
    indices: IntTensor<B>,
    grad: FloatTensor<B>,
    dim: usize,
) -> FloatTensor<B> {
    let shape = grad.shape();
    if shape.num_elements() == 0 {
        return grad;
    }
    let device = grad.device();
    let bool_dtype = burn_backend::get_or_init_device_settings::<B>(&device).bool_dtype;
    let mut line = vec![1; shape.num_dims()];
    line[dim] = shape[dim];
    let positions = B::int_arange(0..shape[dim] as i64, &device, indices.dtype().into());
    let positions = B::int_expand(B::int_reshape(positions, Shape::from(line)), shape);
    let sets = B::int_equal(indices, positions, bool_dtype);
    B::float_segment_sums(grad, sets, dim, false)
}
