//! The median time of a launch, with its spread.

use cubecl::client::Client;
use cubecl::future::block_on;
use std::time::{Duration, Instant};

/// Faster launches are measured several at a time, as a program queues them: the host waits for the device once for
/// each sample, not for each launch.
const SAMPLE: Duration = Duration::from_millis(5);
const MAX_LAUNCHES: u128 = 64;

/// Slow launches get fewer samples, but not fewer than this.
const MIN_SAMPLES: usize = 3;
const BUDGET: Duration = Duration::from_millis(400);

/// What the samples of one launch say.
#[allow(dead_code, reason = "the survey shows medians")]
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub median: Duration,
    pub low: Duration,
    pub high: Duration,
}

impl Times {
    /// `samples` must not be empty.
    fn of(mut samples: Vec<Duration>) -> Self {
        samples.sort();
        Self {
            median: samples[samples.len() / 2],
            low: samples[0],
            high: samples[samples.len() - 1],
        }
    }
}

/// At most `samples` samples between two synchronisations. A launch to warm up comes first, then one that decides how
/// many launches make a sample.
pub fn batches(client: &Client, samples: usize, mut launch: impl FnMut()) -> Times {
    let mut sample = |launches: u32| {
        let start = Instant::now();
        for _ in 0..launches {
            launch();
        }
        block_on(client.sync()).expect("the device finishes its queue");
        start.elapsed() / launches
    };
    sample(1);
    let once = sample(1).as_nanos().max(1);
    let launches = (SAMPLE.as_nanos() / once).clamp(1, MAX_LAUNCHES) as u32;

    let start = Instant::now();
    let mut times = Vec::with_capacity(samples);
    while times.len() < MIN_SAMPLES || times.len() < samples && start.elapsed() < BUDGET {
        times.push(sample(launches));
    }
    Times::of(times)
}

/// At most `samples` samples of `launches` launches, each sample between two events of the device. `before` queues work
/// that keeps the device busy until the host has queued a sample. `None` if the device has no clock of its own.
#[allow(dead_code, reason = "the survey compares whole queues")]
pub fn events(
    client: &Client,
    (samples, launches): (usize, u32),
    before: impl Fn(),
    launch: impl Fn() + Sync,
) -> Option<Times> {
    let start = Instant::now();
    let mut times = Vec::with_capacity(samples);
    while times.len() < MIN_SAMPLES || times.len() < samples && start.elapsed() < BUDGET {
        before();
        let sample = || (0..launches).for_each(|_| launch());
        let ((), profile) = client.profile(sample, "launches").ok()?;
        let is_device = format!("{:?}", profile.timing_method()) == "Device";
        times.push(block_on(profile.resolve())?.duration() / launches);
        if !is_device {
            return None;
        }
    }
    Some(Times::of(times))
}
