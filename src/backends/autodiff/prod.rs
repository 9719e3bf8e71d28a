//! The gradient of a product scan, correct with zeros, and without a division.
//!
//! Let `y[j] = ∏ x[k]` over the elements up to `j`. The gradient of element `i` is what precedes it times what reaches
//! it from behind:
//!
//! ```text
//! S[i] = g[i] + x[i+1]·S[i+1]        a linear recurrence in the other direction
//! dx[i] = (∏ x[k], k < i)·S[i]       an exclusive product scan
//! ```
//!
//! Where nothing reaches an element its gradient is zero, even if the product before it has left the range of the type.
//! The result of an exclusive scan after an element is the inclusive result at it, so its gradients are shifted first.

use super::scan_of_lines::Scan;
use crate::ScanOp;
use crate::ops::ScanBackend;
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn_backend::get_device_settings;

pub(super) fn gradient<B: ScanBackend>(
    input: FloatTensor<B>,
    grad: FloatTensor<B>,
    scan: &Scan<B>,
) -> FloatTensor<B> {
    let grad = if scan.options.exclusive {
        scan.next_elements(grad)
    } else {
        grad
    };
    let other_way = scan.options.inclusive().reversed();
    let next = scan.next_elements(input.clone());
    let reaching = B::float_linear_recurrence(grad, next, scan.dim, other_way);
    let before = scan.scan(input, ScanOp::Prod, scan.options.inclusive().exclusive());
    let bools = get_device_settings::<B>(&reaching.device()).bool_dtype;
    let is_zero = B::float_equal_elem(reaching.clone(), 0.into(), bools);
    B::float_mask_fill(B::float_mul(before, reaching), is_zero, 0.into())
}
