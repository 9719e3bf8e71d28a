//! The median time of an operation, until the device has finished it.

use std::fmt::{self, Display, Formatter};
use std::time::{Duration, Instant};

use burn::tensor::Device;

/// Runs that are timed.
const RUNS: usize = 9;
/// An operation that takes longer is timed once.
const SLOW: Duration = Duration::from_secs(1);

/// Calls `operation` once to compile and allocate, then several times, each until the device's queue is empty.
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

/// The times of an operation and of Burn's way of doing the same, in milliseconds.
pub struct Comparison {
    pub name: &'static str,
    pub ours: f64,
    /// Burn's way, in words.
    pub way: &'static str,
    pub burns: f64,
}

impl Comparison {
    pub fn measure<T, U>(
        device: &Device,
        (name, ours): (&'static str, impl FnMut() -> T),
        (way, burns): (&'static str, impl FnMut() -> U),
    ) -> Self {
        Self {
            name,
            ours: milliseconds(median(device, ours)),
            way,
            burns: milliseconds(median(device, burns)),
        }
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Self {
            name,
            ours,
            way,
            burns,
        } = self;
        let ratio = burns / ours;
        write!(
            f,
            "{name:16} {ours:10.4} ms   Burn {burns:10.4} ms {ratio:7.1}x   {way}"
        )
    }
}

/// Prints the time of an operation and the time of Burn's way of doing the same.
pub fn compare<T, U>(
    device: &Device,
    name: &'static str,
    ours: impl FnMut() -> T,
    way: &'static str,
    burns: impl FnMut() -> U,
) {
    let comparison = Comparison::measure(device, (name, ours), (way, burns));
    println!("{comparison}");
}

pub fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
