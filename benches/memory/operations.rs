//! The operations that are measured, and their inputs.

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;

/// Gives the results of a call as data.
pub type Results = Box<dyn FnOnce() -> Vec<TensorData>>;

/// A name and a call.
pub type Operation<I> = (&'static str, fn(I) -> Results);

/// Lines along a dimension of tensors of one layout.
#[derive(Clone)]
pub struct Lines {
    pub x: Tensor<2>,
    pub decay: Tensor<2>,
    /// Two elements in thirteen.
    pub mask: Tensor<2, Bool>,
    pub dim: usize,
}

impl Lines {
    /// The same elements, one row after the other.
    pub fn laid_out(&self) -> Self {
        let device = Device::flex();
        Self {
            x: Tensor::from_data(self.x.to_data(), &device),
            decay: Tensor::from_data(self.decay.to_data(), &device),
            mask: Tensor::from_data(self.mask.to_data(), &device),
            dim: self.dim,
        }
    }
}

/// A sequence, and ragged rows of it.
#[derive(Clone)]
pub struct Flat {
    pub x: Tensor<1>,
    /// From 0 to 255.
    pub keys: Tensor<1, Int>,
    /// 0 or 1.
    pub lengths: Tensor<1, Int>,
    /// Of segments of seven elements.
    pub offsets: Tensor<1, Int>,
}

impl Flat {
    pub fn of(x: Tensor<1>) -> Self {
        let [len] = x.dims();
        let numbers = Tensor::<1, Int>::arange(0..len as i64, &Device::flex());
        Self {
            keys: numbers.clone() * 7 % 256,
            lengths: numbers % 2,
            offsets: Tensor::arange_step(0..len as i64 + 1, 7, &Device::flex()),
            x,
        }
    }
}

/// A call, whose tensors are held until they are read.
macro_rules! call {
    ($input:ident => $($tensor:ident),+ = $call:expr) => {
        |$input| {
            #[allow(unused_parens, reason = "a result or several")]
            let ($($tensor),+) = $call;
            Box::new(move || vec![$($tensor.into_data()),+])
        }
    };
}

pub const OF_LINES: [Operation<Lines>; 16] = [
    (
        "inclusive_cumsum",
        call!(i => y = i.x.inclusive_cumsum(i.dim)),
    ),
    ("reverse_cumsum", call!(i => y = i.x.reverse_cumsum(i.dim))),
    (
        "scan(Max)",
        call!(i => y = i.x.scan(i.dim, ScanOp::Max, ScanOptions::default())),
    ),
    (
        "scan_from(Max)",
        call!(i => y = {
            let first = i.x.clone().narrow(i.dim, 0, 1);
            i.x.scan_from(first, i.dim, ScanOp::Max, ScanOptions::default())
        }),
    ),
    (
        "cummax_with_indices",
        call!(i => y, at = i.x.cummax_with_indices(i.dim)),
    ),
    (
        "segmented_scan(Sum)",
        call!(i => y = i.x.segmented_scan(i.mask, i.dim, ScanOp::Sum, ScanOptions::default())),
    ),
    (
        "linear_recurrence",
        call!(i => y = i.x.linear_recurrence(i.decay, i.dim)),
    ),
    ("logcumsumexp", call!(i => y = i.x.logcumsumexp(i.dim))),
    (
        "compact_by_mask",
        call!(i => y = i.x.compact_by_mask(i.mask)),
    ),
    (
        "compact_by_mask_padded",
        call!(i => y, n = i.x.compact_by_mask_padded(i.mask)),
    ),
    (
        "compact_along_by_mask",
        call!(i => y, n = i.x.compact_along_by_mask(i.mask, i.dim)),
    ),
    (
        "compact_argwhere",
        call!(i => y = i.mask.compact_argwhere()),
    ),
    ("count_true", call!(i => y = i.mask.count_true())),
    (
        "radix_sort",
        call!(i => y = i.x.radix_sort(i.dim, SortOrder::Ascending)),
    ),
    (
        "radix_sort_with_indices",
        call!(i => y, at = i.x.radix_sort_with_indices(i.dim, SortOrder::Ascending)),
    ),
    (
        "radix_topk_with_indices(2)",
        call!(i => y, at = i.x.radix_topk_with_indices(2, i.dim)),
    ),
];

pub const OF_ALL: [Operation<Flat>; 10] = [
    (
        "segment_reduce(Sum)",
        call!(i => y = i.x.segment_reduce(i.offsets, ScanOp::Sum)),
    ),
    (
        "offsets_to_segment_ids",
        call!(i => y = i.offsets.offsets_to_segment_ids(i.x.dims()[0])),
    ),
    (
        "lengths_to_offsets",
        call!(i => y = i.lengths.lengths_to_offsets()),
    ),
    (
        "partition_by_key",
        call!(i => y, at = i.x.partition_by_key(i.keys, 256)),
    ),
    (
        "run_length_encode",
        call!(i => y, n = i.x.run_length_encode()),
    ),
    (
        "repeat_by_lengths",
        call!(i => y = i.x.repeat_by_lengths(i.lengths)),
    ),
    (
        "radix_sort",
        call!(i => y = i.x.radix_sort(0, SortOrder::Ascending)),
    ),
    (
        "radix_argsort",
        call!(i => at = i.x.radix_argsort(0, SortOrder::Ascending)),
    ),
    (
        "radix_topk_with_indices(64)",
        call!(i => y, at = i.x.radix_topk_with_indices(64, 0)),
    ),
    (
        "radix_sort_by_key",
        call!(i => y, k = i.x.radix_sort_by_key(i.keys, SortOrder::Ascending)),
    ),
];
