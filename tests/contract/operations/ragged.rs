//! Offsets of packed rows: the row of each element, and the totals of rows.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{Number, hash, samples};
use scan_testing::tensors::{
    OPS, assert_same, host, host_indices, oracle, sampled, tensor, unsupported,
};

on_every_device![
    offsets_of_lengths,
    rows_of_elements,
    totals_of_rows,
    totals_of_wide_rows,
    totals_of_a_giant_row,
    totals_of_exponentials,
    totals_of_every_dtype,
    totals_of_nan,
    bad_offsets_stay_within_bounds,
];

/// Lengths of many kinds, with names: empty rows at both ends, neighbouring empty rows, one giant row among small ones.
pub fn lengths() -> Vec<(&'static str, Vec<usize>)> {
    let random = |n: usize, most: usize| (0..n).map(|i| hash(i) % (most + 1)).collect::<Vec<_>>();
    let mut giant = random(500, 6);
    giant[250] = 30_000;
    vec![
        ("no rows", vec![]),
        ("one empty row", vec![0]),
        ("one row", vec![5]),
        ("empty rows", vec![0, 0, 3, 0, 0, 0, 4, 1, 0, 0]),
        ("rows of one", vec![1; 300]),
        ("short rows", random(1000, 9)),
        ("rows", random(70, 700)),
        ("a giant row", giant),
    ]
}

fn offsets(lengths: &[usize]) -> Vec<usize> {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    offsets
}

fn ints(values: &[usize], device: &Device) -> Tensor<1, Int> {
    let values: Vec<i32> = values.iter().map(|&value| value as i32).collect();
    tensor::<i32, 1>(&values, [values.len()], device)
}

fn offsets_of_lengths(device: &Device) {
    for (name, lengths) in lengths() {
        let found = ints(&lengths, device).lengths_to_offsets();
        assert_eq!(host_indices(found), offsets(&lengths), "{name}");
    }
}

fn rows_of_elements(device: &Device) {
    for (name, lengths) in lengths() {
        let offsets = offsets(&lengths);
        let total = offsets[lengths.len()];
        // The data end in the middle of a row, at the end of the rows, and after it.
        for len in [0, total / 2, total, total + 1, total + 40] {
            let context = || format!("{name}, {len} of {total}");
            let expected: Vec<usize> = (0..len)
                .map(|i| offsets[1..].iter().filter(|&&end| end <= i).count())
                .collect();
            let found = ints(&offsets, device).offsets_to_segment_ids(len);
            assert_eq!(host_indices(found), expected, "{}", context());
            let expected: Vec<bool> = (0..len).map(|i| offsets.contains(&i)).collect();
            let found = ints(&offsets, device).offsets_to_starts(len);
            assert_same(&host::<bool, 1>(found), &expected, context);
        }
    }
}

#[track_caller]
fn check<T: Number>(name: &str, lengths: &[usize], width: usize, op: ScanOp, device: &Device)
where
    Tensor<2, T::Kind>: TensorSegments,
{
    let offsets = offsets(lengths);
    let len = offsets[lengths.len()];
    let values: Vec<T> = samples(op, [1, len, width]);
    let mut expected = Vec::new();
    for row in offsets.windows(2) {
        for column in 0..width {
            let row: Vec<T> = (row[0]..row[1])
                .map(|i| values[i * width + column])
                .collect();
            // An exclusive scan starts with the identity.
            let total = oracle::scan(
                &[&row[..], &[T::default()]].concat(),
                &[row.len() + 1],
                0,
                op,
                (true, false),
            );
            expected.push(total[row.len()]);
        }
    }
    let x = tensor::<T, 2>(&values, [len, width], device);
    let found = x.segment_reduce(ints(&offsets, device), op);
    assert_eq!(found.dims(), [lengths.len(), width]);
    assert_same(&host::<T, 2>(found), &expected, || {
        format!("{op:?} of {name}, width {width}, {device:?}")
    });
}

fn totals_of_rows(device: &Device) {
    for (turn, (name, lengths)) in lengths().into_iter().enumerate() {
        for op in sampled(OPS, device, turn, 2) {
            check::<i32>(name, &lengths, 1, op, device);
        }
        check::<f32>(name, &lengths, 1, ScanOp::Sum, device);
        check::<f32>(name, &lengths, 1, ScanOp::Max, device);
    }
}

fn totals_of_wide_rows(device: &Device) {
    for (name, lengths) in lengths() {
        for width in [0, 3, 64] {
            check::<f32>(name, &lengths, width, ScanOp::Sum, device);
        }
    }
    check::<i32>("very wide", &[2, 0, 5], 3000, ScanOp::Min, device);
    check::<f32>("wide and long", &[3, 40, 0, 21], 1500, ScanOp::Sum, device);
}

/// The row spans several blocks of the CPU engine, and several tiles.
fn totals_of_a_giant_row(device: &Device) {
    for lengths in [
        vec![100_000],
        vec![3, 16_384, 0, 70_000, 2],
        vec![16_384; 3],
    ] {
        for op in [ScanOp::Sum, ScanOp::Max] {
            check::<i32>("giant rows", &lengths, 1, op, device);
        }
        check::<f32>("giant rows", &lengths, 2, ScanOp::Sum, device);
    }
}

fn totals_of_exponentials(device: &Device) {
    for (name, lengths) in lengths() {
        let offsets = offsets(&lengths);
        let len = offsets[lengths.len()];
        let values: Vec<f32> = (0..len).map(|i| (hash(i) % 2000) as f32 - 1000.0).collect();
        let x = tensor::<f32, 1>(&values, [len], device);
        let found = host::<f32, 1>(x.segment_reduce(ints(&offsets, device), ScanOp::LogSumExp));
        assert_eq!(found.len() + 1, offsets.len(), "{name}");
        for (row, found) in offsets.windows(2).zip(found) {
            let row = values[row[0]..row[1]].iter().map(|&x| f64::from(x));
            let largest = row.clone().fold(f64::NEG_INFINITY, f64::max);
            let expected = match row.len() {
                0 => f64::NEG_INFINITY,
                _ => largest + row.map(|x| (x - largest).exp()).sum::<f64>().ln(),
            };
            let close = f64::from(found) == expected || (f64::from(found) - expected).abs() < 1e-3;
            assert!(close, "{name}: {found} instead of {expected}");
        }
    }
}

fn totals_of_every_dtype(device: &Device) {
    let (name, lengths) = lengths().swap_remove(3);
    macro_rules! check_dtypes {
        ($($t:ty),*) => {$(
            if device.supports_dtype(<$t as burn::tensor::Element>::dtype()) {
                check::<$t>(name, &lengths, 1, ScanOp::Sum, device);
                check::<$t>(name, &lengths, 1, ScanOp::Min, device);
            } else {
                unsupported(&format!("{device:?} has no {}", stringify!($t)));
            }
        )*};
    }
    check_dtypes!(
        burn::tensor::f16,
        burn::tensor::bf16,
        f64,
        i8,
        i16,
        i64,
        u8,
        u32
    );
}

/// A NaN is the extremum of its own row and of no other row. A total stays finite although its parts leave the
/// range of f32.
fn totals_of_nan(device: &Device) {
    let values = [
        1.0,
        f32::NAN,
        3.0,
        2.0,
        f32::MAX,
        f32::MAX,
        -f32::MAX,
        -f32::MAX,
    ];
    let offsets = ints(&[0, 3, 4, 4, 8], device);
    let x = || tensor::<f32, 1>(&values, [8], device);
    let found = host::<f32, 1>(x().segment_reduce(offsets.clone(), ScanOp::Max));
    assert!(found[0].is_nan());
    assert_eq!(found[1..], [2.0, f32::NEG_INFINITY, f32::MAX]);
}

/// The results are not specified, but their size is.
fn bad_offsets_stay_within_bounds(device: &Device) {
    for offsets in [
        vec![0, 7, 3, 9],
        vec![-5, 2, 1000, 4],
        vec![i32::MAX, i32::MIN, 6],
        vec![9, 9],
    ] {
        let entries = offsets.len();
        let offsets = || tensor::<i32, 1>(&offsets, [entries], device);
        let x = tensor::<f32, 1>(&[1.0; 10], [10], device);
        assert_eq!(
            host_indices(offsets().offsets_to_segment_ids(10).mul_scalar(0)),
            [0; 10]
        );
        assert_eq!(host::<bool, 1>(offsets().offsets_to_starts(10)).len(), 10);
        let totals = host::<f32, 1>(x.segment_reduce(offsets(), ScanOp::Sum));
        assert!(
            totals.len() == entries - 1 && totals.iter().all(|total| (0.0..=10.0).contains(total))
        );
    }
}
