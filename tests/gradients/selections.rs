//! Gradients of compaction, expansion and grouping.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::views::{half, masks};
use scan_testing::tensors::waiting::{ExactCompact, wait};
use scan_testing::tensors::{axis, mask, oracle, tensor};

use super::{check, weights};

on_every_device![
    compact_by_mask,
    compact_dim_by_mask,
    expand_by_mask,
    partition_by_key,
];

fn compact_by_mask(device: &Device) {
    for shape in [[6, 9], [70, 90]] {
        let n = shape[0] * shape[1];
        for (name, kept) in masks(n) {
            let on_device = mask(&kept, shape, device);
            let adjoint = |w: &[f64]| oracle::expand(w, &kept);
            let exact = |x: Tensor<2>| x.exact_by_mask(on_device.clone());
            check(name, &weights(n), shape, device, exact, adjoint);
            let padded = |x: Tensor<2>| x.compact_by_mask_padded(on_device.clone()).0;
            check(
                &format!("{name}, padded"),
                &weights(n),
                shape,
                device,
                padded,
                adjoint,
            );
        }
    }
    for (name, kept) in masks(20) {
        let row = mask(&kept, [20], device);
        let later = |x: Tensor<1>| wait(x.compact_by_mask_async(row.clone()));
        let adjoint = |w: &[f64]| oracle::expand(w, &kept);
        check(
            &format!("{name}, async"),
            &weights(20),
            [20],
            device,
            later,
            adjoint,
        );
    }
}

/// Puts slices back where `kept` is true. This is the adjoint of exact and padded compaction.
fn expand_dim(slices: &[f64], [outer, len, inner]: [usize; 3], kept: &[bool]) -> Vec<f64> {
    let rows = slices.len() / (outer * inner);
    let mut output = vec![0.0; outer * len * inner];
    for (destination, row) in oracle::indices(kept).into_iter().enumerate() {
        for (block, i) in (0..outer).flat_map(|block| (0..inner).map(move |i| (block, i))) {
            let (to, from) = (
                (block * len + row) * inner + i,
                (block * rows + destination) * inner + i,
            );
            output[to] = slices[from];
        }
    }
    output
}

fn compact_dim_by_mask(device: &Device) {
    let shape = [5, 7, 4];
    for dim in 0..3 {
        for (name, kept) in masks(shape[dim]) {
            let row = mask(&kept, [kept.len()], device);
            let adjoint = |w: &[f64]| expand_dim(w, axis(&shape, dim), &kept);
            let exact = |x: Tensor<3>| x.exact_dim_by_mask(row.clone(), dim);
            check(name, &weights(140), shape, device, exact, adjoint);
            let padded = |x: Tensor<3>| x.compact_dim_by_mask_padded(row.clone(), dim).0;
            check(
                &format!("{name}, padded"),
                &weights(140),
                shape,
                device,
                padded,
                adjoint,
            );
        }
    }
}

/// As many values as trues, fewer and more. An ignored value has gradient zero.
fn expand_by_mask(device: &Device) {
    for shape in [[6, 9], [70, 90]] {
        let kept: Vec<bool> = (0..shape[0] * shape[1]).map(half).collect();
        let on_device = mask(&kept, shape, device);
        let trues = oracle::indices(&kept).len();
        for n in [trues, trues - 4, trues + 5] {
            let expand = |x: Tensor<1>| x.expand_by_mask(on_device.clone());
            let adjoint = |w: &[f64]| {
                let mut gradient = oracle::compact(w, &kept);
                gradient.resize(n, 0.0);
                gradient
            };
            check(
                &format!("{n} for {trues}"),
                &weights(n),
                [n],
                device,
                expand,
                adjoint,
            );
        }
    }
}

/// Some keys are out of range. Their elements have gradient zero.
fn partition_by_key(device: &Device) {
    for (n, num_keys) in [(40, 3), (9000, 50)] {
        let keys: Vec<i32> = (0..n)
            .map(|i| (hash(i) % (num_keys + 2)) as i32 - 1)
            .collect();
        let on_device = tensor::<i32, 1>(&keys, [n], device);
        let keys: Vec<i64> = keys.into_iter().map(i64::from).collect();
        let partition = |x: Tensor<1>| x.partition_by_key(on_device.clone(), num_keys).0;
        let adjoint = |w: &[f64]| {
            let mut gradient = vec![0.0; n];
            for (destination, source) in
                oracle::partition(&keys, num_keys).0.into_iter().enumerate()
            {
                gradient[source] = w[destination];
            }
            gradient
        };
        check("partition", &weights(n), [n], device, partition, adjoint);
    }
}
