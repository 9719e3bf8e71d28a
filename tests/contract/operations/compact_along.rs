//! `compact_along_by_mask`: each line on its own, along any dimension, short lines and long ones.

use burn::tensor::{Bool, Device, Tensor};
use burn_scan::TensorCompact;
use scan_testing::tensors::element::{Element, hash, numbered};
use scan_testing::tensors::views::{half, masks, views};
use scan_testing::tensors::{assert_same, axis, host, host_indices, mask, tensor, unsupported};

use super::TILE;

on_every_device![
    lines_of_every_length,
    every_rank_and_dimension,
    long_lines,
    uneven_columns,
    strided_lines_and_masks,
    lines_of_every_dtype,
];

#[track_caller]
fn check<T: Element, const D: usize>(
    name: &str,
    input: &Tensor<D, T::Kind>,
    kept: &Tensor<D, Bool>,
    dim: usize,
) where
    Tensor<D, T::Kind>: TensorCompact<D, T::Kind>,
{
    let shape = input.dims();
    let (values, flags) = (host::<T, D>(input.clone()), host::<bool, D>(kept.clone()));
    let [outer, len, inner] = axis(&shape, dim);
    let mut expected = vec![T::default(); values.len()];
    let mut counts = Vec::new();
    for line in 0..outer * inner {
        let at = |i: usize| (line / inner * len + i) * inner + line % inner;
        let survivors: Vec<usize> = (0..len).map(at).filter(|&at| flags[at]).collect();
        counts.push(survivors.len());
        for (i, from) in survivors.into_iter().enumerate() {
            expected[at(i)] = values[from];
        }
    }
    let (found, found_counts) = input.clone().compact_along_by_mask(kept.clone(), dim);
    let context = || format!("{name}, {shape:?} along {dim}");
    assert_same(&host::<T, D>(found), &expected, context);
    let mut of_counts = shape;
    of_counts[dim] = 1;
    assert_eq!(found_counts.dims(), of_counts, "{}", context());
    assert_eq!(host_indices(found_counts), counts, "{}", context());
    assert_same(&host::<T, D>(input.clone()), &values, context);
}

#[track_caller]
fn check_shape<T: Element, const D: usize>(
    shape: [usize; D],
    dim: usize,
    device: &Device,
    name: &str,
    kept: &[bool],
) where
    Tensor<D, T::Kind>: TensorCompact<D, T::Kind>,
{
    let input = tensor::<T, D>(&numbered(kept.len()), shape, device);
    check::<T, D>(name, &input, &mask(kept, shape, device), dim);
}

/// Around the length that a unit walks alone, and around vectors, planes and cubes.
fn lines_of_every_length(device: &Device) {
    for len in [1, 2, 5, 31, 32, 33, 64, 100, 128, 257, 1000, 1024] {
        let kept: Vec<bool> = (0..7 * len).map(half).collect();
        check_shape::<f32, 2>([7, len], 1, device, "half", &kept);
        check_shape::<i32, 2>([len, 7], 0, device, "half", &kept);
    }
    for (name, kept) in masks(40 * 96) {
        check_shape::<f32, 2>([40, 96], 1, device, name, &kept);
        check_shape::<f32, 2>([96, 40], 0, device, name, &kept);
    }
}

fn every_rank_and_dimension(device: &Device) {
    macro_rules! each {
        ($($shape:expr),*) => {$(
            for dim in 0..$shape.len() {
                let n = $shape.iter().product::<usize>();
                let kept: Vec<bool> = (0..n).map(half).collect();
                check_shape::<i32, _>($shape, dim, device, "half", &kept);
                check_shape::<bool, _>($shape, dim, device, "half", &kept);
            }
        )*};
    }
    every_rank!(each);
}

/// Lines of several tiles, with nearly all falses and with nearly all trues.
fn long_lines(device: &Device) {
    for len in [3 * TILE + 1, 70_000] {
        for rare in [true, false] {
            let kept: Vec<bool> = (0..3 * len)
                .map(|i| hash(i).is_multiple_of(5000) == rare)
                .collect();
            check_shape::<f32, 2>([3, len], 1, device, "long rows", &kept);
            check_shape::<i32, 2>([len, 3], 0, device, "long columns", &kept);
        }
    }
}

/// Columns with few and with many survivors side by side, some with all, and some with none; and a column that is ahead
/// of the others, which then catch up. Elements of a column are 2 KiB apart.
fn uneven_columns(device: &Device) {
    let uneven = |i: usize| match i % 512 {
        7 => true,
        8 => false,
        column => hash(i) % 100 < [10, 50, 90][column % 3],
    };
    let ahead = |i: usize| match i % 512 {
        7 => !(512..900).contains(&(i / 512)),
        _ => i / 512 >= 400,
    };
    for (shape, dim) in [([1, 3000, 512], 1), ([2, 700, 512], 1), ([90, 16, 512], 0)] {
        let mask = |keeps: &dyn Fn(usize) -> bool| -> Vec<bool> {
            (0..shape.iter().product()).map(keeps).collect()
        };
        check_shape::<f32, 3>(shape, dim, device, "uneven", &mask(&uneven));
        check_shape::<f32, 3>(shape, dim, device, "one ahead", &mask(&ahead));
    }
}

fn strided_lines_and_masks(device: &Device) {
    for shape in [[3, 4, 6], [12, 40, 33]] {
        let n = shape.iter().product();
        let base = tensor::<i32, 3>(&numbered(n), shape, device);
        let base_mask = mask(&(0..n).map(half).collect::<Vec<_>>(), shape, device);
        for ((name, view), (_, mask_view)) in views(&base).into_iter().zip(views(&base_mask)) {
            for dim in 0..3 {
                check::<i32, 3>(name, &view, &mask_view, dim);
            }
        }
    }
}

fn lines_of_every_dtype(device: &Device) {
    let kept: Vec<bool> = (0..6 * 300).map(half).collect();
    macro_rules! check_dtypes {
        ($($t:ty),*) => {$(
            if device.supports_dtype(<$t as burn::tensor::Element>::dtype()) {
                check_shape::<$t, 2>([6, 300], 1, device, stringify!($t), &kept);
                check_shape::<$t, 2>([300, 6], 0, device, stringify!($t), &kept);
            } else {
                unsupported(&format!("{device:?} has no {}", stringify!($t)));
            }
        )*};
    }
    check_dtypes!(burn::tensor::f16, burn::tensor::bf16, f64, i64, u8);
}
