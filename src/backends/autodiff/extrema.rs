//! The gradient of a maximum or minimum scan: each result's gradient goes to the element that set it.
//!
//! Of equal elements the one nearest to the result counts, as in Burn's `cummax` and `cummin`; and as there a NaN, which equals nothing,
//! leaves the gradients of its results to the element that set the one before. An exclusive result is the inclusive one of
//! the element before it, and the first is a constant, so that its gradients are shifted by one and then treated alike.
//!
//! The results between one such element and the next are a segment, and the element's gradient is the sum of theirs.

use super::Scan;
use super::shift::pulled;
use crate::ScanOptions;
use crate::ops::ScanBackend;
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;

pub(super) fn gradient<B: ScanBackend>(
    input: FloatTensor<B>,
    grad: FloatTensor<B>,
    scan: Scan,
) -> FloatTensor<B> {
    let Scan { dim, op, options } = scan;
    let inclusive = ScanOptions {
        exclusive: false,
        ..options
    };
    let grad = if options.exclusive {
        pulled::<B>(grad, dim, options.reverse)
    } else {
        grad
    };

    let output = B::float_scan(input.clone(), dim, op, inclusive);
    let bool_dtype = burn_backend::get_or_init_device_settings::<B>(&grad.device()).bool_dtype;
    let sets = B::float_equal(output, input, bool_dtype);
    B::float_segment_sums(grad, sets, dim, options.reverse)
}
