//! What the benches share: devices, cases with their contenders, and the measuring loop.
//!
//! A case is one input on one device. Its name carries the axes, as in `cumsum/flex/f32/1x16777216/dim1`. Its
//! contenders do the same work on that input, so they stand side by side in the report:
//!
//! - `burn-scan`: this crate;
//! - `burn`: Burn's own operation;
//! - `copy-by-add`: Burn's element-wise addition of a zero scalar, which reads and writes every element once;
//! - `ndarray` (Flex, scans): the crate of that name, see [`array`];
//! - `copy-parallel` (Flex): a copy by all threads into a fresh buffer in huge pages, see [`copy`].
//!
//! A case that the command line filters out makes nothing: inputs are lazy, and answers are checked in the
//! first round of a contender. A wrong answer of this crate ends the run. A wrong answer of a peer is printed,
//! and the peer is measured. `cargo xtask report` reads the lines `cube: ADAPTER` and `WRONG ANSWER of
//! CASE/CONTENDER, ..` on standard error.

#![allow(dead_code, reason = "every bench uses its own part")]

pub mod array;
pub mod copy;
pub mod input;

use std::time::{Duration, Instant};

use burn::tensor::{DType, Device};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput};

/// The most bytes of output that are alive at once. On Cube they are enough to keep the queue filled, and few
/// enough for small machines. On Flex they are few enough for a cache: larger outputs are freed one by one, as
/// in the Python peers, and only rounds of some microseconds share the cost of reading the clock.
const CUBE_BATCH_BYTES: usize = 64 << 20;
const FLEX_BATCH_BYTES: usize = 64 << 10;
const BATCH_ROUNDS: usize = 16;

/// Few and short samples: the table of a whole bench must be ready in minutes on two slow cores.
pub fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .nresamples(5_000)
        .without_plots()
}

/// `BURN_SCAN_BENCH_LARGE`: 1 adds 2^26, 2 adds sizes for a GPU with 8 GiB or more.
pub fn large() -> u32 {
    let value = std::env::var("BURN_SCAN_BENCH_LARGE").unwrap_or_default();
    value.parse().unwrap_or(0)
}

/// A device with its name in the report.
pub struct Place {
    pub name: &'static str,
    pub device: Device,
}

impl Place {
    pub fn is_cube(&self) -> bool {
        self.name == "cube"
    }

    /// Whether the device computes with `dtype`. Prints a line if it does not.
    pub fn holds(&self, dtype: DType) -> bool {
        let holds = self.device.supports_dtype(dtype);
        if !holds {
            eprintln!("Unsupported: {} does not compute with {dtype:?}", self.name);
        }
        holds
    }

    pub fn case<'a>(&self, criterion: &'a mut Criterion, name: &str) -> Case<'a> {
        let mut group = criterion.benchmark_group(name);
        // All samples have the same number of rounds. The linear mode would run a slow contender 55 times.
        group.sampling_mode(SamplingMode::Flat);
        Case {
            group,
            name: name.to_owned(),
            device: self.device.clone(),
            batch_bytes: if self.is_cube() {
                CUBE_BATCH_BYTES
            } else {
                FLEX_BATCH_BYTES
            },
        }
    }
}

/// Flex, and the Cube device named by `BURN_SCAN_DEVICE` (`wgpu`, `vulkan`, `cuda`, ..) where it starts.
pub fn places() -> Vec<Place> {
    #[cfg(feature = "flex")]
    let flex = Some(Place {
        name: "flex",
        device: scan_testing::tensors::devices::flex(),
    });
    #[cfg(not(feature = "flex"))]
    let flex = None;
    flex.into_iter().chain(cube()).collect()
}

pub fn cube() -> Option<Place> {
    let cube = scan_testing::tensors::devices::cube()?;
    eprintln!("cube: {}", cube.adapter);
    Some(Place {
        name: "cube",
        device: cube.device.clone(),
    })
}

/// `op/place/dtype/AxB`, the part of a case's name that every bench has.
pub fn axes(op: &str, place: &Place, dtype: DType, shape: &[usize]) -> String {
    let dtype = format!("{dtype:?}").to_lowercase();
    let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("{op}/{}/{dtype}/{}", place.name, shape.join("x"))
}

/// The bytes that an operation must move.
#[derive(Clone, Copy)]
pub struct Traffic {
    pub read: usize,
    pub written: usize,
}

pub struct Case<'a> {
    group: BenchmarkGroup<'a, WallTime>,
    name: String,
    device: Device,
    batch_bytes: usize,
}

impl Case<'_> {
    /// Checks `op` once and measures it.
    pub fn contender<T>(
        &mut self,
        name: &str,
        traffic: Traffic,
        mut op: impl FnMut() -> T,
        check: impl FnOnce(T) -> Result<(), String>,
    ) {
        let (case, device) = (&self.name, &self.device);
        let batch = (self.batch_bytes / traffic.written.max(1)).clamp(1, BATCH_ROUNDS);
        let mut check = Some(check);
        let bytes = (traffic.read + traffic.written) as u64;
        self.group.throughput(Throughput::Bytes(bytes));
        self.group.bench_function(name, |bencher| {
            if let Some(Err(wrong)) = check.take().map(|check| check(op())) {
                assert!(!name.starts_with("burn-scan"), "{case}/{name}: {wrong}");
                eprintln!("WRONG ANSWER of {case}/{name}, measured all the same: {wrong}");
            }
            bencher.iter_custom(|rounds| timed(device, batch, rounds, &mut op));
        });
    }
}

/// The time of `rounds` runs of `op`, to the end of the device's queue.
///
/// Each run is flushed: otherwise Burn's fusion would make one kernel of several additions to one tensor. The host
/// waits for the queue once per batch, so that a GPU sees the next launch before it has finished the last, as in a
/// program. Outputs live until the end of their batch, because fusion does not write an output that is already dropped.
/// They are freed outside of the measured time, for every contender alike.
fn timed<T>(device: &Device, batch: usize, rounds: u64, op: &mut impl FnMut() -> T) -> Duration {
    let mut total = Duration::ZERO;
    let mut left = usize::try_from(rounds).expect("a number of rounds");
    let mut outputs = Vec::with_capacity(batch);
    while left > 0 {
        let now = left.min(batch);
        let start = Instant::now();
        for _ in 0..now {
            outputs.push(op());
            device.flush().expect("the device takes the work");
        }
        device.sync().expect("the device finishes its queue");
        total += start.elapsed();
        outputs.clear();
        device.flush().expect("the device frees the outputs");
        left -= now;
    }
    total
}
