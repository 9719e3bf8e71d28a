//! Float sums that lose nothing between chunks.
//!
//! The carry is a sum and what its last addition rounded off (Dekker 1971):
//!
//! ```text
//! results      sum + (rounded_off + the sums of the chunk from 0)
//! sum'         sum + (rounded_off + the total of the chunk), which is the last result
//! rounded_off' what this addition rounded off
//! ```
//!
//! So the results of non-negative chunks do not fall, and five million chunks of 0.004 add up to 20,000.

use super::SCAN;
use super::carry::last;
use crate::{ScanOp, ScanOptions, TensorScan, check};
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
    let before = check::expand(SCAN, &local, sum.clone(), "state", local.dims());
    let results = local + before;
    // This is a scan of one element, not an addition: compilers of shaders may take `(a + b) - a` for `b`, and Burn
    // would fuse both into one shader.
    let inclusive = ScanOptions::default();
    let next_sum = total
        .clone()
        .scan_from(sum.clone(), dim, ScanOp::Sum, inclusive);
    let rest = rounded_off_by(sum.detach(), total.detach(), next_sum.clone().detach());
    Sums {
        results,
        sum: next_sum,
        rounded_off: rest,
    }
}

/// What `sum`, the rounded sum of both, lacks. Exact where `a` is the larger one; 0 where the sum is not finite, as after
/// an overflow.
fn rounded_off_by<const D: usize>(a: Tensor<D>, b: Tensor<D>, sum: Tensor<D>) -> Tensor<D> {
    let rest = b - (sum - a);
    let is_lost = rest.clone().is_finite().bool_not();
    rest.mask_fill(is_lost, 0).detach()
}
