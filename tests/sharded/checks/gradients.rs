//! Gradients through shards are the gradients of one device.

use burn::tensor::{Device, Float, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{OPS, WAYS, host, options, split_by_lengths, tensor};

use super::{joined, uneven_lengths};

fn random(n: usize, salt: usize, low: f32, high: f32) -> Vec<f32> {
    let unit = |i: usize| (hash(i + salt) % 10_007) as f32 / 10_007.0;
    (0..n).map(|i| low + (high - low) * unit(i)).collect()
}

const SHAPE: [usize; 2] = [3, 40];
const N: usize = SHAPE[0] * SHAPE[1];

/// Leaves of a graph, one per shard, split along dimension 1.
fn leaves(values: &[f32], lengths: &[usize], devices: &[Device]) -> Vec<Tensor<2>> {
    let parts = split_by_lengths(values, &SHAPE, 1, lengths);
    let leaf = |((part, &length), device): ((&Vec<f32>, &usize), &Device)| {
        tensor::<f32, 2>(part, [SHAPE[0], length], device).require_grad()
    };
    parts.iter().zip(lengths).zip(devices).map(leaf).collect()
}

/// The sum of the results, each with its own weight.
fn loss(results: Sharded<2, Float>, weights: &[f32], device: &Device) -> Tensor<1> {
    let gathered = results.gather(device);
    let weights = tensor::<f32, 2>(weights, SHAPE, device);
    (gathered * weights).sum()
}

/// Compares the gradients of `inputs` by shards with the gradients on one device. `by_shards` and `by_one` are
/// the same operation.
fn compare(
    name: &str,
    inputs: &[Vec<f32>],
    devices: &[Device],
    by_shards: impl Fn(Vec<Sharded<2, Float>>) -> Sharded<2, Float>,
    by_one: impl Fn(Vec<Tensor<2>>) -> Tensor<2>,
) {
    let devices: Vec<Device> = devices
        .iter()
        .map(|device| device.clone().autodiff())
        .collect();
    let weights = random(N, 900, -1.0, 1.0);
    // The results are gathered on the first device, and on the last.
    for (salt, device) in [(0, &devices[0]), (3, &devices[devices.len() - 1])] {
        let lengths = uneven_lengths(SHAPE[1], devices.len(), salt);
        let all: Vec<Vec<Tensor<2>>> = inputs
            .iter()
            .map(|values| leaves(values, &lengths, &devices))
            .collect();
        let sharded = all
            .iter()
            .map(|leaves| Sharded::new(leaves.clone(), 1))
            .collect();
        let results = by_shards(sharded);
        let grads = loss(results, &weights, device).backward();

        let one: Vec<Tensor<2>> = inputs
            .iter()
            .map(|values| tensor::<f32, 2>(values, SHAPE, device).require_grad())
            .collect();
        let result = by_one(one.clone());
        let weighed = result * tensor::<f32, 2>(&weights, SHAPE, device);
        let grads_of_one = weighed.sum().backward();

        for (input, (leaves, one)) in all.iter().zip(&one).enumerate() {
            let gradient = |leaf: &Tensor<2>| match leaf.shape().num_elements() {
                0 => Vec::new(),
                _ => host::<f32, 2>(leaf.grad(&grads).expect("a gradient of each shard")),
            };
            let found: Vec<Vec<f32>> = leaves.iter().map(gradient).collect();
            let found = joined(&found, &SHAPE, 1, &lengths);
            let expected = host::<f32, 2>(one.grad(&grads_of_one).expect("a gradient"));
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let close = (found - expected).abs() <= 2e-5 * expected.abs().max(1.0);
                let place = format!("{name} as {lengths:?}, input {input}, {at}");
                assert!(close, "{place}: {found} instead of {expected}");
            }
        }
    }
}

pub fn of_scans(devices: &[Device]) {
    for op in OPS.into_iter().chain([ScanOp::LogSumExp]) {
        for way in WAYS {
            let values = match op {
                ScanOp::Prod => random(N, 7, 0.8, 1.2),
                _ => random(N, 7, -2.0, 2.0),
            };
            let name = format!("{op:?} {way:?}");
            let by_shards = |mut x: Vec<Sharded<2, Float>>| x.remove(0).scan(op, options(way));
            let by_one = |mut x: Vec<Tensor<2>>| x.remove(0).scan(1, op, options(way));
            compare(&name, &[values], devices, by_shards, by_one);
        }
    }
}

/// Of equal maxima in several shards, the nearest one before the result counts.
pub fn of_ties(devices: &[Device]) {
    let values: Vec<f32> = (0..N).map(|i| (hash(i) % 3) as f32).collect();
    for op in [ScanOp::Max, ScanOp::Min] {
        for way in WAYS {
            let name = format!("ties of {op:?} {way:?}");
            let by_shards = |mut x: Vec<Sharded<2, Float>>| x.remove(0).scan(op, options(way));
            let by_one = |mut x: Vec<Tensor<2>>| x.remove(0).scan(1, op, options(way));
            compare(
                &name,
                std::slice::from_ref(&values),
                devices,
                by_shards,
                by_one,
            );
        }
    }
}

pub fn of_recurrences(devices: &[Device]) {
    let inputs = [random(N, 11, -2.0, 2.0), random(N, 12, -1.0, 1.0)];
    let by_shards = |mut x: Vec<Sharded<2, Float>>| {
        let decay = x.remove(1);
        x.remove(0).linear_recurrence(decay)
    };
    let by_one = |mut x: Vec<Tensor<2>>| {
        let decay = x.remove(1);
        x.remove(0).linear_recurrence(decay, 1)
    };
    compare("a recurrence", &inputs, devices, by_shards, by_one);
}

/// Elements that a mask drops have no gradient.
pub fn of_compaction(devices: &[Device]) {
    let devices: Vec<Device> = devices
        .iter()
        .map(|device| device.clone().autodiff())
        .collect();
    of_shards_without_survivors(&devices);
    let lengths = uneven_lengths(SHAPE[1], devices.len(), 2);
    let values = random(N, 13, -1.0, 1.0);
    let kept: Vec<bool> = (0..SHAPE[1]).map(|i| hash(i) % 3 == 0).collect();
    let leaves = leaves(&values, &lengths, &devices);
    let mask = super::shards::<bool, 1>(&kept, [SHAPE[1]], 0, &lengths, &devices);
    let left = Sharded::new(leaves.clone(), 1).compact_dim_by_mask(mask);
    let left = left.gather(&devices[0]);
    let grads = (left.clone() * left).sum().backward();
    let gradient = |leaf: &Tensor<2>| match leaf.grad(&grads) {
        Some(gradient) => host::<f32, 2>(gradient),
        None => vec![0.0; leaf.shape().num_elements()],
    };
    let found: Vec<Vec<f32>> = leaves.iter().map(gradient).collect();
    for (at, found) in joined(&found, &SHAPE, 1, &lengths).into_iter().enumerate() {
        let expected = if kept[at % SHAPE[1]] {
            2.0 * values[at]
        } else {
            0.0
        };
        assert_eq!(found, expected, "at {at}");
    }
}

/// A shard without survivors is still a step of the graph: its gradient is zero.
fn of_shards_without_survivors(devices: &[Device]) {
    let lengths = uneven_lengths(SHAPE[1], devices.len(), 2);
    let leaves = leaves(&random(N, 15, -1.0, 1.0), &lengths, devices);
    let mask = super::shards::<bool, 1>(&[false; SHAPE[1]], [SHAPE[1]], 0, &lengths, devices);
    let left = Sharded::new(leaves.clone(), 1).compact_dim_by_mask(mask);
    for ((leaf, left), &length) in leaves.iter().zip(left.into_shards()).zip(&lengths) {
        assert_eq!(left.dims(), [SHAPE[0], 0]);
        if length == 0 {
            continue;
        }
        // Burn's sum of nothing is not a step of the graph; an expansion is.
        let mask = tensor::<bool, 1>(&[false; 4], [4], &left.device());
        let zeros = left.flatten::<1>(0, 1).expand_by_mask(mask);
        let gradient = leaf.grad(&zeros.sum().backward());
        let gradient = gradient.expect("the shard is a step of the graph");
        assert_eq!(host::<f32, 2>(gradient), vec![0.0; SHAPE[0] * length]);
    }
}

/// The first and the last shard are empty, and the middle one has all gradients.
pub fn of_empty_shards(devices: &[Device]) {
    let devices: Vec<Device> = devices[..3]
        .iter()
        .map(|device| device.clone().autodiff())
        .collect();
    let lengths = [0, SHAPE[1], 0];
    let leaves = leaves(&random(N, 14, -1.0, 1.0), &lengths, &devices);
    let sums = Sharded::new(leaves.clone(), 1).inclusive_cumsum();
    let grads = loss(sums, &[1.0; N], &devices[0]).backward();
    let found = host::<f32, 2>(leaves[1].grad(&grads).expect("a gradient"));
    let expected: Vec<f32> = (0..N).map(|i| (SHAPE[1] - i % SHAPE[1]) as f32).collect();
    assert_eq!(found, expected);
}
