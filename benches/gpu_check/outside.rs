//! The stages that run other programs: the peers on the same GPU, and the test binaries of the bundle.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::journal::{Ended, Verdict};
use crate::stage::figures;
use crate::supervisor::Shown;
use crate::timed::largest_power;

/// The test binaries, most telling first, with the tests to run.
const TESTS: [(&str, &[&str]); 4] = [
    ("cubecl-scan.test.scan", &["fallback", "determinism"]),
    ("cubecl-scan.test.guards", &[]),
    ("burn-scan.test.contract", &[]),
    ("cubecl-scan.test.scan", &[]),
];

/// What a program printed, and how it ended.
struct Ran {
    text: String,
    /// `None` if it was cut off.
    is_success: Option<bool>,
}

/// Runs a program to its end or to the end of `limit`.
fn run(command: &mut Command, log: &Path, limit: Duration) -> io::Result<Ran> {
    let begun = Instant::now();
    let output = File::create(log)?;
    command.stdin(Stdio::null());
    let mut child = command.stdout(output.try_clone()?).stderr(output).spawn()?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status.success());
        }
        if begun.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break None;
        }
        sleep(Duration::from_millis(50));
    };
    let mut bytes = Vec::new();
    File::open(log)?.read_to_end(&mut bytes)?;
    Ok(Ran {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        is_success: status,
    })
}

fn last_line(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.next_back().unwrap_or("it printed nothing")
}

fn ended(case: &str, verdict: Verdict, detail: &str, begun: Instant) -> Ended {
    Ended {
        case: case.to_owned(),
        verdict,
        detail: detail.to_owned(),
        seconds: begun.elapsed().as_secs_f64(),
        figures: Default::default(),
    }
}

/// CUB, compiled here, and the Python libraries that this machine has.
pub fn peers(folder: &Path, work: &Path, limit: Duration) -> io::Result<Shown> {
    let begun = Instant::now();
    let left = || limit.saturating_sub(begun.elapsed());
    let mut shown = Shown::default();
    shown.ended.push(cub(folder, work, left() * 2 / 3)?);
    shown.ended.push(python(folder, work, left())?);
    shown.seconds = begun.elapsed().as_secs_f64();
    Ok(shown)
}

fn cub(folder: &Path, work: &Path, limit: Duration) -> io::Result<Ended> {
    let begun = Instant::now();
    let program = work.join("cub");
    let nvcc = ["nvcc", "/usr/local/cuda/bin/nvcc"];
    let Some(nvcc) = nvcc.into_iter().find(|nvcc| starts(nvcc)) else {
        return Ok(ended(
            "CUB",
            Verdict::LeftOut,
            "no nvcc on this machine",
            begun,
        ));
    };
    let mut compile = Command::new(nvcc);
    compile.args([
        "-std=c++17",
        "-O3",
        "-arch=native",
        "--extended-lambda",
        "-o",
    ]);
    compile.arg(&program).arg(folder.join("cub.cu"));
    let compiled = run(&mut compile, &work.join("nvcc.txt"), limit)?;
    if compiled.is_success != Some(true) {
        let why = format!("nvcc failed: {}", last_line(&compiled.text));
        return Ok(ended("CUB", Verdict::LeftOut, &why, begun));
    }
    let left = limit.saturating_sub(begun.elapsed());
    let mut program = Command::new(&program);
    program.arg(largest_power().to_string());
    let ran = run(&mut program, &work.join("cub.csv"), left)?;
    let rows = cub_rows(&ran.text);
    let version = ran.text.lines().find_map(|line| line.strip_prefix("# "));
    let mut ended = match ran.is_success {
        Some(true) => ended("CUB", Verdict::Right, "", begun),
        Some(false) => ended("CUB", Verdict::LeftOut, last_line(&ran.text), begun),
        None => ended("CUB", Verdict::LeftOut, "cut off by its time", begun),
    };
    ended.figures = figures([
        ("version", json!(version.unwrap_or_default())),
        ("rows", json!(rows)),
    ]);
    Ok(ended)
}

/// `op,dtype,n,median_us,..` as `{"peer": "cub", "case": .., "median_us": ..}`, with the names that gpu.py gives cases.
fn cub_rows(text: &str) -> Vec<Value> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [op, dtype, n, median, ..] = fields[..] else {
            return None;
        };
        let median: f64 = median.parse().ok()?;
        let case = match (op, dtype) {
            // It accumulates in f16, and we do not.
            ("inclusive_sum", "f16") => "cumsum/f16 in f16".to_owned(),
            ("inclusive_sum", dtype) => {
                format!("cumsum/{}/1x{n}/dim1", dtype.trim_end_matches("-f32acc"))
            }
            ("inclusive_sum_deterministic", _) => {
                format!("cumsum/{dtype}/1x{n}/dim1/deterministic")
            }
            ("select_flagged", _) => format!("compact/{dtype}/1x{n}/density0.5"),
            ("select_flagged_1", _) => format!("compact/{dtype}/1x{n}/density0.01"),
            ("sort_pairs_8_bits", _) => format!("partition/u32/{n}/keys256"),
            ("sort_keys_32_bits", _) => format!("sort_keys/i32/1x{n}"),
            ("sort_pairs_32_bits", _) => format!("sort_pairs/i32/1x{n}"),
            ("run_length_encode", _) => format!("run_lengths/i32/{n}"),
            _ => format!("{op}/{dtype}/{n}"),
        };
        Some(json!({"peer": "cub", "case": case, "median_us": median}))
    };
    text.lines().filter_map(row).collect()
}

/// torch and CuPy, as far as they can be imported.
fn python(folder: &Path, work: &Path, limit: Duration) -> io::Result<Ended> {
    const NAME: &str = "torch and CuPy";
    let begun = Instant::now();
    if !starts("python3") {
        return Ok(ended(
            NAME,
            Verdict::LeftOut,
            "no python3 on this machine",
            begun,
        ));
    }
    let out = work.join("peers-gpu.json");
    let mut command = Command::new("python3");
    command.arg(folder.join("gpu.py")).arg("--out").arg(&out);
    command.args(["--largest", &largest_power().to_string()]);
    let ran = run(&mut command, &work.join("gpu-py.txt"), limit)?;
    let text = fs::read_to_string(&out).unwrap_or_default();
    let results: Value = serde_json::from_str(&text).unwrap_or_default();
    let rows = results["results"].as_array().cloned().unwrap_or_default();
    let (verdict, why) = match (ran.is_success, rows.is_empty()) {
        (Some(true), false) => (Verdict::Right, String::new()),
        (Some(_), _) => (Verdict::LeftOut, results["left_out"].to_string()),
        (None, _) => (Verdict::LeftOut, "cut off by its time".to_owned()),
    };
    let mut ended = ended(NAME, verdict, &why, begun);
    ended.figures = figures([
        ("version", results["versions"].clone()),
        ("rows", json!(rows)),
    ]);
    Ok(ended)
}

fn starts(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null());
    command.stderr(Stdio::null()).status().is_ok()
}

/// The test binaries, until the time is up. `program` makes the command of a binary by its name, if the bundle has it.
pub fn tests(
    work: &Path,
    limit: Duration,
    program: impl Fn(&str) -> Option<Command>,
) -> io::Result<Shown> {
    let whole = Instant::now();
    let mut shown = Shown::default();
    for (binary, filters) in TESTS {
        let begun = Instant::now();
        let name = format!("{binary} {}", filters.join(" "));
        let left = limit.saturating_sub(whole.elapsed());
        let command = program(binary).filter(|_| !left.is_zero());
        let Some(mut command) = command else {
            let why = if left.is_zero() {
                "no time left"
            } else {
                "not in the bundle"
            };
            shown.ended.push(ended(&name, Verdict::LeftOut, why, begun));
            continue;
        };
        let ran = run(command.args(filters), &work.join("test.txt"), left)?;
        let failed: Vec<&str> = ran
            .text
            .lines()
            .filter(|line| line.starts_with("test ") && line.ends_with("FAILED"))
            .collect();
        let passed = ran.text.lines().filter(|line| line.ends_with("... ok"));
        let passed = format!("{} tests passed", passed.count());
        let (verdict, detail) = match (ran.is_success, failed.is_empty()) {
            (Some(true), _) => (Verdict::Right, passed),
            (_, false) => (Verdict::Wrong, failed.join("; ")),
            (Some(false), true) => (Verdict::Wrong, last_line(&ran.text).to_owned()),
            (None, true) => (Verdict::LeftOut, format!("cut off by its time, {passed}")),
        };
        shown.ended.push(ended(&name, verdict, &detail, begun));
    }
    shown.seconds = whole.elapsed().as_secs_f64();
    Ok(shown)
}
