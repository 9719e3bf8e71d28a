//! `compact_indices`, `compact_argwhere` and `count_true`.

use burn::tensor::{Bool, Device, Tensor};
use burn_scan::MaskIndices;
use scan_testing::tensors::views::{half, masks, views};
use scan_testing::tensors::waiting::ExactIndices;
use scan_testing::tensors::{assert_same, host, host_indices, mask, oracle, sampled};

use super::{LARGE_SIZES, SIZES, TILE};

on_every_device![
    every_size_and_density,
    large_sizes,
    every_rank,
    strided_masks,
    computed_masks,
];

#[track_caller]
fn check_tensor<const D: usize>(name: &str, kept: &Tensor<D, Bool>) {
    let shape = kept.dims();
    let mask = host::<bool, D>(kept.clone());
    let expected = oracle::indices(&mask);

    let count = kept.clone().count_true();
    assert_eq!(
        host_indices(count),
        [expected.len()],
        "the count of {name} {shape:?}"
    );
    let flat = kept.clone().exact_indices();
    assert_eq!(
        flat.dims(),
        [expected.len()],
        "the indices of {name} {shape:?}"
    );
    assert!(
        host_indices(flat) == expected,
        "the indices of {name} {shape:?}"
    );
    let rows = kept.clone().exact_argwhere();
    assert_eq!(
        rows.dims(),
        [expected.len(), D],
        "the rows of {name} {shape:?}"
    );
    assert!(
        host_indices(rows) == oracle::argwhere(&mask, &shape),
        "the rows of {name} {shape:?}"
    );

    assert_same(&host::<bool, D>(kept.clone()), &mask, || {
        format!("{name} after it")
    });
}

fn every_size_and_density(device: &Device) {
    let sizes = SIZES.into_iter().chain([40 * TILE + 17]);
    for (turn, n) in sizes.enumerate() {
        for (name, kept) in sampled(masks(n), device, turn, 2) {
            check_tensor(name, &mask(&kept, [n], device));
        }
    }
}

fn large_sizes(device: &Device) {
    for n in LARGE_SIZES {
        let kept: Vec<bool> = (0..n).map(half).collect();
        check_tensor("half", &mask(&kept, [n], device));
    }
    // Rows that go on in the next block of the CPU engine.
    let kept: Vec<bool> = (0..160_000).map(half).collect();
    check_tensor("half", &mask(&kept, [2, 40_000, 2], device));
    check_tensor("half", &mask(&kept, [4, 1, 40_000], device));
}

fn every_rank(device: &Device) {
    macro_rules! check_shape {
        ($($shape:expr),*) => {$(
            for (name, kept) in masks($shape.iter().product()) {
                check_tensor(name, &mask(&kept, $shape, device));
            }
        )*};
    }
    every_rank!(check_shape);
}

fn strided_masks(device: &Device) {
    for shape in [[3, 4, 6], [12, 40, 33]] {
        let kept: Vec<bool> = (0..shape.iter().product()).map(half).collect();
        for (name, view) in sampled(views(&mask(&kept, shape, device)), device, shape[0], 2) {
            check_tensor(name, &view);
        }
    }
}

/// Masks that are results of a comparison. Their trues may be stored in another way.
fn computed_masks(device: &Device) {
    let x = Tensor::<1, burn::tensor::Int>::arange(0..9000, device);
    let third = x.clone().remainder_scalar(3).equal_scalar(1);
    check_tensor("every third", &third);
    check_tensor("the others", &third.clone().bool_not());
    check_tensor("both", &third.bool_and(x.greater_scalar(4000)));
}
