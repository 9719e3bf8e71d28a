//! A size from corrupt data ends its call with a panic in Burn's form. It does not end the process. A failed allocation
//! of the CPU backend would, and only a parent sees that.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;

/// More elements than any system has.
const HUGE: usize = 1 << 44;

fn one() -> Tensor<1> {
    Tensor::from_data([1.0], &Device::flex())
}

fn ints<const N: usize>(values: [i32; N]) -> Tensor<1, Int> {
    Tensor::from_data(values, &Device::flex())
}

#[track_caller]
fn refused<R>(call: impl FnOnce() -> R) {
    let panic = catch_unwind(AssertUnwindSafe(call))
        .err()
        .expect("a call that must be refused was not");
    let message = panic.downcast_ref::<String>().map_or("", String::as_str);
    assert!(
        message.starts_with("=== Tensor Operation Error ==="),
        "{message}"
    );
    let sums = one().inclusive_cumsum(0).into_data();
    assert!(sums.iter::<f32>().eq([1.0]), "the device works afterwards");
}

processes! {
    fn repeated_elements() {
        refused(|| one().repeat_by_lengths_into(ints([1]), HUGE));
    }

    fn segment_ids() {
        refused(|| ints([0, 1]).offsets_to_segment_ids(HUGE));
    }

    fn segment_starts() {
        refused(|| ints([0, 1]).offsets_to_starts(HUGE));
    }

    fn a_broadcast_that_is_scanned() {
        refused(|| one().expand([HUGE]).inclusive_cumsum(0));
        refused(|| one().expand([HUGE]).logcumsumexp(0));
        refused(|| ints([1]).expand([HUGE]).cummax_with_indices(0));
    }

    fn a_broadcast_mask() {
        let mask = || one().greater_elem(0.0).expand([HUGE]);
        refused(|| one().expand_by_mask(mask()));
        refused(|| one().expand([HUGE]).compact_by_mask(mask()));
        refused(|| mask().compact_indices());
        refused(|| mask().compact_argwhere());
    }

    fn values_that_are_read_as_a_broadcast() {
        let few = || one().greater_elem(0.0);
        refused(|| one().expand([HUGE]).expand_by_mask(few()));
        refused(|| one().expand([HUGE]).segment_reduce(ints([0, 1]), ScanOp::Sum));
        refused(|| one().expand([HUGE]).run_length_encode());
    }
}
