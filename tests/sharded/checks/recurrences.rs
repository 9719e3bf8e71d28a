//! Recurrences over shards against the loop.

use burn::tensor::{Device, Float, Tensor, f16};
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{assert_same, axis, tensor};

use super::scans::random;
use super::{all_hold, shards, uneven_lengths, whole};

/// The loop, and the same loop over magnitudes, which bounds the rounding errors.
fn expected(values: &[f32], decays: &[f32], [outer, len, inner]: [usize; 3]) -> Vec<(f64, f64)> {
    let mut found = vec![(0.0, 0.0); values.len()];
    for line in 0..outer * inner {
        let (mut h, mut size) = (0.0, 0.0);
        for t in 0..len {
            let at = (line / inner * len + t) * inner + line % inner;
            let (x, a) = (f64::from(values[at]), f64::from(decays[at]));
            (h, size) = (a * h + x, a.abs() * size + x.abs());
            found[at] = (h, size);
        }
    }
    found
}

/// Decays of −1, 0 and 1: every state is a small integer.
pub fn exact_recurrences(devices: &[Device]) {
    fn check<const D: usize>(shape: [usize; D], dim: usize, devices: &[Device]) {
        let n = shape.iter().product();
        let values: Vec<f32> = (0..n).map(|i| (hash(i) % 17) as f32 - 8.0).collect();
        let decays: Vec<f32> = (0..n)
            .map(|i| [1.0, -1.0, 1.0, 1.0, -1.0, 0.0][(hash(i + 9) % 60).min(5)])
            .collect();
        for salt in 0..4 {
            let lengths = uneven_lengths(shape[dim], devices.len(), salt);
            let sharded = |values: &[f32]| shards::<f32, D>(values, shape, dim, &lengths, devices);
            let found = sharded(&values).linear_recurrence(sharded(&decays));
            let expected = expected(&values, &decays, axis(&shape, dim));
            let expected: Vec<f32> = expected.iter().map(|&(h, _)| h as f32).collect();
            assert_same(&whole::<f32, D>(found, dim, devices), &expected, || {
                format!("{shape:?} along {dim} as {lengths:?}")
            });
        }
    }
    check([2000], 0, devices);
    check([5, 200], 1, devices);
    check([200, 5], 0, devices);
    check([3, 90, 4], 1, devices);
    check([2, 1, 3, 20, 1, 2], 3, devices);
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[(f64, f64)], relative: f64, context: &str) {
    assert_eq!(found.len(), expected.len(), "{context}");
    for (i, (&found, &(expected, size))) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(found) - expected).abs();
        let bound = relative * size.max(1e-30);
        assert!(
            error <= bound,
            "{context}, {i}: {found} instead of {expected}"
        );
    }
}

pub fn random_recurrences(devices: &[Device]) {
    let shape = [2, 3000];
    let values: Vec<f32> = (0..6000).map(random).collect();
    for (name, scale) in [("within 1", 0.1), ("near 1", 1e-4)] {
        let decay = |i| match name {
            "near 1" => 1.0 - random(i).abs() * scale,
            _ => random(i) * scale,
        };
        let decays: Vec<f32> = (50..6050).map(decay).collect();
        let lengths = uneven_lengths(3000, devices.len(), 8);
        let sharded = |values: &[f32]| shards::<f32, 2>(values, shape, 1, &lengths, devices);
        let found = whole::<f32, 2>(
            sharded(&values).linear_recurrence(sharded(&decays)),
            1,
            devices,
        );
        let expected = expected(&values, &decays, axis(&shape, 1));
        assert_close(&found, &expected, 1e-6, name);
    }
}

/// One decay for all elements, one per line, one per step for all lines.
pub fn decays_that_broadcast(devices: &[Device]) {
    let shape = [3, 400];
    let values: Vec<f32> = (0..1200).map(random).collect();
    let lengths = uneven_lengths(400, devices.len(), 12);
    let sharded = || shards::<f32, 2>(&values, shape, 1, &lengths, devices);
    let one = |i: usize| [0.5, -0.75, 0.875][i];
    let with_decay = |decay: &dyn Fn(&Device) -> Tensor<2>| -> Sharded<2, Float> {
        Sharded::new(devices.iter().map(decay).collect(), 1)
    };
    let cases = [
        (
            "one",
            with_decay(&|device| tensor::<f32, 2>(&[0.5], [1, 1], device)),
            vec![0.5; 1200],
        ),
        (
            "one a line",
            with_decay(&|device| tensor::<f32, 2>(&[0.5, -0.75, 0.875], [3, 1], device)),
            (0..1200).map(|i| one(i / 400)).collect(),
        ),
        (
            "one a step",
            shards::<f32, 2>(
                &(0..400).map(|t| one(t % 3)).collect::<Vec<f32>>(),
                [1, 400],
                1,
                &lengths,
                devices,
            ),
            (0..1200).map(|i| one(i % 400 % 3)).collect(),
        ),
    ];
    for (name, decay, decays) in cases {
        let found = whole::<f32, 2>(sharded().linear_recurrence(decay), 1, devices);
        assert_close(
            &found,
            &expected(&values, &decays, axis(&shape, 1)),
            1e-6,
            name,
        );
    }
}

/// Where the product of a shard's decays leaves the range, later shards get what docs/distributed.md says.
pub fn ends_of_the_range(devices: &[Device]) {
    let shards = devices.len();
    assert!(shards > 2, "a shard leaves, one multiplies, one receives");
    let check = |decays: [f32; 2], left: f32, stated: fn(f32) -> bool| {
        let (mut x, mut decay) = (vec![0.; 3 * shards], vec![1.; 3 * shards]);
        x[2] = left;
        decay[3..5].copy_from_slice(&decays);
        // After the shard the loop gives 1, or the state times both decays.
        decay[6] = if decays[0] < 1.0 { 1e30 } else { 1.0 };
        let split = |values: &[f32]| {
            let lengths = vec![3; shards];
            super::shards::<f32, 1>(values, [3 * shards], 0, &lengths, devices)
        };
        let found = split(&x).linear_recurrence(split(&decay));
        let found = whole::<f32, 1>(found, 0, devices);
        let mut h = 0.0;
        for (t, ((x, decay), &found)) in x.iter().zip(&decay).zip(&found).enumerate() {
            h = decay * h + x;
            let as_the_loop = found == h || (found - h).abs() <= 1e-5 * h.abs();
            let holds = match t {
                0..3 => as_the_loop,
                3..6 => as_the_loop || stated(found),
                _ => stated(found) && !stated(h),
            };
            assert!(
                holds,
                "{decays:?} after {left}, {t}: {found}, in the loop {h}"
            );
        }
    };
    check([1e-30, 1e-30], 1e30, |h| h == 0.0);
    check([1e-30, 1e-30], f32::INFINITY, f32::is_nan);
    check([1e30, 1e30], 0.0, f32::is_nan);
    check([1e30, 1e30], 1e-30, |h| h == f32::INFINITY);
}

/// The loop in f32, rounded once.
pub fn halves_of_recurrences(devices: &[Device]) {
    if !all_hold::<f16>(devices) {
        return;
    }
    let n = 600;
    let values: Vec<f16> = (0..n)
        .map(|i| f16::from_f32((hash(i) % 9) as f32 - 4.0))
        .collect();
    let decays: Vec<f16> = (0..n)
        .map(|i| f16::from_f32([1.0, -1.0][hash(i + 5) % 2]))
        .collect();
    let lengths = uneven_lengths(n, devices.len(), 2);
    let sharded = |values: &[f16]| shards::<f16, 1>(values, [n], 0, &lengths, devices);
    let wide = |values: &[f16]| values.iter().map(|x| x.to_f32()).collect::<Vec<f32>>();
    let expected = expected(&wide(&values), &wide(&decays), [1, n, 1]);
    let expected: Vec<f16> = expected.iter().map(|&(h, _)| f16::from_f64(h)).collect();
    let found = sharded(&values).linear_recurrence(sharded(&decays));
    assert_same(&whole::<f16, 1>(found, 0, devices), &expected, || {
        "f16".to_owned()
    });
}
