//! Scans that start with a value, against scans of the value and the elements together.

use core::ops::Range;

use burn::tensor::Device;
use burn_scan::prelude::*;
use scan_testing::tensors::element::{Number, samples};
use scan_testing::tensors::{OPS, WAYS, assert_same, axis, host, options, oracle, sampled, tensor};

on_every_device![every_operator_and_way, long_lines, one_value_for_all_lines];

/// Some positions along the axis of a contiguous `[outer, len, inner]`.
fn positions<T: Copy>(all: &[T], [outer, len, inner]: [usize; 3], range: Range<usize>) -> Vec<T> {
    let plane =
        |plane: usize| (plane * len + range.start) * inner..(plane * len + range.end) * inner;
    (0..outer)
        .flat_map(|index| all[plane(index)].to_vec())
        .collect()
}

#[track_caller]
fn check<T: Number>(shape: [usize; 3], dim: usize, device: &Device, ops: &[ScanOp])
where
    burn::tensor::Tensor<3, T::Kind>: TensorScan,
{
    let [outer, len, inner] = axis(&shape, dim);
    let mut line = shape;
    line[dim] = 1;
    for (turn, &op) in ops.iter().enumerate() {
        for way in sampled(WAYS, device, turn + dim, 2) {
            let (exclusive, reverse) = way;
            let mut longer = shape;
            longer[dim] += 1;
            let seen_lines = [outer, len + 1, inner];
            let seen: Vec<T> = samples(op, seen_lines);
            let scanned = oracle::scan(&seen, &longer, dim, op, (false, reverse));
            // In reverse the first element lies after the others. An exclusive scan shows each result one position
            // later.
            let (first, others) = if reverse { (len, 0) } else { (0, 1) };
            let shown = if exclusive { 1 - others } else { others };
            let tensors =
                |range, shape| tensor::<T, 3>(&positions(&seen, seen_lines, range), shape, device);
            let values = tensors(others..others + len, shape);
            let first = tensors(first..first + 1, line);
            let found = values.scan_from(first, dim, op, options(way));
            let expected = positions(&scanned, seen_lines, shown..shown + len);
            assert_same(&host::<T, 3>(found), &expected, || {
                format!("{op:?} {way:?} of {shape:?} along {dim}, {device:?}")
            });
        }
    }
}

fn every_operator_and_way(device: &Device) {
    for (shape, dim) in [
        ([2, 65, 3], 1),
        ([3, 5, 300], 2),
        ([1, 1, 1], 0),
        ([2, 0, 3], 1),
    ] {
        check::<i32>(shape, dim, device, &OPS);
        check::<f32>(shape, dim, device, &[ScanOp::Sum, ScanOp::Max]);
    }
}

fn long_lines(device: &Device) {
    check::<i32>([1, 1, 70_001], 2, device, &[ScanOp::Sum]);
    check::<i32>([1, 9001, 12], 1, device, &[ScanOp::Min]);
}

fn one_value_for_all_lines(device: &Device) {
    let x = tensor::<i32, 2>(&[1, 2, 3, 4, 5, 6], [2, 3], device);
    let ten = tensor::<i32, 2>(&[10], [1, 1], device);
    let sums = x.scan_from(ten, -1, ScanOp::Sum, ScanOptions::default().exclusive());
    assert_eq!(host::<i32, 2>(sums), [10, 11, 13, 10, 14, 19]);
    let x = tensor::<f32, 1>(&[0.0, 0.0], [2], device);
    let first = tensor::<f32, 1>(&[0.0], [1], device);
    let found = host::<f32, 1>(x.scan_from(first, 0, ScanOp::LogSumExp, ScanOptions::default()));
    assert!((found[1] - 3f32.ln()).abs() < 1e-6, "{found:?}");
}
