//! The order of additions, with data that rounds.

use burn::tensor::{Bool, Device, FloatDType, Tensor};
use burn_scan::prelude::*;

use super::{floats, values};
use crate::common::devices::is_flex;
use crate::common::element::hash;
use crate::common::{WAYS, options, tensor};

on_every_device![
    equal_lines_have_equal_bits,
    sums_of_non_negative_numbers_do_not_fall,
    an_exclusive_sum_is_the_inclusive_one_shifted,
    sums_are_near_to_those_in_double_precision,
    long_segmented_sums_do_not_drift,
];

/// Half of the precision of f32.
const E: f32 = 1.0 / (1u32 << 24) as f32;

fn drawn(n: usize) -> Vec<f32> {
    (0..n).map(|i| (hash(i) % (1 << 20)) as f32 / 7.0).collect()
}

/// A computation along a dimension.
type Along<'a> = (String, Box<dyn Fn(Tensor<2>, usize) -> Tensor<2> + 'a>);

fn equal_lines_have_equal_bits(device: &Device) {
    let lines = [
        vec![1., E, E, 0.],
        drawn(48),
        drawn(49),
        drawn(1024),
        drawn(5000),
        drawn(1 << 18),
    ];
    for line in lines {
        // The promise of one line whatever stands beside it is kept on the CPU, see docs/algorithms.md.
        if !is_flex(device) && line.len() > 4 {
            break;
        }
        // Near 1, so that no product leaves the range of a half.
        let near: Vec<f32> = line.iter().map(|x| 1.0 + x % 1.0 / 65_536.0).collect();
        for options in [ScanOptions::default(), ScanOptions::default().reverse()] {
            equal_lines(&line, &scan(ScanOp::Sum, FloatDType::F32, options), device);
            if !is_flex(device) {
                continue;
            }
            for op in OPS {
                let is_long = line.len() > 5000;
                for dtype in [FloatDType::F32, FloatDType::F16, FloatDType::BF16] {
                    if !is_long || dtype == FloatDType::F32 {
                        equal_lines(&near, &scan(op, dtype, options), device);
                    }
                }
                equal_lines(&near, &segmented(op, options), device);
            }
        }
        if is_flex(device) {
            for reverse in [false, true] {
                equal_lines(&near, &recurrence(reverse), device);
            }
        }
    }
}

const OPS: [ScanOp; 5] = [
    ScanOp::Sum,
    ScanOp::Prod,
    ScanOp::Max,
    ScanOp::Min,
    ScanOp::LogSumExp,
];

fn scan<'a>(op: ScanOp, dtype: FloatDType, options: ScanOptions) -> Along<'a> {
    let along = move |x: Tensor<2>, dim| {
        let x = x.cast(dtype).scan(dim, op, options);
        x.cast(FloatDType::F32)
    };
    (format!("{op:?} of {dtype:?}, {options:?}"), Box::new(along))
}

fn segmented<'a>(op: ScanOp, options: ScanOptions) -> Along<'a> {
    let along = move |x: Tensor<2>, dim| {
        let starts = x.clone().equal_elem(0.0);
        x.segmented_scan(starts, dim, op, options)
    };
    (format!("segmented {op:?}, {options:?}"), Box::new(along))
}

fn recurrence<'a>(reverse: bool) -> Along<'a> {
    let along = move |x: Tensor<2>, dim| {
        let options = RecurrenceOptions::default();
        let options = if reverse { options.reverse() } else { options };
        let decay = x.clone().recip();
        x.linear_recurrence_with(decay, dim, options)
    };
    (format!("recurrence, reverse {reverse}"), Box::new(along))
}

/// Takes the line alone and beside equal ones, as rows and as columns.
fn equal_lines(line: &[f32], (what, along): &Along<'_>, device: &Device) {
    let len = line.len();
    let of = |data: &[f32], shape, dim| values(along(tensor(data, shape, device), dim));
    let beside = |count: usize| -> Vec<f32> {
        let repeated = line.iter().flat_map(|&x| vec![x; count]);
        repeated.collect()
    };
    let row = of(line, [1, len], 1);
    let two = of(&beside(2), [len, 2], 0);
    let column: Vec<f32> = two.iter().copied().step_by(2).collect();
    let counts = match len {
        0..=49 => (2..=17).collect(),
        50..=5000 => vec![2, 5, 9, 17],
        _ => vec![9],
    };
    for count in counts {
        let what = format!("{count} lines of {len}, {what}");
        let rows = of(&line.repeat(count), [count, len], 1);
        assert!(rows.chunks(len).all(|found| found == row), "rows: {what}");
        let columns = of(&beside(count), [len, count], 0);
        let is_same = columns
            .chunks(count)
            .zip(&column)
            .all(|(found, expected)| found.iter().all(|found| found == expected));
        assert!(is_same, "columns: {what}");
    }
}

/// On other devices than the CPU a sum may fall at the edge of a tile.
fn sums_of_non_negative_numbers_do_not_fall(device: &Device) {
    if !is_flex(device) {
        return;
    }
    let mut at_an_edge = vec![2.0 * E; 1025];
    (at_an_edge[0], at_an_edge[1024]) = (1., 0.);
    let mut lines = vec![at_an_edge, vec![0.000_37; 200_000]];
    lines.extend([7, 48, 49, 1000, 5000, 100_003].map(drawn));
    for line in lines {
        for columns in [1, 3, 600] {
            if columns == 600 && line.len() > 5000 {
                continue;
            }
            for reverse in [false, true] {
                let options = ScanOptions::default();
                let options = if reverse { options.reverse() } else { options };
                let many: Vec<f32> = line.iter().flat_map(|&x| vec![x; columns]).collect();
                let x: Tensor<2> = tensor(&many, [line.len(), columns], device);
                let sums = values(x.scan(0, ScanOp::Sum, options));
                let mut sums: Vec<f32> = sums.into_iter().step_by(columns).collect();
                if reverse {
                    sums.reverse();
                }
                let falls = sums.windows(2).position(|pair| pair[1] < pair[0]);
                let len = line.len();
                assert_eq!(falls, None, "{len} by {columns}, reverse {reverse}");
            }
        }
    }
}

fn an_exclusive_sum_is_the_inclusive_one_shifted(device: &Device) {
    if !is_flex(device) {
        return;
    }
    for (n, columns) in [5, 48, 49, 1024, 1025, 5000, 200_001]
        .into_iter()
        .flat_map(|n| [(n, 1), (n, 3)])
    {
        let x: Tensor<2> = tensor(&drawn(n * columns), [n, columns], device);
        let inclusive = values(x.clone().inclusive_cumsum(0));
        let exclusive = values(x.exclusive_cumsum(0));
        assert!(exclusive[..columns].iter().all(|&sum| sum == 0.));
        let shifted = &inclusive[..(n - 1) * columns];
        assert!(exclusive[columns..] == *shifted, "{n} by {columns}");
    }
}

fn sums_are_near_to_those_in_double_precision(device: &Device) {
    for n in [1000, 1 << 14, 1 << 18] {
        let line = drawn(n);
        let found = values(floats(&line, device).inclusive_cumsum(0));
        let mut exact = 0.0f64;
        for (at, (&found, &x)) in found.iter().zip(&line).enumerate() {
            exact += f64::from(x);
            // Other devices walk longer parts in order.
            let factor = if is_flex(device) { 2. } else { 8. };
            let bound = f64::from(E) * f64::from(n.ilog2()) * factor * exact;
            let error = (f64::from(found) - exact).abs();
            assert!(error <= bound, "{at} of {n}: {found} instead of {exact}");
        }
    }
}

/// A loop in f32 is off by 1 % at the end of the long line. Other devices than the CPU walk their parts in order.
fn long_segmented_sums_do_not_drift(device: &Device) {
    for (n, columns) in [(1 << 20, 1), (1 << 17, 9)] {
        let x = Tensor::<2>::full([n, columns], 0.1, device);
        let starts = Tensor::<2, Bool>::full([n, columns], false, device);
        let bound = if is_flex(device) { 1e-4 } else { 1e-3 };
        for way in WAYS.into_iter().filter(|&(exclusive, _)| !exclusive) {
            let sums = x
                .clone()
                .segmented_scan(starts.clone(), 0, ScanOp::Sum, options(way));
            let sums = values(sums);
            let mut column: Vec<f32> = sums.into_iter().step_by(columns).collect();
            if way.1 {
                column.reverse();
            }
            for (at, &sum) in column.iter().enumerate() {
                let exact = f64::from(0.1f32) * (at + 1) as f64;
                let error = (f64::from(sum) / exact - 1.).abs();
                assert!(error < bound, "{at} of {n}: {sum} instead of {exact}");
            }
            if is_flex(device) {
                assert!(column.is_sorted(), "the sums of {n} elements fall");
            }
        }
    }
}
