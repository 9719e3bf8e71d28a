//! Sorts, and results of a given size.

use burn::tensor::{Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::views::half;

use super::{N, assert_lazy};

#[test]
fn radix_sort() {
    assert_lazy(
        |x| {
            let sorted = x.keys.clone().radix_sort(0, SortOrder::Descending);
            sorted.narrow(0, 0, 20)
        },
        |_, found| assert_eq!(found[..3], [6, 6, 6]),
    );
}

#[test]
fn radix_topk() {
    assert_lazy(
        |x| {
            let (largest, _) = x.keys.clone().radix_topk_with_indices(3, 0);
            largest
        },
        |_, found| assert_eq!(found, [6, 6, 6]),
    );
}

#[test]
fn radix_sort_by_key() {
    assert_lazy(
        |x| {
            let positions = Tensor::<1, Int>::arange(0..N as i64, &x.device);
            let (moved, _) =
                positions.radix_sort_by_key_bits(x.keys.clone(), 3, SortOrder::Ascending);
            moved.narrow(0, 0, 2)
        },
        |_, found| assert_eq!(found, [0, 7]),
    );
}

#[test]
fn results_of_a_given_size() {
    assert_lazy(
        |x| {
            let (positions, count) = x.kept.clone().compact_indices_padded(N, 0);
            let (values, _) = x.kept.clone().int().compact_by_mask_into(x.kept.clone(), N);
            Tensor::cat(vec![count, positions.max(), values.sum()], 0)
        },
        |x, found| {
            let last = (0..N).rev().find(|&i| half(i)).expect("there are some");
            assert_eq!(found, [x.trues, last, x.trues]);
        },
    );
}
