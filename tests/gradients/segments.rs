//! Gradients of segmented scans and of running extrema with positions: each segment is a line of its own.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{OPS, WAYS, axis, host, mask, options, tensor};

use super::scans::scan_adjoint;
use super::{narrow, trackings, weights};

on_every_device![
    segmented_scans,
    starts_that_burn_has_selected,
    extrema_with_positions,
    carries_of_chunks,
];

const SHAPE: [usize; 3] = [2, 40, 3];
const N: usize = 240;

fn starts() -> Vec<bool> {
    (0..N).map(|i| hash(i + 7).is_multiple_of(4)).collect()
}

/// The elements of each segment along the middle dimension, as indices into memory.
fn segments(starts: &[bool]) -> Vec<Vec<usize>> {
    let [outer, len, inner] = SHAPE;
    let mut segments = Vec::new();
    for line in 0..outer * inner {
        let at = |i: usize| (line / inner * len + i) * inner + line % inner;
        for i in 0..len {
            if i > 0 && !starts[at(i)] {
                segments
                    .last_mut()
                    .map(|last: &mut Vec<usize>| last.push(at(i)))
            } else {
                segments.push(vec![at(i)]);
                None
            };
        }
    }
    segments
}

/// Burn's `select` on Flex leaves booleans as U8.
fn starts_that_burn_has_selected(device: &Device) {
    for device in trackings(device) {
        let x = tensor::<f32, 1>(&[3.0, 1.0, 2.0], [3], &device).require_grad();
        let backwards = Tensor::<1, Int>::from_data([2, 1, 0], &device);
        let starts = mask(&[true, false, false], [3], &device).select(0, backwards);
        let y = x
            .clone()
            .segmented_scan(starts, 0, ScanOp::Max, ScanOptions::default());
        let gradient = x.grad(&y.sum().backward()).expect("x has a gradient");
        assert_eq!(host::<f32, 1>(gradient), [2.0, 0.0, 1.0]);
    }
}

/// Compares the gradient of `Σ w·y` with the `adjoint` of each segment.
#[track_caller]
fn check(
    x: &[f64],
    op: ScanOp,
    way: (bool, bool),
    device: &Device,
    adjoint: impl Fn(&[f64], &[f64]) -> Vec<f64>,
) {
    let (starts, w) = (starts(), weights(N));
    for device in trackings(device) {
        let values = tensor::<f32, 3>(&narrow(x), SHAPE, &device).require_grad();
        let y = values
            .clone()
            .segmented_scan(mask(&starts, SHAPE, &device), 1, op, options(way));
        let y = y.clone().mask_fill(y.equal_elem(f32::NEG_INFINITY), 0.0);
        let y = y.clone().mask_fill(y.equal_elem(f32::INFINITY), 0.0);
        let gradients = (y * tensor::<f32, 3>(&narrow(&w), SHAPE, &device))
            .sum()
            .backward();
        let mut expected = vec![0.0; N];
        for segment in segments(&starts) {
            let pick = |all: &[f64]| segment.iter().map(|&at| all[at]).collect::<Vec<f64>>();
            for (&at, gradient) in segment.iter().zip(adjoint(&pick(x), &pick(&w))) {
                expected[at] = gradient;
            }
        }
        let what = format!("{op:?} {way:?}");
        super::recurrences::assert_gradient(&what, &values, &gradients, &expected);
    }
}

/// Small values with zeros and ties.
fn values() -> Vec<f64> {
    (0..N)
        .map(|i| (hash(i + 1) % 7) as f64 / 2.0 - 1.5)
        .map(|x| if x == 0.5 { 0.0 } else { x })
        .collect()
}

fn segmented_scans(device: &Device) {
    for op in OPS.into_iter().chain([ScanOp::LogSumExp]) {
        for way in WAYS {
            check(&values(), op, way, device, |x, w| {
                scan_adjoint(op, x, axis(&[x.len()], 0), way, w)
            });
        }
    }
}

/// The gradients agree with the plain scan's.
fn extrema_with_positions(device: &Device) {
    for device in trackings(device) {
        let w = tensor::<f32, 3>(&narrow(&weights(N)), SHAPE, &device);
        for op in [ScanOp::Max, ScanOp::Min] {
            let leaf = || tensor::<f32, 3>(&narrow(&values()), SHAPE, &device).require_grad();
            let x = leaf();
            let (y, _) = match op {
                ScanOp::Max => x.clone().cummax_with_indices(1),
                _ => x.clone().cummin_with_indices(1),
            };
            let gradients = (y * w.clone()).sum().backward();
            let expected = scan_adjoint(op, &values(), axis(&SHAPE, 1), WAYS[0], &weights(N));
            super::recurrences::assert_gradient(&format!("{op:?}"), &x, &gradients, &expected);
        }
    }
}

/// The gradient flows through a running sum and a running recurrence from the second chunk to the first.
fn carries_of_chunks(device: &Device) {
    let device = device.clone().autodiff();
    let x = tensor::<f32, 1>(&[1.0, 2.0, 3.0, 4.0], [4], &device).require_grad();
    let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
    sums.next(x.clone().narrow(0, 0, 2));
    let total = sums.next(x.clone().narrow(0, 2, 2)).narrow(0, 1, 1);
    super::recurrences::assert_gradient("sum", &x, &total.sum().backward(), &[1.0; 4]);

    let half = || tensor::<f32, 1>(&[0.5], [1], &device);
    let mut recurrence = RunningRecurrence::new(0);
    recurrence.next(x.clone().narrow(0, 0, 2), half());
    let last = recurrence
        .next(x.clone().narrow(0, 2, 2), half())
        .narrow(0, 1, 1);
    let expected = [0.125, 0.25, 0.5, 1.0];
    super::recurrences::assert_gradient("recurrence", &x, &last.sum().backward(), &expected);
}
