//! The gradient of a log-sum-exp scan.
//!
//! `y` are the inclusive results. The gradient of the result at `t` reaches element `s` times the factor
//! `exp(x[s] − y[t])`. It travels step by step, by factors of at most 1, so nothing overflows:
//!
//! ```text
//! G[s] = g[s] + exp(y[s] − y[s+1])·G[s+1]        a linear recurrence in the other direction
//! dx[s] = exp(x[s] − y[s])·G[s]
//! ```
//!
//! An element of −∞ has no gradient. f16 and bf16 are [widened](mod@super::widened): their rounded results would not fit the
//! elements, and the shares of a sum would not add up to 1. In an exclusive scan, the result after an element is the
//! inclusive result at it.

use super::scan_of_lines::Scan;
use crate::ScanOp;
use crate::ops::ScanOps;
use burn::backend::TensorMetadata;
use burn::backend::tensor::{BoolTensor, FloatTensor};

pub(super) fn gradient<B: ScanOps>(
    input: FloatTensor<B>,
    grad: FloatTensor<B>,
    scan: &Scan<B>,
) -> FloatTensor<B> {
    let grad = scan.inclusive_grad(grad);
    let input = scan.seen(input, f64::NEG_INFINITY);
    let output = scan.scan(input.clone(), ScanOp::LogSumExp, scan.options.inclusive());
    let next = scan.next_elements(output.clone());
    // The last position of a line has no next one; its factor multiplies nothing.
    let decay = B::float_clamp_max(ratio::<B>(output.clone(), next), 1.into());
    let options = scan.options.inclusive().reversed();
    let reaching = match scan.ends() {
        None => B::float_linear_recurrence(grad, decay, scan.dim, options),
        // Nothing passes the end of a segment, not even NaN.
        Some(ends) => {
            let decay = B::float_mask_fill(decay, ends, 0.into());
            B::float_reset_recurrence(grad, decay, scan.dim, options)
        }
    };
    let grad = B::float_mul(ratio::<B>(input.clone(), output), reaching);
    let is_nothing = equal_to::<B>(input, f64::NEG_INFINITY);
    B::float_mask_fill(grad, is_nothing, 0.into())
}

/// `exp(x − y)`; 1 where both are equal, even if infinite.
pub(super) fn ratio<B: ScanOps>(x: FloatTensor<B>, y: FloatTensor<B>) -> FloatTensor<B> {
    let bools = burn_backend::get_or_init_device_settings::<B>(&x.device()).bool_dtype;
    let same = B::float_equal(x.clone(), y.clone(), bools);
    let difference = B::float_mask_fill(B::float_sub(x, y), same, 0.into());
    B::float_exp(difference)
}

pub(super) fn equal_to<B: ScanOps>(x: FloatTensor<B>, value: f64) -> BoolTensor<B> {
    let bools = burn_backend::get_or_init_device_settings::<B>(&x.device()).bool_dtype;
    B::float_equal_elem(x, value.into(), bools)
}
