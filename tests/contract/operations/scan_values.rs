//! Scans of every dtype and of values that are not ordinary: NaN, infinities, sums that round.

use burn::tensor::{DType, Device, Tensor, bf16, f16};
use burn_scan::{ScanOp, TensorScan};
use scan_testing::tensors::element::{Number, hash, samples};
use scan_testing::tensors::{
    FEW, OPS, WAYS, assert_same, axis, devices, host, options, oracle, sampled, tensor, unsupported,
};

use super::scan::check_tensor;

on_every_device![
    every_dtype,
    not_a_number,
    infinities,
    rounding_sums,
    the_same_bits_every_time,
];

/// One dtype in rows and columns long enough for several tiles, if the device has it.
fn check_dtype<T: Number>(device: &Device, turn: usize) -> bool
where
    Tensor<2, T::Kind>: TensorScan,
{
    if !device.supports_dtype(T::dtype()) {
        return false;
    }
    for (nth, (shape, dim)) in [([2, 9000], 1), ([300, 40], 0)].into_iter().enumerate() {
        for (op, way) in sampled(FEW, device, turn + nth, 3) {
            let values: Vec<T> = samples(op, axis(&shape, dim));
            let input = tensor(&values, shape, device);
            check_tensor::<T, 2>("", &input, &values, dim, op, way);
        }
    }
    true
}

/// Half floats are accumulated in f32 and rounded once: their sums grow beyond the point where an f16 sum would
/// stop.
fn every_dtype(device: &Device) {
    type Check = fn(&Device, usize) -> bool;
    let checks: [(&str, Check); 12] = [
        ("f16", check_dtype::<f16>),
        ("bf16", check_dtype::<bf16>),
        ("f32", check_dtype::<f32>),
        ("f64", check_dtype::<f64>),
        ("i8", check_dtype::<i8>),
        ("i16", check_dtype::<i16>),
        ("i32", check_dtype::<i32>),
        ("i64", check_dtype::<i64>),
        ("u8", check_dtype::<u8>),
        ("u16", check_dtype::<u16>),
        ("u32", check_dtype::<u32>),
        ("u64", check_dtype::<u64>),
    ];
    let tried: Vec<(&str, bool)> = checks
        .into_iter()
        .enumerate()
        .map(|(turn, (name, check))| (name, check(device, turn)))
        .collect();
    let missing: Vec<&str> = tried
        .iter()
        .filter(|(_, tried)| !tried)
        .map(|t| t.0)
        .collect();
    if !missing.is_empty() {
        unsupported(&format!("{device:?} has no {missing:?}"));
    }
    for (name, tried) in tried {
        assert!(
            tried || !["f32", "i32", "u32"].contains(&name),
            "every device has {name}"
        );
    }
}

/// Scans sample data of `n` elements as one row and as columns. `special` values replace some elements.
fn check_special(n: usize, special: &[(usize, f32)], device: &Device) {
    for (turn, op) in OPS.into_iter().enumerate() {
        for way in sampled(WAYS, device, turn, 4) {
            for (shape, dim) in [([1, n], 1), ([n / 25, 25], 0)] {
                let mut values: Vec<f32> = samples(op, axis(&shape, dim));
                for &(at, value) in special {
                    values[at] = value;
                }
                let input = tensor(&values, shape, device);
                check_tensor::<f32, 2>("", &input, &values, dim, op, way);
            }
        }
    }
}

fn not_a_number(device: &Device) {
    check_special(10_000, &[(7000, f32::NAN)], device);
    check_special(10_000, &[(0, f32::NAN), (9999, f32::NAN)], device);
    check_special(10_000, &[(4095, f32::NAN), (4096, f32::INFINITY)], device);
    if devices::is_flex(device) {
        // Long enough for several threads.
        check_special(200_000, &[(130_000, f32::NAN)], device);
    }
    if device.supports_dtype(DType::BF16) {
        let values = [bf16::ONE, bf16::NAN, bf16::from_bits(0xff81), bf16::ONE];
        for op in OPS {
            let input = tensor(&values, [4], device);
            check_tensor::<bf16, 1>("", &input, &values, 0, op, WAYS[0]);
        }
    }
}

/// An infinity, and two infinities that cancel to NaN in a sum, in one tile and in different tiles.
fn infinities(device: &Device) {
    check_special(10_000, &[(300, f32::INFINITY)], device);
    check_special(
        10_000,
        &[(300, f32::NEG_INFINITY), (310, f32::INFINITY)],
        device,
    );
    check_special(
        10_000,
        &[(5000, f32::INFINITY), (9000, f32::NEG_INFINITY)],
        device,
    );
    check_special(10_000, &[(100, f32::INFINITY), (9500, 0.0)], device);
    if devices::is_flex(device) {
        let far_apart = [(70_000, f32::INFINITY), (150_000, f32::NEG_INFINITY)];
        check_special(200_000, &far_apart, device);
    }
}

fn fraction(i: usize) -> f32 {
    hash(i) as f32 / u32::MAX as f32
}

/// The error is no larger than a sequential loop over random values would make.
fn rounding_sums(device: &Device) {
    for (shape, dim) in [([1, 100_000], 1), ([1000, 64], 0)] {
        let values: Vec<f32> = (0..shape[0] * shape[1]).map(fraction).collect();
        let wide: Vec<f64> = values.iter().copied().map(f64::from).collect();
        for way in WAYS {
            let input = tensor::<f32, 2>(&values, shape, device);
            let found = host::<f32, 2>(input.scan(dim, ScanOp::Sum, options(way)));
            let expected = oracle::scan(&wide, &shape, dim, ScanOp::Sum, way);
            let relative = f64::from(f32::EPSILON) * (shape[dim] as f64).sqrt();
            for (i, (&found, expected)) in found.iter().zip(expected).enumerate() {
                let error = (f64::from(found) - expected).abs();
                assert!(
                    error <= relative * expected,
                    "{shape:?}, {i}: {found} for {expected}"
                );
            }
        }
    }
}

fn the_same_bits_every_time(device: &Device) {
    let values: Vec<f32> = (0..100_000).map(|i| fraction(i) - 0.5).collect();
    let row = tensor::<f32, 1>(&values, [100_000], device);
    let columns = tensor::<f32, 2>(&values, [5000, 20], device);
    let run = || {
        let row = host::<f32, 1>(row.clone().inclusive_cumsum(0));
        let columns = host::<f32, 2>(columns.clone().exclusive_cumsum(0));
        [row, columns]
            .concat()
            .into_iter()
            .map(f32::to_bits)
            .collect::<Vec<u32>>()
    };
    let first = run();
    // The kernels' own tests make a thousand runs on the device.
    for _ in 0..if devices::is_flex(device) { 1000 } else { 20 } {
        assert!(run() == first, "two runs differ");
    }
    assert_same(&values, &host::<f32, 1>(row), || "input".to_string());
}
