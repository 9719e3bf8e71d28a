//! The gradient of a product scan, correct with zeros.
//!
//! Let `out[j] = ∏ in[k]` over the elements `k` up to `j` (`j` included or not). The gradient of element `i` is
//! `Σ grad[j] · ∏ in[k], k ≠ i` over all `j` that see `i`. If no element is zero, this is `Σ grad[j] · out[j] / in[i]`,
//! a scan in the other direction. The division fails at zeros. So each line is split at its first zero, as in PyTorch's
//! `cumprod_backward` and in Burn's:
//!
//! - before it, no product contains a zero, and the division is correct if no product leaves the range of the type;
//! - at it, the products without it are the products of the line in which 1 replaces this zero;
//! - behind it, every product without one element still contains the zero: the gradient is zero.

use super::scan_of_lines::Scan;
use crate::ScanOp;
use crate::ops::ScanBackend;
use burn::backend::TensorMetadata;
use burn::backend::tensor::FloatTensor;
use burn::tensor::FloatDType;

pub(super) fn gradient<B: ScanBackend>(
    input: FloatTensor<B>,
    grad: FloatTensor<B>,
    scan: &Scan<B>,
) -> FloatTensor<B> {
    let options = scan.options;
    let dtype: FloatDType = grad.dtype().into();
    let bools = burn_backend::get_or_init_device_settings::<B>(&grad.device()).bool_dtype;

    let zero = B::bool_into_float(B::float_equal_elem(input.clone(), 0.into(), bools), dtype);
    let zeros_seen = scan.scan(zero.clone(), ScanOp::Sum, options.inclusive());
    let exceeds =
        |count: FloatTensor<B>, limit: f64| B::float_greater_elem(count, limit.into(), bools);
    // Filled, not multiplied with zero: the value may be infinite.
    let without = |tensor, mask| B::float_mask_fill(tensor, mask, 0.into());

    let at_first = without(zero.clone(), exceeds(zeros_seen.clone(), 1.5));
    let not_first = B::float_lower_elem(at_first.clone(), 0.5.into(), bools);
    let products = scan.scan(B::float_add(input.clone(), at_first), ScanOp::Prod, options);
    let seen_by = |products| {
        scan.scan(
            B::float_mul(grad.clone(), products),
            ScanOp::Sum,
            options.reversed(),
        )
    };

    // A product up to `j` that contains the first zero is zero, with or without the element before it.
    let zeros_in_product = scan.scan(zero.clone(), ScanOp::Sum, options);
    let free_of_zeros = without(products.clone(), exceeds(zeros_in_product, 0.5));
    let classic = B::float_div(seen_by(free_of_zeros), B::float_add(input, zero));
    B::float_add(
        without(classic, exceeds(zeros_seen, 0.5)),
        without(seen_by(products), not_first),
    )
}
