//! The median time of an operation, waited for.

use std::time::{Duration, Instant};

use burn::tensor::Device;

/// Runs a try.
const RUNS: usize = 9;

/// Runs `operation` once to compile and allocate, then several times to the end of the device's queue.
pub fn median<T>(device: &Device, mut operation: impl FnMut() -> T) -> Duration {
    let mut run = || {
        let start = Instant::now();
        let output = operation();
        device.sync().expect("the device finishes its queue");
        let time = start.elapsed();
        drop(output);
        time
    };
    run();
    let mut times: Vec<Duration> = (0..RUNS).map(|_| run()).collect();
    times.sort();
    times[RUNS / 2]
}
