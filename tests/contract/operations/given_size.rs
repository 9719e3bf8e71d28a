//! Results of a given size: the first survivors, whatever their number.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{Element, numbered};
use scan_testing::tensors::views::{half, masks, views};
use scan_testing::tensors::{assert_same, host, host_indices, mask, oracle, read, sampled, tensor};

use super::{SIZES, TILE};

on_every_device![
    every_mask_and_size,
    every_length,
    coordinates_of_every_rank,
    every_kind,
    strided_masks,
    more_than_shader_loops,
];

/// No slots, fewer than elements, as many, more.
fn sizes(n: usize) -> [usize; 6] {
    [0, 1, n / 2, n.saturating_sub(1), n, n + 300]
}

fn of_size<T: Copy>(mut survivors: Vec<T>, size: usize, fill: T) -> Vec<T> {
    survivors.resize(size, fill);
    survivors
}

#[track_caller]
fn check_positions<const D: usize>(
    name: &str,
    kept: &Tensor<D, burn::tensor::Bool>,
    size: usize,
    fill: i64,
) {
    let context = format!("{size} of {:?}, {name}, fill {fill}", kept.dims());
    let flags = host::<bool, D>(kept.clone());
    let all = oracle::indices(&flags);

    let (positions, count) = kept.clone().compact_indices_padded(size, fill);
    assert_eq!(positions.dims(), [size], "{context}");
    let int = positions.device().settings().int_dtype.into();
    assert_eq!((positions.dtype(), count.dtype()), (int, int), "{context}");
    assert_eq!(host_indices(count), [all.len()], "the count of {context}");
    let found: Vec<i64> = read(positions).iter().collect();
    let positions = all.iter().map(|&at| at as i64).collect();
    assert!(found == of_size(positions, size, fill), "{context}");

    let (rows, count) = kept.clone().compact_argwhere_padded(size, fill);
    assert_eq!(rows.dims(), [size, D], "{context}");
    assert_eq!(rows.dtype(), int, "{context}");
    assert_eq!(host_indices(count), [all.len()], "the count of {context}");
    let found: Vec<i64> = read(rows).iter().collect();
    let rows = oracle::argwhere(&flags, &kept.dims());
    let rows = rows.into_iter().map(|at| at as i64).collect();
    assert!(found == of_size(rows, size * D, fill), "rows of {context}");
}

#[track_caller]
fn check_values<T: Element>(name: &str, flags: &[bool], size: usize, device: &Device)
where
    Tensor<1, T::Kind>: TensorCompact<1, T::Kind>,
{
    let n = flags.len();
    let values: Vec<T> = numbered(n);
    let survivors = oracle::compact(&values, flags);
    let count = survivors.len();
    let context = || format!("{size} of {n} {:?}, {name}", T::dtype());
    let input = tensor::<T, 1>(&values, [n], device);
    let (kept, found) = input
        .clone()
        .compact_by_mask_into(mask(flags, [n], device), size);
    assert_eq!((kept.dims(), kept.dtype()), ([size], input.dtype()));
    assert_eq!(host_indices(found), [count], "the count of {}", context());
    let expected = of_size(survivors, size, T::default());
    assert_same(&host::<T, 1>(kept), &expected, context);
}

fn every_mask_and_size(device: &Device) {
    let n = TILE + 30;
    for (name, flags) in masks(n) {
        let on_device = mask(&flags, [n], device);
        for size in sampled(sizes(n), device, 1, 2) {
            check_positions(name, &on_device, size, -1);
            check_values::<f32>(name, &flags, size, device);
        }
    }
}

fn every_length(device: &Device) {
    for n in sampled(SIZES, device, 0, 2) {
        let flags: Vec<bool> = (0..n).map(half).collect();
        for size in [0, n / 3, n + 1] {
            check_positions("half", &mask(&flags, [n], device), size, 7);
            check_values::<i32>("half", &flags, size, device);
        }
    }
}

fn coordinates_of_every_rank(device: &Device) {
    macro_rules! shapes {
        ($($shape:expr),*) => {$(
            let n: usize = $shape.iter().product();
            let flags: Vec<bool> = (0..n).map(half).collect();
            for size in [0, n / 3, n + 5] {
                check_positions("half", &mask(&flags, $shape, device), size, -7);
            }
        )*};
    }
    every_rank!(shapes);
}

fn every_kind(device: &Device) {
    let flags: Vec<bool> = (0..500).map(half).collect();
    for size in sizes(500) {
        check_values::<f32>("half", &flags, size, device);
        check_values::<i32>("half", &flags, size, device);
        check_values::<bool>("half", &flags, size, device);
    }
}

fn strided_masks(device: &Device) {
    let flags: Vec<bool> = (0..6 * 7 * 8).map(half).collect();
    let values = tensor::<f32, 3>(&numbered(6 * 7 * 8), [6, 7, 8], device);
    let all = views(&mask(&flags, [6, 7, 8], device));
    for ((name, kept), (_, values)) in all.into_iter().zip(views(&values)) {
        check_positions(name, &kept, 100, 0);
        let survivors = oracle::compact(&host(values.clone()), &host(kept.clone()));
        let (found, _) = values.compact_by_mask_into(kept, 100);
        let expected = of_size(survivors, 100, 0.0);
        assert_same(&host::<f32, 1>(found), &expected, || name.to_string());
    }
}

/// Burn makes a range on a fused device by a loop for each number, and lavapipe ends all loops after 65,535 rounds.
fn more_than_shader_loops(device: &Device) {
    let n = 70_000;
    let flags: Vec<bool> = (0..n).map(|at| at < 100 || at >= n - 50).collect();
    let on_device = mask(&flags, [n], device);
    check_positions("ends", &on_device, n, -1);
    check_values::<f32>("ends", &flags, n + 10, device);
}
