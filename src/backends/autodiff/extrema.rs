//! The gradient of a maximum or minimum scan: each result's gradient goes to the element that set it.
//!
//! Of equal elements the one nearest to the result counts, as in Burn's `cummax` and `cummin`; and as there a NaN, which equals nothing,
//! leaves the gradients of its results to the element that set the one before. An exclusive result is the inclusive one of
//! the element before it, and the first is a constant, so that its gradients are shifted by one and then treated alike.
//!
//! The results between one such element and the next are a segment, and the element's gradient is the sum of theirs.

use super::scans::Scan;
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
        true => scan.pulled(grad),
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

/// The same of a forward scan of which it is known who set each result.
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
