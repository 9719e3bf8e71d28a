//! The median time of a launch.

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

/// The median of at most `samples` samples. Each waits for the device's queue. A launch to warm up comes first, then
/// one that decides how many launches make a sample.
pub fn median(client: &Client, samples: usize, mut launch: impl FnMut()) -> Duration {
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
    times.sort();
    times[times.len() / 2]
}
