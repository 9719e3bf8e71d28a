//! How a launch is timed on a device, and what fits it.

use std::time::Duration;

use cubecl::client::Client;
use serde_json::{Map, Value, json};

use crate::copy;
use crate::stage::figures;
use crate::timing::{self, Times};

/// Launches whose times are compared, at most.
const SAMPLES: usize = 30;

/// A sample takes this long, or holds this many launches.
const SAMPLE: Duration = Duration::from_millis(4);
const MOST_LAUNCHES: u128 = 8;

/// A launch that takes less is queued after copies that keep the device busy meanwhile: otherwise the figure would be that of the
/// host.
const QUICK: Duration = Duration::from_micros(500);
const FILLER_BYTES: usize = 1 << 26;
/// What a copy takes on the fastest GPU there is.
const FILLER: Duration = Duration::from_micros(25);
const MOST_FILLERS: u128 = 64;

/// The times of a launch: between events of the device where it has a clock, otherwise between two synchronisations.
pub struct Timed {
    times: Times,
    by: &'static str,
    /// Between two synchronisations, with what the host takes.
    queued: Duration,
}

impl Timed {
    pub fn of(client: &Client, launch: impl Fn() + Sync) -> Self {
        let batches = timing::batches(client, SAMPLES, &launch);
        let queued = batches.median;
        let launches = SAMPLE.as_nanos() / queued.as_nanos().max(1);
        let launches = launches.clamp(1, MOST_LAUNCHES) as u32;
        // As long as the host takes to queue the launches, and half as long again.
        let wait = queued * launches * 3 / 2;
        let fillers = (wait.as_nanos() / FILLER.as_nanos()).clamp(16, MOST_FILLERS);
        let copies = if queued < QUICK { fillers as usize } else { 0 };
        let filler = [(); 2].map(|()| client.empty(FILLER_BYTES));
        let before = || {
            (0..copies).for_each(|_| copy::copy(client, &filler[0], &filler[1], FILLER_BYTES / 4))
        };
        let (times, by) = match timing::events(client, (SAMPLES, launches), before, &launch) {
            Some(times) if !times.median.is_zero() => (times, "events"),
            _ => (batches, "batches"),
        };
        Self { times, by, queued }
    }

    pub fn figures(&self, bytes: usize) -> Map<String, Value> {
        let micros = |time: Duration| json!(time.as_secs_f64() * 1e6);
        let Times { median, low, high } = self.times;
        figures([
            ("median_us", micros(median)),
            ("low_us", micros(low)),
            ("high_us", micros(high)),
            ("bytes", json!(bytes)),
            ("gb_per_s", json!(bytes as f64 / median.as_secs_f64() / 1e9)),
            ("timed by", json!(self.by)),
            ("queued_us", micros(self.queued)),
        ])
    }
}

/// The largest power of two of elements that are timed, as `GPU_CHECK_LARGEST` says: a short lease lacks the time that
/// hosts take to check 2^28 of them.
pub fn largest_power() -> u32 {
    let named = std::env::var("GPU_CHECK_LARGEST").ok();
    named.and_then(|text| text.parse().ok()).unwrap_or(28)
}

/// Why a buffer of `bytes` bytes, and `buffers` of them, cannot be had.
pub fn too_large(client: &Client, bytes: usize, buffers: usize) -> Option<String> {
    let power = largest_power();
    if bytes > size_of::<u64>() << power {
        return Some(format!("GPU_CHECK_LARGEST is {power}"));
    }
    let memory = &client.properties().memory;
    if bytes as u64 > memory.max_page_size {
        return Some(format!(
            "a buffer of {bytes} bytes, where the device has at most {}",
            memory.max_page_size
        ));
    }
    let needed = (bytes * buffers) as u64;
    if memory.max_memory().is_some_and(|most| needed > most) {
        return Some(format!("{needed} bytes, more than the device has"));
    }
    // The data, the result and the oracle.
    let available = available_bytes()?;
    (3 * needed > available)
        .then(|| format!("{} bytes of the host, which has {available}", 3 * needed))
}

/// The memory of the host that is free: as `GPU_CHECK_HOST_BYTES` says, for machines whose memory grows when it is
/// used, or as the system says.
fn available_bytes() -> Option<u64> {
    if let Ok(named) = std::env::var("GPU_CHECK_HOST_BYTES") {
        return named.parse().ok();
    }
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

/// The median time of a copy that moves `bytes` bytes, half of them reads.
pub fn copy_us(client: &Client, bytes: usize) -> f64 {
    let words = (bytes / 8).next_multiple_of(copy::width(client));
    let (input, output) = (client.empty(4 * words), client.empty(4 * words));
    let timed = Timed::of(client, || copy::copy(client, &input, &output, words));
    timed.times.median.as_secs_f64() * 1e6
}
