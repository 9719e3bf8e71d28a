//! The gradient of every float operation against its exact adjoint, computed on the host by the definition.

#![cfg(feature = "autodiff")]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod ragged;
mod recurrences;
mod segments;

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use common::element::{hash, samples};
use common::views::{half, masks};
use common::{OPS, WAYS, axis, host, mask, options, oracle, tensor};

on_every_device![
    sum_scans,
    long_sum_scans,
    product_scans_with_zeros,
    product_scans_with_infinite_products,
    extremum_scans_with_ties,
    long_extremum_scans,
    length_one_stays_in_the_graph,
    empty_stays_in_the_graph,
    compact_by_mask,
    compact_dim_by_mask,
    expand_by_mask,
    partition_by_key,
    a_chain_with_two_branches,
    what_has_no_gradient,
];

/// The device with gradients, and with checkpoints besides.
fn trackings(device: &Device) -> [Device; 2] {
    let tracking = device.clone().autodiff();
    [tracking.clone(), tracking.gradient_checkpointing()]
}

/// Small weights of either sign.
fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| (hash(i + 77) % 7) as f64 - 3.0).collect()
}

fn narrow(wide: &[f64]) -> Vec<f32> {
    wide.iter().map(|&value| value as f32).collect()
}

/// Compares the gradient of `op` at `values` with `adjoint`, which turns a weight for each output into one for each input.
/// The weights are random, all alike (a broadcast), and come in a transposed tensor; with and without checkpointing.
#[track_caller]
fn check<const D: usize, const R: usize>(
    name: &str,
    values: &[f64],
    shape: [usize; D],
    device: &Device,
    op: impl Fn(Tensor<D>) -> Tensor<R>,
    adjoint: impl Fn(&[f64]) -> Vec<f64>,
) {
    let compare =
        |form: &str, device: &Device, loss: &dyn Fn(Tensor<R>) -> (Tensor<1>, Vec<f64>)| {
            let x = tensor::<f32, D>(&narrow(values), shape, device).require_grad();
            let y = op(x.clone());
            assert!(y.is_tracked(), "{name} {shape:?} is not tracked");
            let (loss, weights) = loss(y);
            let gradient = x.grad(&loss.backward()).expect("x has a gradient");
            assert_eq!(gradient.dims(), shape, "{name}, {form}");
            let (found, expected) = (host::<f32, D>(gradient), adjoint(&weights));
            for (i, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
                let close = (f64::from(found) - expected).abs() <= 1e-5 * expected.abs().max(1.0);
                assert!(
                    close,
                    "{name} {shape:?}, {form}, {i}: {found} instead of {expected}"
                );
            }
        };
    let tracking = device.clone().autodiff();
    compare("random weights", &tracking, &|y| {
        let (shape, w) = (y.dims(), weights(y.shape().num_elements()));
        (
            (y * tensor::<f32, R>(&narrow(&w), shape, &tracking)).sum(),
            w,
        )
    });
    compare("weights 1", &tracking, &|y| {
        let n = y.shape().num_elements();
        (y.sum(), vec![1.0; n])
    });
    let tracking = tracking.gradient_checkpointing();
    compare("transposed weights, checkpointing", &tracking, &|y| {
        let y = y.swap_dims(0, R - 1);
        let w = narrow(&weights(y.shape().num_elements()));
        let w = tensor::<f32, R>(&w, y.dims(), &tracking);
        let seen = host::<f32, R>(w.clone().swap_dims(0, R - 1));
        ((y * w).sum(), seen.into_iter().map(f64::from).collect())
    });
}

/// The elements that output `i` of a scan combines, in the order it combines them.
fn reached(i: usize, len: usize, (exclusive, reverse): (bool, bool)) -> Vec<usize> {
    let skipped = usize::from(exclusive);
    match reverse {
        true => (i + skipped..len).rev().collect(),
        false => (0..i + 1 - skipped).collect(),
    }
}

/// The adjoint of a scan, output by output. The gradient of a maximum or minimum goes to the latest of equals, as Burn's
/// `cummax` and `cummin` send it.
fn scan_adjoint(
    op: ScanOp,
    x: &[f64],
    [outer, len, inner]: [usize; 3],
    way: (bool, bool),
    weights: &[f64],
) -> Vec<f64> {
    let mut gradient = vec![0.0; x.len()];
    for line in 0..outer * inner {
        let at = |i: usize| (line / inner * len + i) * inner + line % inner;
        for i in 0..len {
            let reached = reached(i, len, way);
            let values: Vec<f64> = reached.iter().map(|&k| x[at(k)]).collect();
            let extreme = values.iter().copied().reduce(match op {
                ScanOp::Max => f64::max,
                _ => f64::min,
            });
            let winner = values.iter().rposition(|&value| Some(value) == extreme);
            for (k, &source) in reached.iter().enumerate() {
                gradient[at(source)] += weights[at(i)]
                    * match op {
                        ScanOp::Sum => 1.0,
                        ScanOp::Prod => [&values[..k], &values[k + 1..]].concat().iter().product(),
                        _ => f64::from(u8::from(winner == Some(k))),
                    };
            }
        }
    }
    gradient
}

fn check_scan<const D: usize>(
    op: ScanOp,
    values: &[f64],
    shape: [usize; D],
    dim: usize,
    device: &Device,
) {
    for way in WAYS {
        let name = format!("{op:?} {:?} along {dim}", options(way));
        let scan = |x: Tensor<D>| x.scan(dim, op, options(way));
        let adjoint = |w: &[f64]| scan_adjoint(op, values, axis(&shape, dim), way, w);
        check(&name, values, shape, device, scan, adjoint);
    }
}

fn sum_scans(device: &Device) {
    for dim in 0..3 {
        let values = samples(ScanOp::Sum, [1, 4 * 9 * 5, 1]);
        check_scan(ScanOp::Sum, &values, [4, 9, 5], dim, device);
    }
    check_scan(ScanOp::Sum, &weights(50), [50], 0, device);
}

/// Several tiles, rows and columns.
fn long_sum_scans(device: &Device) {
    for (shape, dim) in [([1, 10_000], 1), ([3000, 3], 0)] {
        for (exclusive, reverse) in WAYS {
            let scan = |x: Tensor<2>| x.scan(dim, ScanOp::Sum, options((exclusive, reverse)));
            let adjoint =
                |w: &[f64]| oracle::scan(w, &shape, dim, ScanOp::Sum, (exclusive, !reverse));
            check(
                "long sum",
                &weights(shape[0] * shape[1]),
                shape,
                device,
                scan,
                adjoint,
            );
        }
    }
}

/// Lines with no, one, two and three zeros among powers of two.
fn product_scans_with_zeros(device: &Device) {
    let (lines, len) = (4, 20);
    let value = |i: usize| match (i / len, i % len) {
        (1, 6) | (2, 0 | 11) | (3, 4 | 5 | 19) => 0.0,
        _ => [1.0, 2.0, -1.0, 0.5, -2.0, 1.0][hash(i) % 6],
    };
    let rows: Vec<f64> = (0..lines * len).map(value).collect();
    check_scan(ScanOp::Prod, &rows, [lines, len], 1, device);
    let columns: Vec<f64> = (0..lines * len)
        .map(|i| rows[i % lines * len + i / lines])
        .collect();
    check_scan(ScanOp::Prod, &columns, [len, lines], 0, device);
}

/// Products out of range behind a zero do not reach the elements before it.
fn product_scans_with_infinite_products(device: &Device) {
    let tracking = device.clone().autodiff();
    let x = Tensor::<1>::from_data([2.0, 0.0, 1e30, 1e30], &tracking).require_grad();
    let grads = x
        .clone()
        .scan(0, ScanOp::Prod, ScanOptions::default())
        .sum()
        .backward();
    let found = host::<f32, 1>(x.grad(&grads).expect("x has a gradient"));
    assert_eq!(found, [1.0, f32::INFINITY, 0.0, 0.0]);
}

fn extremum_scans_with_ties(device: &Device) {
    let few: Vec<f64> = (0..4 * 30).map(|i| (hash(i) % 4) as f64).collect();
    for op in [ScanOp::Max, ScanOp::Min] {
        check_scan(op, &few, [4, 30], 1, device);
        check_scan(op, &few, [30, 4], 0, device);
        check_scan(op, &[2.0; 12], [12], 0, device);
        check_scan(op, &samples(op, [1, 300, 1]), [300], 0, device);
    }
}

/// Lines longer than the 65,535 rounds after which some drivers end a loop, with segments of one element up to all.
fn long_extremum_scans(device: &Device) {
    let len = 70_001;
    let values: Vec<f64> = (0..len)
        .map(|i| (hash(i) % 300 * (i % 2) + i / 400 * (i / 20_000 % 2)) as f64)
        .collect();
    for way in WAYS {
        let (exclusive, reverse) = way;
        let adjoint = |w: &[f64]| {
            let mut gradient = vec![0.0; len];
            let mut source: Option<usize> = None;
            for step in 0..len {
                let at = if reverse { len - 1 - step } else { step };
                let latest = match source {
                    Some(source) if values[source] > values[at] => source,
                    _ => at,
                };
                let reached = if exclusive { source } else { Some(latest) };
                if let Some(reached) = reached {
                    gradient[reached] += w[at];
                }
                source = Some(latest);
            }
            gradient
        };
        let scan = |x: Tensor<1>| x.scan(0, ScanOp::Max, options(way));
        check("long maximum", &values, [len], device, scan, adjoint);
    }
}

/// The one output of an exclusive scan of one element is the identity, and its gradient is zero, not missing.
fn length_one_stays_in_the_graph(device: &Device) {
    for op in OPS {
        check_scan(op, &[5.0], [1], 0, device);
        check_scan(op, &[5.0, 0.0, 7.0], [3, 1], 1, device);
        check_scan(op, &[5.0, 0.0, 7.0], [1, 3], 0, device);
    }
}

fn empty_stays_in_the_graph(device: &Device) {
    let device = device.clone().autodiff();
    for op in OPS {
        for way in WAYS {
            for shape in [[3, 0, 1], [0, 256, 64]] {
                let x = tensor::<f32, 3>(&[], shape, &device).require_grad();
                let y = x.clone().scan(1, op, options(way));
                assert!(y.is_tracked(), "{op:?} {:?}", options(way));
                let gradient = x.grad(&y.sum().backward()).expect("x has a gradient");
                assert_eq!(gradient.dims(), shape);
                assert!(host::<f32, 3>(gradient).is_empty());
            }
        }
    }
    let kept: Vec<bool> = (0..256).map(half).collect();
    let x = tensor::<f32, 2>(&[], [0, 256], &device).require_grad();
    let y = x
        .clone()
        .compact_dim_by_mask(mask(&kept, [256], &device), 1);
    let gradient = x.grad(&y.sum().backward()).expect("x has a gradient");
    assert_eq!(gradient.dims(), [0, 256]);
    assert!(host::<f32, 2>(gradient).is_empty());
}

fn compact_by_mask(device: &Device) {
    for shape in [[6, 9], [70, 90]] {
        let n = shape[0] * shape[1];
        for (name, kept) in masks(n) {
            let on_device = mask(&kept, shape, device);
            let adjoint = |w: &[f64]| oracle::expand(w, &kept);
            let exact = |x: Tensor<2>| x.compact_by_mask(on_device.clone());
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
        let later = |x: Tensor<1>| burn::tensor::read_sync(x.compact_by_mask_async(row.clone()));
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

/// Puts slices back where `kept` is true: the adjoint of taking them out, exact or padded.
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
            let exact = |x: Tensor<3>| x.compact_dim_by_mask(row.clone(), dim);
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

/// As many values as trues, fewer and more: what was ignored has gradient zero.
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

/// With keys out of range, whose elements have gradient zero.
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

/// Operations before, between and after, a tensor used twice, and a mask computed from it.
fn a_chain_with_two_branches(device: &Device) {
    let (shape, values) = ([8, 25], weights(200));
    let chain = |x: Tensor<2>| {
        let kept = || x.clone().greater_scalar(0.0);
        let doubled = x.clone() * 2.0;
        let masked = doubled.compact_by_mask(kept()).expand_by_mask(kept());
        masked.inclusive_cumsum(1) + x.reverse_cumsum(0)
    };
    let adjoint = |w: &[f64]| {
        let scan = |dim, reverse| oracle::scan(w, &shape, dim, ScanOp::Sum, (false, reverse));
        let (first, second) = (scan(1, true), scan(0, false));
        let masked = |i: usize| if values[i] > 0.0 { 2.0 * first[i] } else { 0.0 };
        (0..200).map(|i| masked(i) + second[i]).collect()
    };
    check("chain", &values, shape, device, chain, adjoint);
}

/// Int and bool tensors, and float tensors nobody asked a gradient of, on a device with autodiff.
fn what_has_no_gradient(device: &Device) {
    let device = device.clone().autodiff();
    let kept = mask(&[true, false, true], [3], &device);
    let ints = Tensor::<1, Int>::from_data([3, 4, 5], &device);
    let floats = Tensor::<1>::from_data([3.0, 4.0, 5.0], &device);
    assert_eq!(host::<i32, 1>(ints.clone().inclusive_cumsum(0)), [3, 7, 12]);
    assert_eq!(
        host::<i32, 1>(ints.clone().compact_by_mask(kept.clone())),
        [3, 5]
    );
    assert_eq!(
        host::<bool, 1>(kept.clone().compact_by_mask(kept.clone())),
        [true, true]
    );
    assert_eq!(common::host_indices(kept.clone().compact_indices()), [0, 2]);
    let (grouped, _) = floats.clone().partition_by_key(ints - 3, 3);
    let untracked = [
        floats.clone().inclusive_cumsum(0),
        floats.clone().compact_by_mask_padded(kept.clone()).0,
        floats.expand_by_mask(kept),
        grouped,
    ];
    assert!(untracked.iter().all(|y| y.is_autodiff() && !y.is_tracked()));
}
