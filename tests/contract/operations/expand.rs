//! `expand_by_mask`: puts back what compaction took out.

use burn::tensor::{Bool, Device, Tensor};
use burn_scan::{TensorCompact, TensorExpand};
use scan_testing::tensors::element::{Element, numbered};
use scan_testing::tensors::views::{half, masks, views};
use scan_testing::tensors::waiting::ExactCompact;
use scan_testing::tensors::{assert_same, host, mask, oracle, sampled, tensor};

use super::{LARGE_SIZES, SIZES};

on_every_device![
    every_size_and_density,
    large_sizes,
    too_few_and_too_many_values,
    every_rank,
    strided_values_and_masks,
    inverse_of_compaction,
];

#[track_caller]
fn check_tensor<T: Element, const D: usize>(
    name: &str,
    values: &Tensor<1, T::Kind>,
    kept: &Tensor<D, Bool>,
) where
    Tensor<1, T::Kind>: TensorExpand<T::Kind>,
{
    let context = || format!("{:?} values under {name} {:?}", values.dims(), kept.dims());
    let (before, mask_before) = (host::<T, 1>(values.clone()), host::<bool, D>(kept.clone()));
    let found = values.clone().expand_by_mask(kept.clone());
    assert_eq!(found.dims(), kept.dims(), "{}", context());
    assert_eq!(found.dtype(), values.dtype(), "{}", context());
    assert_same(
        &host::<T, D>(found),
        &oracle::expand(&before, &mask_before),
        context,
    );
    assert_same(&host::<T, 1>(values.clone()), &before, || {
        format!("values of {}", context())
    });
    assert_same(&host::<bool, D>(kept.clone()), &mask_before, || {
        format!("mask of {}", context())
    });
}

/// As many values as the mask has trues, plus `extra`, which may be negative.
#[track_caller]
fn check<T: Element>(name: &str, kept: &[bool], extra: isize, device: &Device)
where
    Tensor<1, T::Kind>: TensorExpand<T::Kind>,
{
    let n = oracle::indices(kept).len().saturating_add_signed(extra);
    let values = tensor::<T, 1>(&numbered(n), [n], device);
    check_tensor::<T, 1>(name, &values, &mask(kept, [kept.len()], device));
}

fn every_size_and_density(device: &Device) {
    for (turn, n) in SIZES.into_iter().enumerate() {
        for (name, kept) in sampled(masks(n), device, turn, 2) {
            check::<f32>(name, &kept, 0, device);
        }
        let kept: Vec<bool> = (0..n).map(half).collect();
        check::<i32>("half", &kept, 0, device);
        check::<bool>("half", &kept, 0, device);
    }
}

fn large_sizes(device: &Device) {
    for n in LARGE_SIZES {
        let kept: Vec<bool> = (0..n).map(half).collect();
        check::<i32>("half", &kept, 0, device);
    }
}

fn too_few_and_too_many_values(device: &Device) {
    for (name, kept) in masks(9000) {
        for extra in [-10_000, -1, 1, 5000] {
            check::<f32>(name, &kept, extra, device);
        }
    }
    // The values end in the second of three blocks of the CPU engine.
    let kept: Vec<bool> = (0..40_000).map(half).collect();
    check::<i32>("half", &kept, -10_000, device);
    check::<bool>(
        "half",
        &(0..9000).map(half).collect::<Vec<_>>(),
        -100,
        device,
    );
}

fn every_rank(device: &Device) {
    macro_rules! check_shape {
        ($($shape:expr),*) => {$({
            let n: usize = $shape.iter().product();
            let kept = mask(&(0..n).map(half).collect::<Vec<_>>(), $shape, device);
            let values = tensor::<i32, 1>(&numbered(n / 2), [n / 2], device);
            check_tensor::<i32, _>("half", &values, &kept);
        })*};
    }
    every_rank!(check_shape);
}

fn strided_values_and_masks(device: &Device) {
    let shape = [12, 40, 33];
    let n = shape.iter().product();
    let base = mask(&(0..n).map(half).collect::<Vec<_>>(), shape, device);
    let values = tensor::<i32, 2>(&numbered(2 * n), [n, 2], device);
    let column = values.slice([0..n, 1..2]).reshape([n]);
    for (name, kept) in views(&base) {
        check_tensor::<i32, 3>(name, &column, &kept);
        check_tensor::<i32, 3>(name, &column.clone().flip([0]), &kept);
    }
    let broadcast = tensor::<i32, 1>(&[7], [1], device).expand([n]);
    check_tensor::<i32, 3>("one value for all", &broadcast, &base);
}

/// expand(compact(x, m), m) = x where m, zero elsewhere.
fn inverse_of_compaction(device: &Device) {
    let (n, shape) = (60 * 90, [60, 90]);
    for (name, kept) in masks(n) {
        let input = tensor::<f32, 2>(&numbered(n), shape, device);
        let kept = mask(&kept, shape, device);
        let expected = input.clone().mask_fill(kept.clone().bool_not(), 0);
        let found = input
            .clone()
            .exact_by_mask(kept.clone())
            .expand_by_mask(kept.clone());
        let expected = host::<f32, 2>(expected);
        assert_same(&host::<f32, 2>(found), &expected, || name.to_string());
        let (padded, _) = input.compact_by_mask_padded(kept.clone());
        let found = padded.expand_by_mask(kept);
        assert_same(&host::<f32, 2>(found), &expected, || {
            format!("{name}, padded")
        });
    }
}
