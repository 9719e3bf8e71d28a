//! Scans of shards against the oracle, which knows nothing about shards.

use burn::tensor::{Device, Tensor, bf16, f16};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{Number, hash, samples};
use scan_testing::tensors::{FEW, OPS, WAYS, assert_same, axis, options, oracle, tensor};

use super::{all_hold, shards, uneven_lengths, whole};

/// The scan of a sharded tensor is the oracle's scan of the whole one, bit for bit.
fn check<T: Number, const D: usize>(
    shape: [usize; D],
    dim: usize,
    ways: &[(ScanOp, (bool, bool))],
    devices: &[Device],
) where
    Tensor<D, T::Kind>: TensorScan,
{
    for (salt, &(op, way)) in ways.iter().enumerate() {
        let values = samples::<T>(op, axis(&shape, dim));
        let lengths = uneven_lengths(shape[dim], devices.len(), salt);
        let found = shards::<T, D>(&values, shape, dim, &lengths, devices).scan(op, options(way));
        let expected = oracle::scan(&values, &shape, dim, op, way);
        assert_same(&whole::<T, D>(found, dim, devices), &expected, || {
            let dtype = T::dtype();
            format!(
                "{op:?} {:?} of {dtype:?} {shape:?} along {dim} as {lengths:?}",
                options(way)
            )
        });
    }
}

fn all_ways() -> Vec<(ScanOp, (bool, bool))> {
    let ways = |op| WAYS.into_iter().map(move |way| (op, way));
    OPS.into_iter().flat_map(ways).collect()
}

pub fn integers(devices: &[Device]) {
    check::<i32, 2>([7, 300], 1, &all_ways(), devices);
    check::<i32, 3>([3, 129, 5], 1, &FEW, devices);
    check::<i32, 1>([1], 0, &FEW, devices);
    check::<i32, 1>([30_000], 0, &FEW, devices);
    check::<i32, 2>([300, 7], 0, &FEW[..3], devices);
    check::<i32, 4>([2, 3, 40, 2], 2, &FEW[..3], devices);
    check::<i32, 5>([2, 3, 2, 2, 40], 4, &FEW[..3], devices);
    check::<i32, 6>([2, 1, 3, 20, 1, 2], 3, &FEW[..3], devices);
    check::<i32, 6>([20, 1, 3, 2, 1, 2], 0, &FEW[..3], devices);
}

/// The wider and the narrower dtypes, where all devices hold them.
pub fn every_dtype(devices: &[Device]) {
    fn one<T: Number>(devices: &[Device])
    where
        Tensor<2, T::Kind>: TensorScan,
    {
        if all_hold::<T>(devices) {
            check::<T, 2>([3, 200], 1, &FEW, devices);
        }
    }
    one::<u32>(devices);
    one::<i8>(devices);
    one::<u8>(devices);
    one::<i16>(devices);
    one::<u16>(devices);
    one::<i64>(devices);
    one::<u64>(devices);
    one::<f64>(devices);
}

pub fn exact_floats(devices: &[Device]) {
    check::<f32, 1>([3000], 0, &FEW, devices);
    check::<f32, 3>([4, 150, 3], 1, &FEW, devices);
}

/// A sum of f16 is rounded once, as if no shard ended anywhere.
pub fn halves_are_rounded_once(devices: &[Device]) {
    fn one<T: Number>(devices: &[Device])
    where
        Tensor<2, T::Kind>: TensorScan,
    {
        if all_hold::<T>(devices) {
            check::<T, 2>([2, 1500], 1, &FEW, devices);
        }
    }
    one::<f16>(devices);
    one::<bf16>(devices);
}

/// NaN and infinities in one shard show in later shards.
pub fn what_is_not_finite(devices: &[Device]) {
    let len = 300;
    let lengths = uneven_lengths(len, devices.len(), 4);
    for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in [0, 100, 299] {
            let mut values: Vec<f32> = (0..len).map(|i| (hash(i) % 9) as f32 - 4.0).collect();
            values[at] = special;
            for op in OPS {
                // The largest finite products stay in range.
                let of_op = |&x: &f32| {
                    if op == ScanOp::Prod && x.is_finite() {
                        x.signum()
                    } else {
                        x
                    }
                };
                let values: Vec<f32> = values.iter().map(of_op).collect();
                for way in WAYS {
                    let sharded = shards::<f32, 1>(&values, [len], 0, &lengths, devices);
                    let found = whole::<f32, 1>(sharded.scan(op, options(way)), 0, devices);
                    let expected = oracle::scan(&values, &[len], 0, op, way);
                    assert_same(&found, &expected, || {
                        format!("{op:?} {way:?} with {special} at {at} as {lengths:?}")
                    });
                }
            }
        }
    }
}

/// A number in −10..10 with digits to lose.
pub fn random(i: usize) -> f32 {
    (hash(i) % 2_000_001) as f32 / 1e5 - 10.0
}

/// Within 2^-22 of the sum of the magnitudes: the carry of each shard is rounded to the dtype, and so are the
/// partial sums.
pub fn random_floats(devices: &[Device]) {
    let shape = [3, 4000];
    let values: Vec<f32> = (0..12_000).map(random).collect();
    let lengths = uneven_lengths(4000, devices.len(), 2);
    for op in [ScanOp::Sum, ScanOp::LogSumExp] {
        let sharded = shards::<f32, 2>(&values, shape, 1, &lengths, devices);
        let found = whole::<f32, 2>(sharded.scan(op, ScanOptions::default()), 1, devices);
        for line in 0..3 {
            let (mut sum, mut size) = (0.0, 0.0);
            for i in 0..4000 {
                let (x, y) = (f64::from(values[line * 4000 + i]), found[line * 4000 + i]);
                let (expected, bound) = match op {
                    ScanOp::Sum => {
                        (sum, size) = (sum + x, size + x.abs());
                        (sum, size * 2f64.powi(-22))
                    }
                    _ => {
                        sum += x.exp();
                        (sum.ln(), 1e-5)
                    }
                };
                let error = (f64::from(y) - expected).abs();
                assert!(
                    error <= bound,
                    "{op:?} of line {line} at {i}: {y}, not {expected}"
                );
            }
        }
    }
}

pub fn one_shard_is_a_plain_scan(devices: &[Device]) {
    let device = &devices[devices.len() - 1..];
    let values: Vec<f32> = (0..5000).map(random).collect();
    for op in [ScanOp::Sum, ScanOp::Max, ScanOp::LogSumExp] {
        for way in WAYS {
            let plain = tensor::<f32, 2>(&values, [5, 1000], &device[0]).scan(1, op, options(way));
            let sharded = shards::<f32, 2>(&values, [5, 1000], 1, &[1000], device);
            let sharded = sharded.scan(op, options(way)).into_shards().remove(0);
            assert_eq!(sharded.into_data(), plain.into_data(), "{op:?} {way:?}");
        }
    }
}

/// No lines, lines without elements, and both.
pub fn nothing_to_scan(devices: &[Device]) {
    for (shape, dim) in [([0, 9], 1), ([9, 0], 1), ([9, 0], 0), ([0, 0], 0)] {
        let lengths = uneven_lengths(shape[dim], devices.len(), 1);
        let sharded = || shards::<f32, 2>(&[], shape, dim, &lengths, devices);
        for (op, way) in FEW {
            let found = sharded().scan(op, options(way));
            assert_eq!(
                super::dims(found.shards(), dim),
                lengths,
                "{shape:?} along {dim}"
            );
        }
        let found = sharded().linear_recurrence(sharded()).gather(&devices[0]);
        assert_eq!(found.dims(), shape, "{shape:?} along {dim}");
        let sums = sharded()
            .inclusive_cumsum()
            .gather(&devices[devices.len() - 1]);
        assert_eq!(
            (sums.dims(), sums.device()),
            (shape, devices[devices.len() - 1].clone())
        );
    }
}

/// Sixteen shards, most of one element or none.
pub fn more_shards_than_devices(devices: &[Device]) {
    let many: Vec<Device> = devices.iter().cycle().take(16).cloned().collect();
    check::<i32, 2>([2, 11], 1, &FEW, &many);
    let values: Vec<i32> = (0..20).collect();
    let sharded = Sharded::split(tensor::<i32, 1>(&values, [20], &devices[0]), 0, &many);
    assert_eq!(
        super::dims(sharded.shards(), 0),
        [2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    );
    let found = whole::<i32, 1>(sharded.exclusive_cumsum(), 0, &many);
    assert_same(
        &found,
        &oracle::scan(&values, &[20], 0, ScanOp::Sum, (true, false)),
        String::new,
    );
}
