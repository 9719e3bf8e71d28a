//! Scans of segments, and running extrema with their positions, against plain loops.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{Number, hash, samples};
use scan_testing::tensors::views::views;
use scan_testing::tensors::{
    OPS, WAYS, assert_same, axis, host, host_indices, mask, options, oracle, sampled, tensor,
};

on_every_device![
    segments_of_every_length,
    every_rank_and_dimension,
    long_lines_of_segments,
    none_and_all,
    views_of_segments,
    segments_of_exponentials,
    positions_of_extrema,
    positions_of_nan_and_equals,
    long_lines_of_extrema,
];

/// Each segment of each line as `scan` scans a line of its own.
pub fn by_segments<T: Copy>(
    values: &[T],
    starts: &[bool],
    [outer, len, inner]: [usize; 3],
    scan: impl Fn(&[T]) -> Vec<T>,
) -> Vec<T> {
    let mut found = values.to_vec();
    for line in 0..outer * inner {
        let at = |i: usize| (line / inner * len + i) * inner + line % inner;
        let begins: Vec<usize> = (0..len)
            .filter(|&i| i == 0 || starts[at(i)])
            .chain([len])
            .collect();
        for ends in begins.windows(2) {
            let segment: Vec<T> = (ends[0]..ends[1]).map(|i| values[at(i)]).collect();
            for (i, result) in (ends[0]..ends[1]).zip(scan(&segment)) {
                found[at(i)] = result;
            }
        }
    }
    found
}

fn expected<T: Number>(
    values: &[T],
    starts: &[bool],
    lines: [usize; 3],
    op: ScanOp,
    way: (bool, bool),
) -> Vec<T> {
    by_segments(values, starts, lines, |segment| {
        oracle::scan(segment, &[segment.len()], 0, op, way)
    })
}

#[track_caller]
fn check<T: Number, const D: usize>(
    shape: [usize; D],
    dim: usize,
    device: &Device,
    ops: &[ScanOp],
    starts: impl Fn(usize) -> bool,
) where
    Tensor<D, T::Kind>: TensorScan<Starts = Tensor<D, burn::tensor::Bool>>,
{
    let lines = axis(&shape, dim);
    let starts: Vec<bool> = (0..shape.iter().product()).map(starts).collect();
    for (nth, &op) in ops.iter().enumerate() {
        for way in sampled(WAYS, device, nth + dim + shape[0], 4) {
            let values: Vec<T> = samples(op, lines);
            let found = tensor::<T, D>(&values, shape, device).segmented_scan(
                mask(&starts, shape, device),
                dim,
                op,
                options(way),
            );
            let expected = expected(&values, &starts, lines, op, way);
            assert_same(&host::<T, D>(found), &expected, || {
                format!("{op:?} {way:?} of {shape:?} along {dim}, {device:?}")
            });
        }
    }
}

fn one_in(n: usize) -> impl Fn(usize) -> bool {
    move |i| hash(i + 3).is_multiple_of(n)
}

fn segments_of_every_length(device: &Device) {
    check::<i32, 2>([3, 1025], 1, device, &OPS, one_in(7));
    check::<i32, 2>([300, 5], 0, device, &OPS, one_in(40));
    check::<f32, 2>(
        [3, 1025],
        1,
        device,
        &[ScanOp::Sum, ScanOp::Max],
        one_in(100),
    );
}

fn every_rank_and_dimension(device: &Device) {
    macro_rules! each {
        ($($shape:expr),*) => {$(
            for dim in 0..$shape.len() {
                check::<i32, _>($shape, dim, device, &[ScanOp::Sum], one_in(3));
            }
        )*};
    }
    every_rank!(each);
}

fn long_lines_of_segments(device: &Device) {
    check::<i32, 2>([1, 200_003], 1, device, &[ScanOp::Sum], one_in(5000));
    check::<i32, 2>([20_001, 8], 0, device, &[ScanOp::Max], one_in(90_000));
}

/// Without starts a line is one segment. With only starts each element is one.
fn none_and_all(device: &Device) {
    check::<f32, 2>([2, 300], 1, device, &[ScanOp::Sum], |_| false);
    check::<f32, 2>([2, 300], 1, device, &[ScanOp::Sum], |_| true);
}

fn views_of_segments(device: &Device) {
    let values: Vec<i32> = (0..210).map(|i| (hash(i) % 100) as i32).collect();
    let starts: Vec<bool> = (0..210).map(one_in(3)).collect();
    let x = tensor::<i32, 3>(&values, [5, 6, 7], device);
    let starts = mask(&starts, [5, 6, 7], device);
    for ((name, x), (_, starts)) in views(&x).into_iter().zip(views(&starts)) {
        let (shape, values, bits) = (
            x.dims(),
            host::<i32, 3>(x.clone()),
            host::<bool, 3>(starts.clone()),
        );
        for dim in 0..3 {
            let found =
                x.clone()
                    .segmented_scan(starts.clone(), dim, ScanOp::Sum, ScanOptions::default());
            let expected = expected(&values, &bits, axis(&shape, dim), ScanOp::Sum, WAYS[0]);
            assert_same(&host::<i32, 3>(found), &expected, || {
                format!("{name} along {dim}")
            });
        }
    }
}

/// A segment starts anew at `exp`, whatever the elements before it.
fn segments_of_exponentials(device: &Device) {
    let x = tensor::<f32, 1>(&[900.0, 900.0, -900.0, -900.0, 1.0], [5], device);
    let starts = mask(&[false, false, true, false, true], [5], device);
    let found =
        host::<f32, 1>(x.segmented_scan(starts, 0, ScanOp::LogSumExp, ScanOptions::default()));
    let two = 2f32.ln();
    for (found, expected) in found
        .iter()
        .zip([900.0, 900.0 + two, -900.0, -900.0 + two, 1.0])
    {
        assert!(
            (found - expected).abs() < 1e-3,
            "{found} instead of {expected}"
        );
    }
}

/// Each position picks its value. The values agree with the plain scan, and of equal elements the last is
/// picked.
#[track_caller]
fn check_positions<T: Number, const D: usize>(shape: [usize; D], dim: usize, device: &Device)
where
    Tensor<D, T::Kind>: TensorScan<Positions = Tensor<D, Int>>,
{
    let lines = axis(&shape, dim);
    let [outer, len, inner] = lines;
    for op in [ScanOp::Max, ScanOp::Min] {
        let values: Vec<T> = samples(op, lines);
        let x = tensor::<T, D>(&values, shape, device);
        let (found, positions) = match op {
            ScanOp::Max => x.cummax_with_indices(dim),
            _ => x.cummin_with_indices(dim),
        };
        let context = || format!("{op:?} of {shape:?} along {dim}, {device:?}");
        let expected = oracle::scan(&values, &shape, dim, op, WAYS[0]);
        assert_same(&host::<T, D>(found), &expected, context);
        assert_eq!(positions.dims(), shape);
        // For each line, where its extremum so far was last found.
        let mut last = vec![0; outer * inner];
        for (i, position) in host_indices(positions).into_iter().enumerate() {
            let (plane, step, column) = (i / inner / len, i / inner % len, i % inner);
            let last = &mut last[plane * inner + column];
            if values[i].same(expected[i]) {
                *last = step;
            }
            assert_eq!(position, *last, "{}, {i}", context());
        }
    }
}

fn positions_of_extrema(device: &Device) {
    check_positions::<i32, 2>([3, 700], 1, device);
    check_positions::<i32, 3>([2, 65, 3], 1, device);
    check_positions::<f32, 3>([2, 3, 130], 2, device);
    check_positions::<f32, 2>([0, 3], 0, device);
    check_positions::<i32, 1>([1], 0, device);
}

fn positions_of_nan_and_equals(device: &Device) {
    let nan = f32::NAN;
    let x = || tensor::<f32, 1>(&[2.0, 2.0, nan, 5.0, nan, 1.0], [6], device);
    for (values, positions) in [x().cummax_with_indices(0), x().cummin_with_indices(0)] {
        let values = host::<f32, 1>(values);
        assert_eq!(values[..2], [2.0, 2.0]);
        assert!(values[2..].iter().all(|value| value.is_nan()), "{values:?}");
        assert_eq!(host_indices(positions), [0, 1, 2, 2, 4, 4]);
    }
}

fn long_lines_of_extrema(device: &Device) {
    check_positions::<i32, 2>([1, 150_001], 1, device);
    check_positions::<i32, 2>([17_000, 8], 0, device);
}
