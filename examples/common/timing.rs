//! The median time of an operation, waited for.

use std::time::{Duration, Instant};

use burn::tensor::Device;

/// Runs a try.
const RUNS: usize = 9;
/// An operation that takes longer is timed once.
const SLOW: Duration = Duration::from_secs(1);

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
    let first = run();
    if first > SLOW {
        return first;
    }
    let mut times: Vec<Duration> = (1..RUNS).map(|_| run()).chain([first]).collect();
    times.sort();
    times[RUNS / 2]
}

/// Prints the time of an operation beside the time of Burn's way of doing the same.
pub fn compare<T, U>(
    device: &Device,
    name: &str,
    ours: impl FnMut() -> T,
    way: &str,
    burns: impl FnMut() -> U,
) {
    let (ours, burns) = (
        milliseconds(median(device, ours)),
        milliseconds(median(device, burns)),
    );
    println!(
        "{name:16} {ours:10.4} ms   Burn {burns:10.4} ms {:7.1}x   {way}",
        burns / ours
    );
}

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
