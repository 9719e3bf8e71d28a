//! The gradient of a maximum or minimum scan: each result's gradient goes to the element that set it.
//!
//! Of equal elements the one nearest to the result counts, as in Burn's `cummax` and `cummin`; and as there a NaN, which equals nothing,
//! leaves the gradients of its results to the element that set the one before. An exclusive result is the inclusive one of
//! the element before it, and the first is a constant, so that its gradients are shifted by one and then treated alike.
//!
//! The results between one such element and the next are a segment, and the element's gradient is the sum of theirs.

use super::Scan;
use crate::ScanOptions;
use crate::ops::{ScanBackend, with_dim};
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Slice;

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
        shift::<B>(grad, dim, options.reverse)
    } else {
        grad
    };

    let output = B::float_scan(input.clone(), dim, op, inclusive);
    let bool_dtype = burn_backend::get_or_init_device_settings::<B>(&grad.device()).bool_dtype;
    let sets = B::float_equal(output, input, bool_dtype);
    B::float_segment_sums(grad, sets, dim, options.reverse)
}

/// The gradient of result `j + 1` at `j` (of `j − 1` in a reverse scan); nothing at the end.
fn shift<B: ScanBackend>(grad: FloatTensor<B>, dim: usize, reverse: bool) -> FloatTensor<B> {
    let shape = grad.shape();
    let len = shape[dim];
    let zeros = B::float_zeros(
        with_dim(&shape, dim, 1),
        &grad.device(),
        grad.dtype().into(),
    );
    let mut kept = vec![Slice::full(); shape.num_dims()];
    kept[dim] = if reverse {
        Slice::from(0..len - 1)
    } else {
        Slice::from(1..len)
    };
    let rest = B::float_slice(grad, &kept);
    B::float_cat(
        if reverse {
            vec![zeros, rest]
        } else {
            vec![rest, zeros]
        },
        dim,
    )
}
