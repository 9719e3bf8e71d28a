//! A running sum and a running maximum of a file that is larger than the buffers, chunk by chunk.
//!
//! ```text
//! file      | chunk 0 | chunk 1 | chunk 2 | …
//! sum       0 ─scan→  s ─scan→  s ─scan→  s          the carry stays on the device; one chunk is there at a time
//! ```
//!
//! ```text
//! cargo run --release --example stream [-- [--device flex|wgpu|vulkan|cuda|..] [--file PATH]]
//! ```
//!
//! The file holds 32-bit integers; without `--file` one of 64 MiB is made under `target`. Every sum and every maximum is compared with a loop on the
//! host that sees the same chunks. The exit code is 0 if all results are right, 1 if any is not, 2 if the run could not start.

mod common;

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::random::Random;
use indicatif::ProgressBar;

const USAGE: &str = "stream [--device NAME] [--file PATH]";

/// Integers of the file that is made, and of a chunk.
const MADE: usize = 16 << 20;
const CHUNK: usize = 1 << 20;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Whether all results are right; or why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    let path = match arguments.option("--file") {
        Some(path) => PathBuf::from(path),
        None => {
            make(Path::new("target/stream.bin")).map_err(|e| format!("target/stream.bin: {e}"))?
        }
    };
    let mut checks = Checks::new();
    let summary = stream(&path, &device, &mut checks)?;
    if checks.passed() {
        println!("{summary}");
    }
    Ok(checks.passed())
}

/// Small steps up and down, in a file.
fn make(path: &Path) -> io::Result<PathBuf> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut random = Random::new(7);
    let mut file = BufWriter::new(File::create(path)?);
    for _ in 0..MADE {
        let step = (random.uniform() * 2001.0) as i32 - 1000;
        file.write_all(&step.to_le_bytes())?;
    }
    file.flush()?;
    Ok(path.to_owned())
}

/// Walks the file; what came out, in words.
fn stream(path: &Path, device: &Device, checks: &mut Checks) -> Result<String, String> {
    let error = |e: io::Error| format!("{}: {e}", path.display());
    let mut file = File::open(path).map_err(error)?;
    let total = file.metadata().map_err(error)?.len() as usize / size_of::<i32>();
    let mut sums = RunningScan::<1, Int>::new(0, ScanOp::Sum, ScanOptions::default());
    let mut maxima = RunningScan::<1, Int>::new(0, ScanOp::Max, ScanOptions::default());
    let mut host = (0i32, i32::MIN);
    let mut done = 0;
    let bar = ProgressBar::new(total as u64);
    let (mut ours, start) = (0.0, Instant::now());
    while done < total {
        let chunk = read_chunk(&mut file, CHUNK.min(total - done)).map_err(error)?;
        let begun = Instant::now();
        let len = chunk.len();
        let tensor = Tensor::<1, Int>::from_data(
            TensorData::new(chunk.clone(), [len]),
            (device, DType::I32),
        );
        let found = [sums.next(tensor.clone()), maxima.next(tensor)];
        let found = found.map(|tensor| tensor.into_data().try_to_vec::<i32>().expect("i32"));
        ours += begun.elapsed().as_secs_f64();
        for (at, step) in chunk.into_iter().enumerate() {
            host = (host.0.wrapping_add(step), host.1.max(step));
            if (found[0][at], found[1][at]) != host {
                checks.check(&format!("element {}", done + at), false);
                return Ok(String::new());
            }
        }
        done += len;
        bar.set_position(done as u64);
    }
    bar.finish();
    Ok(format!(
        "{total} integers in chunks of {CHUNK}: they add up to {} (modulo 2^32), and the largest is {}; scanned, up and down, in {ours:.2} of {:.2} s.",
        host.0,
        host.1,
        start.elapsed().as_secs_f64()
    ))
}

fn read_chunk(file: &mut File, len: usize) -> io::Result<Vec<i32>> {
    let mut bytes = vec![0; len * size_of::<i32>()];
    file.read_exact(&mut bytes)?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().map(|&word| i32::from_le_bytes(word)).collect())
}
