//! Validates and times every cube-level algorithm and every device-level routine of `cubecl-scan`, and eight more
//! algorithms for a cube (`algorithms`), over powers of two and sizes next to them. Compares each with a copy of as
//! many elements on the same device in the same run.
//!
//! ```text
//! cargo run --release -p cubecl-scan --features wgpu --example survey [-- OPTIONS]
//! ```
//!
//! - Validation: inclusive and exclusive sums of i32 against plain loops, once for each of five kinds of data, or
//!   `--torture N` times. It also notices elements that a kernel did not write, and writes past the end.
//! - Timing: the median of several samples. A sample has as many launches as take a few milliseconds, and waits for the
//!   device's queue. Wrong results are not timed.
//! - Reports: a table on standard output, a CSV file, and the throughput of the inclusive scans against n as an SVG.
//!
//! `--help` lists the options. The program follows the survey of Smith ("GPUPrefixSums", 2023), which is inclusive only
//! and ends at sums of 2^30.

mod algorithms;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/copy.rs"]
mod copy;
mod data;
mod device;
mod kernels;
mod options;
mod plot;
mod report;
mod run;
mod size;
mod subject;
#[path = "../common/timing.rs"]
mod timing;
mod validate;

use data::Data;
use device::Opened;
use options::{HELP, Options};
use run::{Outcome, Record, Survey};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("survey: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether all results were right; or why there are none.
fn run() -> Result<bool, String> {
    let options = Options::parse(std::env::args().skip(1))?;
    if options.help {
        print!("{HELP}");
        return Ok(true);
    }
    let device = device::open(options.device.as_deref())?;
    let sizes = options.sizes(device.software);
    fits(&device, sizes.iter().copied().max().unwrap_or(0))?;
    // Before minutes of work: are the reports writable?
    let (csv, svg) = (options.csv(), options.svg());
    let mut csv_file = BufWriter::new(create(&csv)?);
    let mut svg_file = create(&svg)?;

    println!("device: {}", device.description);
    let description = device.description.clone();
    let survey = Survey {
        device,
        sizes,
        rounds: options.torture.unwrap_or(Data::ALL.len()),
        samples: if options.quick { 3 } else { 9 },
    };
    let records = survey.run();

    report::table(&mut io::stdout().lock(), &records).map_err(|error| error.to_string())?;
    report::csv(&mut csv_file, &records, &description)
        .and_then(|()| csv_file.flush())
        .map_err(|error| format!("{}: {error}", csv.display()))?;
    let plot = plot::svg(&records, &description).map_err(|error| error.to_string())?;
    svg_file
        .write_all(plot.as_bytes())
        .map_err(|error| format!("{}: {error}", svg.display()))?;
    println!("\nwritten: {} and {}", csv.display(), svg.display());
    Ok(conclude(&records))
}

fn fits(device: &Opened, n: usize) -> Result<(), String> {
    let limit = device.client.properties().memory.max_page_size;
    let bytes = size_of::<i32>() as u64 * subject::capacity(n) as u64;
    if bytes <= limit {
        Ok(())
    } else {
        Err(format!(
            "n = {} needs buffers of {bytes} bytes, and this device allows {limit}",
            size::spell(n)
        ))
    }
}

fn create(path: &Path) -> Result<File, String> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)
        .and_then(|()| File::create(path))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Prints what was refused and the verdict.
fn conclude(records: &[Record]) -> bool {
    for record in records {
        if let Outcome::Refused(reason) = &record.outcome {
            let n = size::spell(record.n);
            println!("refused: {}, n = {n}: {reason}", record.subject.name());
        }
    }
    let runs: usize = records.iter().map(|record| record.runs).sum();
    let is_wrong = |record: &&Record| matches!(record.outcome, Outcome::Wrong { .. });
    let wrong = records.iter().filter(is_wrong).count();
    match wrong {
        0 => println!("{runs} scans and copies validated, all right"),
        _ => println!("{runs} scans and copies validated, WRONG in {wrong} cells of the table"),
    }
    wrong == 0
}
