//! The order of additions, with data that rounds.

use burn::tensor::{Bool, Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::devices::is_flex;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{WAYS, options, tensor};

use super::{floats, values};

on_every_device![
    equal_rows_have_equal_bits,
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

/// For rows whose length is a power of two, on a GPU too. `tests/batch_invariance.rs` has all others.
fn equal_rows_have_equal_bits(device: &Device) {
    for len in [4, 64, 1024] {
        let row = drawn(len);
        let sums = |count: usize| {
            let x: Tensor<2> = tensor(&row.repeat(count), [count, len], device);
            values(x.inclusive_cumsum(1))
        };
        let alone = sums(1);
        for count in 2..=17 {
            let is_same = sums(count).chunks(len).all(|found| found == alone);
            assert!(is_same, "{count} rows of {len}");
        }
    }
}

/// On devices other than the CPU a sum may fall at the edge of a tile.
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

/// A loop in f32 is off by 1 % at the end of the long line. Devices other than the CPU walk their parts in order.
fn long_segmented_sums_do_not_drift(device: &Device) {
    // On the CPU, threads share a long row, and columns in pieces; each of the last planes is walked by one thread.
    for shape in [[1, 1 << 20, 1], [1, 1 << 17, 9], [8, 1 << 16, 9]] {
        let [planes, n, columns] = shape;
        if planes > 1 && !is_flex(device) {
            continue;
        }
        let x = Tensor::<3>::full(shape, 0.1, device);
        let starts = Tensor::<3, Bool>::full(shape, false, device);
        let bound = if is_flex(device) { 1e-4 } else { 1e-3 };
        for way in WAYS.into_iter().filter(|&(exclusive, _)| !exclusive) {
            let sums = x
                .clone()
                .segmented_scan(starts.clone(), 1, ScanOp::Sum, options(way));
            let sums = values(sums);
            let mut column: Vec<f32> = sums.into_iter().step_by(columns).take(n).collect();
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
