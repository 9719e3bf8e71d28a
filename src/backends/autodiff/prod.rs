//! The gradient of a product scan, correct with zeros, and without a division.
//!
//! Let `y[j] = ∏ x[k]` over the elements up to `j`. The gradient of element `i` is the product before it times what
//! reaches it from later elements:
//!
//! ```text
//! S[i] = g[i] + x[i+1]·S[i+1]        a linear recurrence in the other direction
//! dx[i] = (∏ x[k], k < i)·S[i]       an exclusive product scan
//! ```
//!
//! In the recurrence the end of a segment is a factor of 0, as a zero element is. Both stop what flows to the elements
//! before them. `0·∞` is NaN, so the recurrence is the one with resets: what it forgets may be infinite. The first zero
//! itself receives gradients from as far as the second one. An element after the first zero has no gradient: its
//! products contain that zero even without the element. There the product before the element is filled with zeros,
//! because after an infinity a zero makes it NaN.
//!
//! Where nothing reaches an element, its gradient is zero, even if the product before it has left the range of the
//! type. f16 and bf16 are [widened](mod@super::widened), because the product before an element may leave the range of f16
//! where all results lie in it. The result of an exclusive scan after an element is the inclusive result at it, so its
//! gradients are shifted first.

use super::log_sum_exp::equal_to;
use super::scan_of_lines::Scan;
use crate::ScanOp;
use crate::ops::ScanBackend;
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::FloatDType;
use burn_backend::get_device_settings;

pub(super) fn gradient<B: ScanBackend>(
    input: FloatTensor<B>,
    grad: FloatTensor<B>,
    scan: &Scan<B>,
) -> FloatTensor<B> {
    let grad = scan.inclusive_grad(grad);
    let input = scan.seen(input, 0.);
    let dtype: FloatDType = grad.dtype().into();
    let bools = get_device_settings::<B>(&grad.device()).bool_dtype;
    let options = scan.options.inclusive();
    let next = scan.next_elements(input.clone());
    let reaching = B::float_reset_recurrence(grad, next, scan.dim, options.reversed());
    let zeros = B::bool_into_float(equal_to::<B>(input.clone(), 0.), dtype);
    let zeros_before = scan.scan(zeros, ScanOp::Sum, options.exclusive());
    let is_after_zero = B::float_greater_elem(zeros_before, 0.5.into(), bools);
    let before = scan.scan(input, ScanOp::Prod, options.exclusive());
    let before = B::float_mask_fill(before, is_after_zero, 0.into());
    times::<B>(before, reaching)
}

/// The products, 0 where a factor is 0: what has left the range of the type does not reach the loss there.
pub(super) fn times<B: ScanBackend>(one: FloatTensor<B>, other: FloatTensor<B>) -> FloatTensor<B> {
    let is_zero = |factor: &FloatTensor<B>| equal_to::<B>(factor.clone(), 0.);
    let nothing = B::bool_or(is_zero(&one), is_zero(&other));
    B::float_mask_fill(B::float_mul(one, other), nothing, 0.into())
}
