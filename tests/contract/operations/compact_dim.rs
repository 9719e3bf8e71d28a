//! `compact_dim_by_mask` and its padded form, along the first, a middle and the last dimension.

use burn::tensor::{Device, Tensor};
use burn_scan::TensorCompact;
use scan_testing::tensors::devices::is_flex;
use scan_testing::tensors::element::{Element, numbered};
use scan_testing::tensors::views::{half, masks, views};
use scan_testing::tensors::waiting::{ExactCompact, wait};
use scan_testing::tensors::{assert_same, axis, host, host_indices, mask, oracle, tensor};

use super::TILE;

on_every_device![
    every_dimension_and_density,
    long_dimensions,
    strided_values,
    strided_masks
];

#[track_caller]
fn check_tensor<T: Element, const D: usize>(
    name: &str,
    input: &Tensor<D, T::Kind>,
    kept: &[bool],
    dim: usize,
) where
    Tensor<D, T::Kind>: TensorCompact<D, T::Kind>,
{
    let (shape, device) = (input.dims(), input.device());
    let context = |form: &str| format!("{form} of {shape:?} along {dim} by {name}");
    let values = host::<T, D>(input.clone());
    let expected = oracle::compact_dim(&values, &shape, dim, kept);
    let count = oracle::indices(kept).len();
    let mut kept_shape = shape;
    kept_shape[dim] = count;
    let row = || mask(kept, [kept.len()], &device);

    let exact = input.clone().exact_dim_by_mask(row(), dim);
    assert_eq!(exact.dims(), kept_shape, "{}", context("exact"));
    assert_same(&host::<T, D>(exact), &expected, || context("exact"));
    let later = input
        .clone()
        .compact_dim_by_mask_async(row(), dim as i64 - D as i64);
    let later = wait(later);
    assert_eq!(later.dims(), kept_shape, "{}", context("async"));
    assert_same(&host::<T, D>(later), &expected, || {
        context("async, negative dim")
    });

    let (padded, found_count) = input.clone().compact_dim_by_mask_padded(row(), dim);
    assert_eq!(padded.dims(), shape, "{}", context("padded"));
    assert_eq!(host_indices(found_count), [count], "{}", context("count"));
    let padded = host::<T, D>(padded);
    let [outer, len, inner] = axis(&shape, dim);
    for block in 0..outer {
        let block_of =
            |all: &[T], rows: usize| all[block * rows * inner..][..rows * inner].to_vec();
        let mut expected = block_of(&expected, count);
        expected.resize(len * inner, T::default());
        assert_same(&block_of(&padded, len), &expected, || context("padded"));
    }
    assert_same(&host::<T, D>(input.clone()), &values, || {
        context("the values after it")
    });
}

#[track_caller]
fn check<T: Element, const D: usize>(
    name: &str,
    shape: [usize; D],
    kept: &[bool],
    dim: usize,
    device: &Device,
) where
    Tensor<D, T::Kind>: TensorCompact<D, T::Kind>,
{
    let input = tensor::<T, D>(&numbered(shape.iter().product()), shape, device);
    check_tensor::<T, D>(name, &input, kept, dim);
}

fn every_dimension_and_density(device: &Device) {
    for dim in 0..3 {
        let shape = [7, 5, 9];
        for (name, kept) in masks(shape[dim]) {
            check::<f32, 3>(name, shape, &kept, dim, device);
        }
        let kept: Vec<bool> = (0..shape[dim]).map(half).collect();
        check::<i32, 3>("half", shape, &kept, dim, device);
        check::<bool, 3>("half", shape, &kept, dim, device);
    }
    for dim in 0..4 {
        let shape = [3, 4, 2, 5];
        let kept: Vec<bool> = (0..shape[dim]).map(half).collect();
        check::<f32, 4>("half", shape, &kept, dim, device);
    }
    check::<i32, 1>(
        "half",
        [10],
        &(0..10).map(half).collect::<Vec<_>>(),
        0,
        device,
    );
    check::<f32, 2>("empty", [0, 4], &[], 0, device);
    check::<f32, 2>("all", [0, 2], &[true, true], 1, device);
    // The size of half of the slices, if they had elements, is a whole number of the device's memory alignments.
    for (name, kept) in masks(256) {
        check::<f32, 2>(name, [0, 256], &kept, 1, device);
        check::<i32, 3>(name, [0, 256, 4], &kept, 1, device);
        check::<bool, 3>(name, [2, 256, 0], &kept, 1, device);
    }
}

fn long_dimensions(device: &Device) {
    for (shape, dim) in [
        ([3, TILE + 1], 1),
        ([2 * TILE + 1, 3], 0),
        ([40, 300], 1),
        ([300, 40], 0),
    ] {
        for (name, kept) in masks(shape[dim]) {
            check::<f32, 2>(name, shape, &kept, dim, device);
        }
        let kept: Vec<bool> = (0..shape[dim]).map(half).collect();
        check::<bool, 2>("half", shape, &kept, dim, device);
    }
    if is_flex(device) {
        // Slices of two stretches of the mask, which threads share.
        let kept: Vec<bool> = (0..140_001).map(half).collect();
        check::<f32, 2>("half", [140_001, 4], &kept, 0, device);
    }
}

fn strided_values(device: &Device) {
    let shape = [6, 10, 33];
    let base = tensor::<i32, 3>(&numbered(shape.iter().product()), shape, device);
    for (name, view) in views(&base) {
        for dim in 0..3 {
            let kept: Vec<bool> = (0..view.dims()[dim]).map(half).collect();
            check_tensor::<i32, 3>(name, &view, &kept, dim);
        }
    }
}

/// A mask that is a column of a matrix, a reversed mask, and a single entry that is broadcast.
fn strided_masks(device: &Device) {
    let kept: Vec<bool> = (0..40 * 6).map(half).collect();
    let matrix = mask(&kept, [40, 6], device);
    let column = matrix.clone().slice([0..40, 2..3]).reshape([40]);
    let all = [
        ("column", column.clone()),
        ("reversed", column.flip([0])),
        ("broadcast true", mask(&[true], [1], device).expand([40])),
        ("broadcast false", mask(&[false], [1], device).expand([40])),
    ];
    let input = tensor::<f32, 2>(&numbered(40 * 5), [40, 5], device);
    for (name, row) in all {
        let values = host::<f32, 2>(input.clone());
        let expected = oracle::compact_dim(&values, &[40, 5], 0, &host::<bool, 1>(row.clone()));
        let found = input.clone().exact_dim_by_mask(row, 0);
        assert_same(&host::<f32, 2>(found), &expected, || name.to_string());
    }
}
