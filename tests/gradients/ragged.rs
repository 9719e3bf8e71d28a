//! Lines, rows, runs and repetitions.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{hash, samples};
use scan_testing::tensors::views::masks;
use scan_testing::tensors::waiting::ExactRuns;
use scan_testing::tensors::{OPS, axis, mask, oracle, tensor};

use super::scans::derivatives;
use super::{check, weights};

on_every_device![
    compact_along_by_mask,
    segment_reduce,
    segment_reduce_of_wide_rows,
    run_length_encode,
    repeat_by_lengths,
];

fn compact_along_by_mask(device: &Device) {
    for (shape, dim) in [([6, 9], 1), ([6, 9], 0), ([3, 700], 1), ([300, 5], 0)] {
        let [outer, len, inner] = axis(&shape, dim);
        for (name, kept) in masks(shape[0] * shape[1]) {
            let on_device = mask(&kept, shape, device);
            let op = |x: Tensor<2>| x.compact_along_by_mask(on_device.clone(), dim).0;
            check(name, &weights(kept.len()), shape, device, op, |w| {
                let mut gradient = vec![0.0; kept.len()];
                for line in 0..outer * inner {
                    let at = |i: usize| (line / inner * len + i) * inner + line % inner;
                    let survivors = (0..len).map(at).filter(|&at| kept[at]);
                    for (i, from) in survivors.enumerate() {
                        gradient[from] = w[at(i)];
                    }
                }
                gradient
            });
        }
    }
}

/// Empty rows at both ends and between, and elements outside all rows.
const OFFSETS: [i32; 8] = [2, 2, 5, 6, 6, 90, 97, 97];
const LEN: usize = 100;

fn of_rows(x: &[f64], width: usize, op: ScanOp, w: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; x.len()];
    for (row, ends) in OFFSETS.windows(2).enumerate() {
        for column in 0..width {
            let places: Vec<usize> = (ends[0] as usize..ends[1] as usize)
                .map(|i| i * width + column)
                .collect();
            let values: Vec<f64> = places.iter().map(|&at| x[at]).collect();
            for (&at, derivative) in places.iter().zip(derivatives(op, &values)) {
                gradient[at] = w[row * width + column] * derivative;
            }
        }
    }
    gradient
}

fn check_rows<const D: usize>(shape: [usize; D], device: &Device) {
    let n: usize = shape.iter().product();
    let offsets: Tensor<1, Int> = tensor::<i32, 1>(&OFFSETS, [OFFSETS.len()], device);
    for op in OPS.into_iter().chain([ScanOp::LogSumExp]) {
        let values: Vec<f64> = samples::<f32>(op, [1, n, 1])
            .into_iter()
            .map(f64::from)
            .collect();
        let reduce = |x: Tensor<D>| x.segment_reduce(offsets.clone(), op);
        check(&format!("{op:?}"), &values, shape, device, reduce, |w| {
            of_rows(&values, n / LEN, op, w)
        });
    }
}

fn segment_reduce(device: &Device) {
    check_rows([LEN], device);
}

fn segment_reduce_of_wide_rows(device: &Device) {
    check_rows([LEN, 3], device);
    check_rows([LEN, 2, 5], device);
}

fn run_length_encode(device: &Device) {
    for n in [1, 30, 5000] {
        let mut run = 0;
        let values: Vec<f64> = (0..n)
            .map(|i| {
                run += usize::from(hash(i) % 3 == 0);
                (hash(run) % 50) as f64
            })
            .collect();
        let heads: Vec<bool> = (0..n)
            .map(|i| i == 0 || values[i] != values[i - 1])
            .collect();
        let adjoint = |w: &[f64]| oracle::expand(w, &heads);
        let exact = |x: Tensor<1>| x.exact_runs().0;
        check("runs", &values, [n], device, exact, adjoint);
        let padded = |x: Tensor<1>| x.run_length_encode_padded().0;
        check("runs, padded", &values, [n], device, padded, adjoint);
    }
}

fn repeat_by_lengths(device: &Device) {
    for most in [0, 1, 6, 90] {
        let lengths: Vec<usize> = (0..200).map(|i| hash(i) % (most + 1)).collect();
        let narrow: Vec<i32> = lengths.iter().map(|&length| length as i32).collect();
        let on_device: Tensor<1, Int> = tensor::<i32, 1>(&narrow, [200], device);
        let total: usize = lengths.iter().sum();
        let adjoint = |w: &[f64]| {
            let mut at = 0;
            let sums = lengths.iter().map(|&length| {
                let own = at.min(w.len())..(at + length).min(w.len());
                at += length;
                w[own].iter().sum()
            });
            sums.collect()
        };
        if total > 0 {
            let exact = |x: Tensor<1>| x.exact_repeat(on_device.clone());
            check("repeat", &weights(200), [200], device, exact, adjoint);
        }
        for size in [total / 2 + 1, total + 7] {
            let into = |x: Tensor<1>| x.repeat_by_lengths_into(on_device.clone(), size);
            check("repeat into", &weights(200), [200], device, into, adjoint);
        }
    }
}
