//! Totals of segments.

use burn::tensor::{bf16, f16};
use scan_testing::tensors::host;

use super::common::input::check_equal;
use super::lines::{input, value};
use super::*;

/// Segments of four rows: half floats beside f32.
pub fn short(criterion: &mut Criterion, place: &Place, columns: usize) {
    const ELEMENTS: usize = 1 << 22;
    let shape = [ELEMENTS / columns, columns];
    let mut case = case(criterion, place, DType::BF16, &shape, "segments-of-4");
    let offsets = LazyCell::new(|| lines::of([shape[0] / 4 + 1], |at| 4 * at as i32, place));
    let half = LazyCell::new(|| input(shape, bf16::from_f32, place));
    let single = LazyCell::new(|| input(shape, f32::from, place));
    let totals = |x: &Tensor<2>| x.clone().segment_reduce(offsets.clone(), ScanOp::Sum);
    // A sum of four is exact in bf16, too.
    let expected = || -> Vec<f32> {
        let of = |at: usize| {
            (0..4)
                .map(|row| value((at / columns * 4 + row) * columns + at % columns))
                .sum()
        };
        (0..ELEMENTS / 4).map(of).collect()
    };
    let check =
        |found: Tensor<2>| check_equal(&host::<f32, 2>(found.cast(DType::F32)), &expected());
    case.contender("burn-scan", moved::<bf16>(&shape), || totals(&half), check);
    case.contender(
        "limit-2-of-f32",
        moved::<f32>(&shape),
        || totals(&single),
        check,
    );
}

/// All rows of a few: their totals beside their sums.
pub fn of_columns(criterion: &mut Criterion, place: &Place) {
    let shape = [64, 1 << 18];
    let mut case = case(criterion, place, DType::F16, &shape, "segment-of-64");
    let offsets = LazyCell::new(|| lines::of([2], |at| 64 * at as i32, place));
    let x = LazyCell::new(|| input(shape, f16::from_f32, place));
    let sums = |rows: std::ops::Range<usize>| -> Vec<f16> {
        let all = lines::along(axis(&shape, 0), |before, at| {
            before.unwrap_or(0.0) + value(at)
        });
        all[rows.start * shape[1]..rows.end * shape[1]]
            .iter()
            .map(|&sum| f16::from_f32(sum))
            .collect()
    };
    let op = || x.clone().segment_reduce(offsets.clone(), ScanOp::Sum);
    case.contender("burn-scan", moved::<f16>(&shape), op, |found| {
        check_equal(&host::<f16, 2>(found), &sums(63..64))
    });
    let op = || x.clone().inclusive_cumsum(0);
    case.contender("limit-3-sum", moved::<f16>(&shape), op, |found| {
        check_equal(&host::<f16, 2>(found), &sums(0..64))
    });
}
