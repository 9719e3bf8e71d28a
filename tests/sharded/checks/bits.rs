//! The same shards give the same bits at any speed of the devices.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use burn::tensor::Device;
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{WAYS, options};

use super::scans::random;
use super::{shards, uneven_lengths, whole};

/// One scan in each way, and a recurrence. Any other order of operations would round their numbers differently.
fn results(devices: &[Device]) -> Vec<u32> {
    let shape = [2, 6000];
    let values: Vec<f32> = (0..12_000).map(random).collect();
    let decays: Vec<f32> = values.iter().map(|x| x / 10.0).collect();
    let lengths = uneven_lengths(6000, devices.len(), 6);
    let sharded = |values: &[f32]| shards::<f32, 2>(values, shape, 1, &lengths, devices);
    let ways = WAYS
        .into_iter()
        .zip([ScanOp::Sum, ScanOp::Sum, ScanOp::LogSumExp, ScanOp::Sum]);
    let mut found: Vec<Sharded<2, burn::tensor::Float>> = ways
        .map(|(way, op)| sharded(&values).scan(op, options(way)))
        .collect();
    found.push(sharded(&decays).scan(ScanOp::Prod, options(WAYS[0])));
    found.push(sharded(&values).linear_recurrence(sharded(&decays)));
    let bits = |found| {
        whole::<f32, 2>(found, 1, devices)
            .into_iter()
            .map(f32::to_bits)
    };
    found.into_iter().flat_map(bits).collect()
}

/// Computes each result `runs` times.
pub fn bits_stay_under_load(devices: &[Device], runs: usize) {
    let is_over = AtomicBool::new(false);
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for number in 0..threads {
            let is_over = &is_over;
            scope.spawn(move || keep_busy(number, is_over));
        }
        let first = results(devices);
        let differing = (1..runs).find(|_| results(devices) != first);
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(differing, None, "a run has other bits than the first");
    });
}

/// Takes a core and gives it back, again and again: the order in which devices finish keeps changing.
fn keep_busy(number: usize, is_over: &AtomicBool) {
    for turn in 0.. {
        let pause = |salt: usize| {
            let microseconds = hash(turn * 64 + number * 2 + salt) % 2000;
            Duration::from_micros(microseconds as u64)
        };
        let until = Instant::now() + pause(0);
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        thread::sleep(pause(1));
        if is_over.load(Ordering::Relaxed) {
            return;
        }
    }
}
