//! A running sum of a file that is larger than memory, and the highest sum so far, chunk by chunk.
//!
//! ```text
//! file      | chunk 0 | chunk 1 | chunk 2 | …       one chunk is mapped at a time
//! sum       0 ─scan→  s ─scan→  s ─scan→  s         the carry stays on the device
//! highest     ─scan→  h ─scan→  h ─scan→  h         of the sums, on the device as well
//! ```
//!
//! ```text
//! cargo run --release --example stream [-- [--device flex|wgpu|vulkan|cuda|..] [--gib N | --bytes N | --file PATH]]
//! ```
//!
//! The file holds 32-bit floats in this machine's byte order. Without `--file`, a file of 64 MiB or of the
//! given size is made under `target` and deleted at the end. Its numbers are small integers, whose sums are
//! exact. Every result is compared with a loop on the host over the same chunks: bit for bit for such a file, otherwise
//! within the bounds of rounding. The exit code is 0 if all results are right, 1 if any is not, 2 if the run could not
//! start.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::random::Random;
use indicatif::{ProgressBar, ProgressStyle};
use memmap2::MmapOptions;

const USAGE: &str = "stream [--device NAME] [--gib N] [--bytes N] [--file PATH]";

/// The default size in bytes of the file that is made, and the bytes of a chunk.
const MADE: usize = 64 << 20;
const CHUNK: usize = 4 << 20;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    let source = match arguments.option("--file") {
        Some(path) => Source {
            path: path.into(),
            is_made: false,
        },
        None => Source::make(size(arguments)?)?,
    };
    let mut checks = Checks::default();
    let summary = stream(&source, &device, &mut checks)
        .map_err(|error| format!("{}: {error}", source.path.display()))?;
    if checks.passed() {
        println!("{summary}");
    }
    Ok(checks.passed())
}

/// Bytes to make.
fn size(arguments: &Arguments) -> Result<usize, String> {
    let number = |option: &str, unit: usize| {
        let text = arguments.option(option)?;
        let bytes = text.parse::<f64>().ok().filter(|number| *number >= 0.0);
        let bytes = bytes.map(|number| (number * unit as f64) as usize);
        Some(bytes.ok_or_else(|| format!("{option} needs a number, not `{text}`")))
    };
    let bytes = number("--bytes", 1).or_else(|| number("--gib", 1 << 30));
    Ok(bytes.transpose()?.unwrap_or(MADE) / size_of::<f32>() * size_of::<f32>())
}

/// The file to stream. A file that was made is deleted when this value is dropped.
struct Source {
    path: PathBuf,
    is_made: bool,
}

impl Source {
    /// Steps from −8 to 8: the sum of 2^31 of them stays far below 2^24, up to which f32 holds every integer.
    fn make(bytes: usize) -> Result<Self, String> {
        let name = format!("target/stream-{}.bin", std::process::id());
        let source = Self {
            path: name.into(),
            is_made: true,
        };
        let error = |error: io::Error| format!("{}: {error}", source.path.display());
        let bar = progress("made", bytes);
        let write = || {
            fs::create_dir_all(source.path.parent().unwrap_or(Path::new(".")))?;
            let mut file = BufWriter::with_capacity(CHUNK, File::create(&source.path)?);
            let mut random = Random::new(7);
            for step in 0..bytes / size_of::<f32>() {
                let value = random.below(17) as f32 - 8.0;
                file.write_all(&value.to_ne_bytes())?;
                if step % (1 << 20) == 0 {
                    bar.set_position((step * size_of::<f32>()) as u64);
                }
            }
            file.flush()
        };
        write().map_err(error)?;
        bar.finish_and_clear();
        Ok(source)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if self.is_made
            && let Err(error) = fs::remove_file(&self.path)
        {
            eprintln!("{} was not deleted: {error}", self.path.display());
        }
    }
}

/// Streams the file. Returns the result in words.
fn stream(source: &Source, device: &Device, checks: &mut Checks) -> io::Result<String> {
    let file = File::open(&source.path)?;
    let total = file.metadata()?.len() as usize / size_of::<f32>() * size_of::<f32>();
    let mut sums = RunningScan::<1, _>::new(0, ScanOp::Sum, ScanOptions::default());
    let mut highest = RunningScan::<1, _>::new(0, ScanOp::Max, ScanOptions::default());
    let mut host = Host::new(source.is_made);
    let (bar, start, mut scanning) = (progress("scanned", total), Instant::now(), Duration::ZERO);
    for begin in (0..total).step_by(CHUNK) {
        let len = CHUNK.min(total - begin);
        // SAFETY: this program made the file, or the user asked to read it. Nothing writes to it meanwhile.
        let chunk = unsafe {
            MmapOptions::new()
                .offset(begin as u64)
                .len(len)
                .map(&file)?
        };
        let values: &[f32] = bytemuck::cast_slice(&chunk);

        let begun = Instant::now();
        let data = TensorData::new(values.to_vec(), [values.len()]);
        let tensor = Tensor::<1>::from_data(data, (device, DType::F32));
        let sums = sums.next(tensor);
        let found = [sums.clone(), highest.next(sums)];
        let found = found.map(|found| found.into_data().try_to_vec::<f32>().expect("f32"));
        scanning += begun.elapsed();

        if let Some(wrong) = host.first_wrong(values, &found[0], &found[1]) {
            checks.check(
                &format!("element {}", begin / size_of::<f32>() + wrong),
                false,
            );
            return Ok(String::new());
        }
        bar.set_position((begin + len) as u64);
    }
    bar.finish_and_clear();
    let rate = |time: Duration| total as f64 / time.as_secs_f64() / 1e6;
    Ok(format!(
        "{} floats in chunks of {}: the last sum is {}, the highest {}; scanned twice, up and down, at {:.0} MB/s, with the checks at {:.0} MB/s{}.",
        total / size_of::<f32>(),
        CHUNK / size_of::<f32>(),
        host.sum,
        host.highest,
        rate(scanning),
        rate(start.elapsed()),
        peak_memory(),
    ))
}

/// The loop in f64.
struct Host {
    /// Whether f32 holds every partial sum.
    is_exact: bool,
    sum: f64,
    /// The highest of the sums found.
    highest: f32,
    magnitudes: f64,
    chunks: f64,
}

impl Host {
    fn new(is_exact: bool) -> Self {
        Self {
            is_exact,
            sum: 0.0,
            highest: f32::NEG_INFINITY,
            magnitudes: 0.0,
            chunks: 0.0,
        }
    }

    fn first_wrong(&mut self, values: &[f32], sums: &[f32], highest: &[f32]) -> Option<usize> {
        self.chunks += 1.0;
        (0..values.len()).find(|&at| {
            let value = f64::from(values[at]);
            (self.sum, self.magnitudes) = (self.sum + value, self.magnitudes + value.abs());
            // A NaN stays, as in the scan.
            if sums[at] > self.highest || sums[at].is_nan() {
                self.highest = sums[at];
            }
            // A carry is rounded at each chunk. Inside a chunk, a sum is a tree of at most 24 levels of additions.
            let roundings = 24.0 + self.chunks;
            let allowed = if self.is_exact {
                0.0
            } else {
                roundings * self.magnitudes * 2f64.powi(-24)
            };
            let error = (f64::from(sums[at]) - self.sum).abs();
            let is_highest =
                highest[at] == self.highest || highest[at].is_nan() && self.highest.is_nan();
            let is_near = error <= allowed || sums[at].is_nan() && self.sum.is_nan();
            !is_near || !is_highest
        })
    }
}

fn progress(what: &str, bytes: usize) -> ProgressBar {
    let template = format!("{what} {{bar:40}} {{bytes}} of {{total_bytes}}, {{eta}} to go");
    let style = ProgressStyle::with_template(&template).expect("a template");
    ProgressBar::new(bytes as u64).with_style(style)
}

/// The most memory that the process has held, where the system tells.
fn peak_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let words = |kibibytes: u64| format!(", in {} MiB of memory", kibibytes >> 10);
    kibibytes.map(words).unwrap_or_default()
}
