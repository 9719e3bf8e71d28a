//! Ragged data: totals of packed rows, run-length encoding, repetition by lengths, and compaction of lines.
//!
//! ```text
//! cargo bench --bench ragged
//! cargo bench --bench ragged -- segment-reduce/flex
//! ```
//! Rows have 0 to 512 elements, most have few, and one row has a sixteenth of all. Runs have 4 elements on average.
//! `compact-along` stands beside `burn-scan-flat`, which compacts the same tensor as a whole by
//! `compact_by_mask_padded`. The peers in Python have the same data.

mod common;

use std::cell::LazyCell;

use burn::tensor::{Bool, DType, Int, Tensor};
use burn_scan::prelude::*;
use common::input::{Input, check_equal, copies, steps};
use common::{Place, Traffic, places};
use criterion::{Criterion, criterion_group, criterion_main};
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{host, host_indices, mask, oracle, tensor};

fn ragged(criterion: &mut Criterion) {
    for place in &places() {
        let power = if place.is_cube() { 22 } else { 24 };
        segment_reduce(criterion, place, power);
        repeat(criterion, place, power);
        run_lengths(criterion, place, 1 << power);
        for dim in [1, 0] {
            compact_along(criterion, place, [1 << 12, 1 << 10], dim);
        }
        compact_along(criterion, place, [1 << 18, 1 << 4], 1);
        compact_along(criterion, place, [1 << 2, 1 << 20], 1);
    }
}

/// The lengths of rows that have 2^power elements in all.
fn lengths(power: u32) -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..1 << (power - 8))
        .map(|i| hash(i) % 1000)
        .map(|drawn| (800 * drawn * drawn / 1_000_000).min(512))
        .collect();
    lengths[77] = 0;
    lengths[77] = (1 << power) - lengths.iter().sum::<usize>();
    lengths
}

fn ints(values: impl Iterator<Item = usize>, place: &Place) -> Tensor<1, Int> {
    let values: Vec<i32> = values.map(|value| value as i32).collect();
    let len = values.len();
    tensor::<i32, 1>(&values, [len], &place.device)
}

fn segment_reduce(criterion: &mut Criterion, place: &Place, power: u32) {
    let lengths = lengths(power);
    let total = lengths.iter().sum();
    let name = common::axes("segment-reduce", place, DType::F32, &[1, total]);
    let mut case = place.case(criterion, &format!("{name}/rows{}", lengths.len()));
    let input = LazyCell::new(|| Input::<f32, 1>::new(steps(total), [total], &place.device));
    let offsets = LazyCell::new(|| ints(lengths.iter().copied(), place).lengths_to_offsets());
    let size = size_of::<f32>();
    let traffic = Traffic {
        read: total * size + (lengths.len() + 1) * size,
        written: lengths.len() * size,
    };
    let check = |found: Tensor<1>| {
        let mut rest = &input.values[..];
        let sums = lengths.iter().map(|&length| {
            let (row, others) = rest.split_at(length);
            rest = others;
            row.iter().sum()
        });
        check_equal(&host::<f32, 1>(found), &sums.collect::<Vec<_>>())
    };
    case.contender(
        "burn-scan",
        traffic,
        || {
            let x = input.tensor.clone();
            x.segment_reduce(offsets.clone(), ScanOp::Sum)
        },
        check,
    );
    copies(&mut case, place, &input, total);
}

fn repeat(criterion: &mut Criterion, place: &Place, power: u32) {
    let lengths = lengths(power);
    let total: usize = lengths.iter().sum();
    let name = common::axes("repeat-by-lengths", place, DType::F32, &[1, total]);
    let mut case = place.case(criterion, &format!("{name}/rows{}", lengths.len()));
    let rows = lengths.len();
    let input = LazyCell::new(|| Input::<f32, 1>::new(steps(rows), [rows], &place.device));
    let whole = LazyCell::new(|| Input::<f32, 1>::new(steps(total), [total], &place.device));
    let by = LazyCell::new(|| ints(lengths.iter().copied(), place));
    let size = size_of::<f32>();
    let traffic = Traffic {
        read: 2 * rows * size,
        written: total * size,
    };
    let check = |found: Tensor<1>| {
        let rows = input.values.iter().zip(&lengths);
        let expected = rows.flat_map(|(&value, &length)| vec![value; length]);
        check_equal(&host::<f32, 1>(found), &expected.collect::<Vec<_>>())
    };
    case.contender(
        "burn-scan",
        traffic,
        || input.tensor.clone().repeat_by_lengths(by.clone()),
        check,
    );
    copies(&mut case, place, &whole, total);
}

fn run_lengths(criterion: &mut Criterion, place: &Place, elements: usize) {
    let name = common::axes("run-length-encode", place, DType::I32, &[1, elements]);
    let mut case = place.case(criterion, &format!("{name}/runs4"));
    let input = LazyCell::new(|| {
        let mut run = 0;
        let values = (0..elements).map(|i| {
            run += i32::from(hash(i).is_multiple_of(4));
            run % 100
        });
        Input::<i32, 1>::new(values.collect(), [elements], &place.device)
    });
    let size = size_of::<i32>();
    let exact = Traffic {
        read: elements * size,
        written: elements / 2 * size,
    };
    let padded = Traffic {
        written: 2 * elements * size,
        ..exact
    };
    let expected = || -> (Vec<i32>, Vec<usize>) {
        let runs = input.values.chunk_by(|a, b| a == b);
        runs.map(|run| (run[0], run.len())).unzip()
    };
    let check = |(values, lengths): (Tensor<1, Int>, Tensor<1, Int>)| {
        let (runs, of_runs) = expected();
        if host_indices(lengths) == of_runs {
            check_equal(&host::<i32, 1>(values), &runs)
        } else {
            Err("a length is wrong".to_owned())
        }
    };
    let check_padded =
        |(values, lengths, count): (Tensor<1, Int>, Tensor<1, Int>, Tensor<1, Int>)| {
            let (mut runs, mut of_runs) = expected();
            if host_indices(count) != [runs.len()] {
                return Err("the count is wrong".to_owned());
            }
            runs.resize(elements, 0);
            of_runs.resize(elements, 0);
            if host_indices(lengths) == of_runs {
                check_equal(&host::<i32, 1>(values), &runs)
            } else {
                Err("a length is wrong".to_owned())
            }
        };
    let x = || input.tensor.clone();
    case.contender("burn-scan", exact, || x().run_length_encode(), check);
    case.contender(
        "burn-scan-padded",
        padded,
        || x().run_length_encode_padded(),
        check_padded,
    );
    copies(&mut case, place, &input, elements);
}

fn compact_along(criterion: &mut Criterion, place: &Place, shape: [usize; 2], dim: usize) {
    let elements = shape[0] * shape[1];
    let name = common::axes("compact-along", place, DType::F32, &shape);
    let mut case = place.case(criterion, &format!("{name}/dim{dim}"));
    let input = LazyCell::new(|| Input::<f32, 2>::new(steps(elements), shape, &place.device));
    let kept = LazyCell::new(|| {
        let kept: Vec<bool> = (0..elements).map(|i| hash(i).is_multiple_of(2)).collect();
        let tensor: Tensor<2, Bool> = mask(&kept, shape, &place.device);
        (kept, tensor)
    });
    let size = size_of::<f32>();
    let mask_bytes = elements * DType::from(place.device.settings().bool_dtype).size();
    let traffic = Traffic {
        read: elements * size + mask_bytes,
        written: elements * size,
    };
    let check = |(found, _): (Tensor<2>, Tensor<2, Int>)| {
        let (lines, len, step) = match dim {
            0 => (shape[1], shape[0], shape[1]),
            _ => (shape[0], shape[1], 1),
        };
        let mut expected = vec![0.0; elements];
        for line in 0..lines {
            let first = if dim == 0 { line } else { line * len };
            let at = |i: usize| first + i * step;
            let survivors = (0..len).map(at).filter(|&at| kept.0[at]);
            for (i, from) in survivors.enumerate() {
                expected[at(i)] = input.values[from];
            }
        }
        check_equal(&host::<f32, 2>(found), &expected)
    };
    let check_flat = |(found, _): (Tensor<1>, Tensor<1, Int>)| {
        let mut expected = oracle::compact(&input.values, &kept.0);
        expected.resize(elements, 0.0);
        check_equal(&host::<f32, 1>(found), &expected)
    };
    case.contender(
        "burn-scan",
        traffic,
        || {
            let x = input.tensor.clone();
            x.compact_along_by_mask(kept.1.clone(), dim)
        },
        check,
    );
    case.contender(
        "burn-scan-flat",
        traffic,
        || input.tensor.clone().compact_by_mask_padded(kept.1.clone()),
        check_flat,
    );
    copies(&mut case, place, &input, elements);
}

criterion_group! { name = benches; config = common::criterion(); targets = ragged }
criterion_main!(benches);
