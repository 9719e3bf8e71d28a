//! Log-sum-exp scans against the definition in f64.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::devices::is_flex;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::views::views;
use scan_testing::tensors::{WAYS, axis, host, mask, options, sampled, tensor};

use super::recurrence::assert_close;
use super::segmented::by_segments;

on_every_device![
    every_way_and_dimension,
    long_lines,
    any_range,
    views_are_read_in_place,
    nothing_and_nan,
    shift_invariance,
];

fn values(n: usize) -> Vec<f32> {
    (0..n)
        .map(|i| (hash(i) % 4001) as f32 / 100.0 - 20.0)
        .collect()
}

/// Relative to the largest value so far, which is exact enough in f64 for any range of f32.
fn expected(
    x: &[f64],
    [outer, len, inner]: [usize; 3],
    (exclusive, reverse): (bool, bool),
) -> Vec<f64> {
    let mut found = vec![0.0; x.len()];
    for line in 0..outer * inner {
        let (mut largest, mut sum) = (f64::NEG_INFINITY, 0.0);
        for step in 0..len {
            let i = if reverse { len - 1 - step } else { step };
            let at = (line / inner * len + i) * inner + line % inner;
            let before = largest + f64::ln(sum);
            if x[at] > largest {
                sum = sum * f64::exp(largest - x[at]) + 1.0;
                largest = x[at];
            } else if x[at] > f64::NEG_INFINITY {
                sum += f64::exp(x[at] - largest);
            }
            let with = if sum == 0.0 {
                f64::NEG_INFINITY
            } else {
                largest + sum.ln()
            };
            found[at] = if !exclusive {
                with
            } else if step == 0 {
                f64::NEG_INFINITY
            } else {
                before
            };
        }
    }
    found
}

#[track_caller]
fn check_tensor<const D: usize>(name: &str, x: &Tensor<D>, dim: usize) {
    let wide: Vec<f64> = host::<f32, D>(x.clone())
        .iter()
        .map(|&x| x.into())
        .collect();
    for way in sampled(WAYS, &x.device(), x.dims()[0] + dim, 2) {
        let found = x.clone().scan(dim, ScanOp::LogSumExp, options(way));
        let expected = expected(&wide, axis(&x.dims(), dim), way);
        assert_near(&host::<f32, D>(found), &expected, || {
            format!("{name} {:?} along {dim}, {way:?}", x.dims())
        });
    }
}

#[track_caller]
fn assert_near(found: &[f32], expected: &[f64], context: impl Fn() -> String) {
    assert_eq!(found.len(), expected.len(), "{}", context());
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let close = f64::from(found) == expected
            || (f64::from(found) - expected).abs() <= 1e-5 * expected.abs().max(1.0);
        assert!(close, "{}, {i}: {found} instead of {expected}", context());
    }
}

fn every_way_and_dimension(device: &Device) {
    let shape = [5, 67, 9];
    let x = tensor::<f32, 3>(&values(5 * 67 * 9), shape, device);
    for dim in 0..3 {
        check_tensor("", &x, dim);
    }
    let none = tensor::<f32, 2>(&[], [0, 3], device);
    assert_eq!(none.logcumsumexp(0).dims(), [0, 3]);
}

fn long_lines(device: &Device) {
    for (shape, dim) in [([1, 150_001], 1), ([20_011, 8], 0)] {
        let x = tensor::<f32, 2>(&values(shape.iter().product()), shape, device);
        let found = host::<f32, 2>(x.clone().logcumsumexp(dim));
        let wide: Vec<f64> = values(shape.iter().product())
            .iter()
            .map(|&x| x.into())
            .collect();
        let expected = expected(&wide, axis(&shape, dim), WAYS[0]);
        let expected: Vec<_> = expected
            .into_iter()
            .map(|y| (y, y.abs().max(1.0)))
            .collect();
        assert_close(&found, &expected, 1e-5, || format!("{shape:?}"));
    }
    check_long_segments(device);
}

fn any_range(device: &Device) {
    let x = [1e30, -1e30, 88.0, 1000.0, -1000.0, 0.0, 1e30, 3e38];
    check_tensor("large", &tensor::<f32, 1>(&x, [8], device), 0);
    let x: Vec<f32> = (0..300).map(|i| i as f32 * 100.0 - 15_000.0).collect();
    check_tensor("rising", &tensor::<f32, 1>(&x, [300], device), 0);
    let x: Vec<f32> = (0..300)
        .map(|i| if i == 200 { 1e30 } else { (i % 7) as f32 })
        .collect();
    check_tensor("a peak", &tensor::<f32, 1>(&x, [300], device), 0);
}

fn views_are_read_in_place(device: &Device) {
    let x = tensor::<f32, 3>(&values(210), [5, 6, 7], device);
    for (turn, (name, x)) in views(&x).into_iter().enumerate() {
        for dim in sampled(0..3, device, turn, 3) {
            check_tensor(name, &x, dim);
        }
    }
}

/// Lines of several tiles, in which a segment is longer than a tile.
fn check_long_segments(device: &Device) {
    let shapes = [([1, 3300], 1), ([3300, 3], 0), ([1100, 67], 0)];
    for (turn, (shape, dim)) in shapes.into_iter().enumerate() {
        let n: usize = shape.iter().product();
        let inner = axis(&shape, dim)[2];
        let is_start = |i: usize| i / inner > 1030 && hash(i).is_multiple_of(40);
        let starts: Vec<bool> = (0..n).map(is_start).collect();
        let x = tensor::<f32, 2>(&values(n), shape, device);
        let wide: Vec<f64> = values(n).iter().map(|&x| x.into()).collect();
        for way in sampled(WAYS, device, turn, 2) {
            let marks = mask(&starts, shape, device);
            let found = (x.clone()).segmented_scan(marks, dim, ScanOp::LogSumExp, options(way));
            let expected = by_segments(&wide, &starts, axis(&shape, dim), |segment| {
                expected(segment, [1, segment.len(), 1], way)
            });
            assert_near(&host::<f32, 2>(found), &expected, || {
                format!("{shape:?}, {way:?}")
            });
        }
    }
}

fn nothing_and_nan(device: &Device) {
    let (none, all) = (f32::NEG_INFINITY, f32::INFINITY);
    let x = tensor::<f32, 1>(&[none, none, 1.0, none, 2.0], [5], device);
    check_tensor("-inf in front", &x, 0);
    let x = tensor::<f32, 1>(&[0.0, all, 1.0, f32::NAN, 2.0], [5], device);
    let found = host::<f32, 1>(x.logcumsumexp(0));
    assert_eq!(found[..3], [0.0, all, all]);
    assert!(found[3].is_nan() && found[4].is_nan(), "{found:?}");
    if !is_flex(device) {
        return;
    }
    // In the middle of long lines.
    for (shape, dim) in [([1, 3000], 1), ([1000, 3], 0)] {
        let inner = axis(&shape, dim)[2];
        for special in [all, f32::NAN] {
            let mut x = values(3000);
            x[1500] = special;
            let x = tensor::<f32, 2>(&x, shape, device);
            let found = host::<f32, 2>(x.logcumsumexp(dim));
            for (i, sum) in found.into_iter().enumerate() {
                let is_after = i >= 1500 && i % inner == 0;
                assert_eq!(!sum.is_finite(), is_after, "{special} in {shape:?}, {i}");
            }
        }
    }
}

fn shift_invariance(device: &Device) {
    let x = tensor::<f32, 1>(&values(3000), [3000], device);
    let plain = host::<f32, 1>(x.clone().logcumsumexp(0));
    let shifted = host::<f32, 1>((x + 64.0).logcumsumexp(0) - 64.0);
    let expected: Vec<_> = plain.iter().map(|&y| (y.into(), 100.0)).collect();
    assert_close(&shifted, &expected, 1e-6, || "shifted by 64".to_owned());
}
