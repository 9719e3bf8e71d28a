//! Gradients of plain scans.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{hash, samples};
use scan_testing::tensors::{OPS, WAYS, axis, host, options, oracle};

use super::{check, weights};

on_every_device![
    sum_scans,
    long_sum_scans,
    product_scans_with_zeros,
    product_scans_with_infinite_products,
    extremum_scans_with_ties,
    long_extremum_scans,
    length_one_stays_in_the_graph,
];

/// The elements that output `i` of a scan combines, in the order of the scan.
pub(super) fn reached(i: usize, len: usize, (exclusive, reverse): (bool, bool)) -> Vec<usize> {
    let skipped = usize::from(exclusive);
    if reverse {
        (i + skipped..len).rev().collect()
    } else {
        (0..i + 1 - skipped).collect()
    }
}

/// The derivatives of the total of these values. Those of a maximum or minimum are 1 at the latest of equal elements,
/// as in Burn's `cummax` and `cummin`, and 0 elsewhere.
pub(super) fn derivatives(op: ScanOp, values: &[f64]) -> Vec<f64> {
    let extreme = values.iter().copied().reduce(match op {
        ScanOp::Max => f64::max,
        _ => f64::min,
    });
    let winner = values.iter().rposition(|&value| Some(value) == extreme);
    let sum: f64 = values.iter().map(|value| value.exp()).sum();
    (0..values.len())
        .map(|k| match op {
            ScanOp::Sum => 1.0,
            ScanOp::Prod => [&values[..k], &values[k + 1..]].concat().iter().product(),
            ScanOp::LogSumExp => values[k].exp() / sum,
            _ => f64::from(u8::from(winner == Some(k))),
        })
        .collect()
}

/// The adjoint of a scan, output by output.
pub(super) fn scan_adjoint(
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
            for (&source, derivative) in reached.iter().zip(derivatives(op, &values)) {
                gradient[at(source)] += weights[at(i)] * derivative;
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

/// Products out of range after a zero do not reach the elements before it, nor does a second zero reach the first.
fn product_scans_with_infinite_products(device: &Device) {
    let tracking = device.clone().autodiff();
    let gradient = |values: &[f32]| {
        let x = Tensor::<1>::from_data(values, &tracking).require_grad();
        let scanned = x.clone().scan(0, ScanOp::Prod, ScanOptions::default());
        let grads = scanned.sum().backward();
        host::<f32, 1>(x.grad(&grads).expect("x has a gradient"))
    };
    let infinite = f32::INFINITY;
    assert_eq!(gradient(&[2.0, 0.0, 1e30, 1e30]), [1.0, infinite, 0.0, 0.0]);
    assert_eq!(
        gradient(&[0.0, 1e30, 1e30, 1e30]),
        [infinite, 0.0, 0.0, 0.0]
    );
    assert_eq!(
        gradient(&[2.0, 0.0, 3.0, 0.0, 1e30, 1e30]),
        [1.0, 8.0, 0.0, 0.0, 0.0, 0.0]
    );
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

/// Lines longer than the 65,535 rounds after which some drivers end a loop, with segments from one element to the whole
/// line.
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

/// The only output of an exclusive scan of one element is the identity. Its gradient is zero and not missing.
fn length_one_stays_in_the_graph(device: &Device) {
    for op in OPS {
        check_scan(op, &[5.0], [1], 0, device);
        check_scan(op, &[5.0, 0.0, 7.0], [3, 1], 1, device);
        check_scan(op, &[5.0, 0.0, 7.0], [1, 3], 0, device);
        // As many bytes as the alignment of buffers, or a multiple.
        check_scan(op, &[3.0; 128], [1, 128], 0, device);
    }
}
