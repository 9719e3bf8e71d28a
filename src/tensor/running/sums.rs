//! Float sums that lose nothing between chunks.
//!
//! The carry is a sum and what its last addition rounded off (Knuth's TwoSum; Dekker 1971):
//!
//! ```text
//! results      sum + (rounded_off + the sums of the chunk from 0)
//! sum'         sum + (rounded_off + the total of the chunk), which is the last result
//! rounded_off' what this addition rounded off
//! ```
//!
//! So the results of non-negative chunks do not fall, and five million chunks of 0.004 add up to 20,000.

use super::carry::last;
use crate::{ScanOp, ScanOptions, TensorScan};
use burn::tensor::Tensor;

pub(super) struct Sums<const D: usize> {
    pub(super) results: Tensor<D>,
    pub(super) sum: Tensor<D>,
    pub(super) rounded_off: Tensor<D>,
}

/// The results of a chunk that is not empty, and the carry after it.
pub(super) fn next<const D: usize>(
    chunk: Tensor<D>,
    sum: Tensor<D>,
    rounded_off: Option<Tensor<D>>,
    dim: usize,
    options: ScanOptions,
) -> Sums<D> {
    let local = chunk.clone().scan(dim, ScanOp::Sum, options);
    let shown = last(local.clone(), dim);
    let total = if options.exclusive {
        shown + last(chunk, dim)
    } else {
        shown
    };
    let (local, total) = match rounded_off {
        None => (local, total),
        Some(rest) => (local + rest.clone(), total + rest),
    };
    let results = local + sum.clone();
    let (sum, rounded_off) = two_sum(sum, total);
    Sums {
        results,
        sum,
        rounded_off,
    }
}

/// The rounded sum, and the rest as a constant; no rest where the sum is not finite.
fn two_sum<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> (Tensor<D>, Tensor<D>) {
    let sum = a.clone() + b.clone();
    let (a, b, rounded) = (a.detach(), b.detach(), sum.clone().detach());
    let of_b = rounded.clone() - a.clone();
    let of_a = rounded - of_b.clone();
    let rest = (a - of_a) + (b - of_b);
    let is_nan = rest.clone().is_nan();
    (sum, rest.mask_fill(is_nan, 0))
}
