//! What a GPU shows of this crate in ten minutes: facts, right results, speed beside a copy and beside peers, Burn's own
//! `cumsum` after `install()`, and the most telling tests.
//!
//! ```text
//! gpu_check check --seconds 540 --out results.json --bundle FOLDER --back-ends cuda,vulkan,wgpu [--stages right,fast]
//! gpu_check stage NAME --journal FILE --seconds S --shard I/N [--after CASE] [--plant]    (a process of a stage)
//! ```
//!
//! `cargo xtask gpu-bundle OUT --check` packs it with the script that runs it. Each stage is a process, or several that
//! share the cases: a kernel that hangs ends its process, and the stages after it still run. `BURN_SCAN_DEVICE` names
//! the back end of a process. Without arguments this program tests itself with two kernels that fail on purpose.

#[path = "../common/mod.rs"]
mod bench;
#[allow(dead_code, reason = "the records have more cases")]
#[path = "../../kernels/tests/recorded/compaction.rs"]
mod compaction;
mod compared;
#[path = "../../kernels/examples/common/copy.rs"]
mod copy;
mod facts;
mod fast;
#[path = "../../tests/fusion_support/mod.rs"]
mod fusion_support;
mod journal;
#[allow(dead_code, reason = "the records have more cases")]
#[path = "../../kernels/tests/recorded/operators.rs"]
mod operators;
mod outside;
mod plan;
#[allow(dead_code, reason = "the records have more cases")]
#[path = "../../kernels/tests/recorded/planes.rs"]
mod planes;
mod planted;
mod record;
mod results;
mod right;
#[allow(dead_code, reason = "the records have more cases")]
#[path = "../../kernels/tests/recorded/scans.rs"]
mod scans;
mod selftest;
mod sorting;
#[allow(dead_code, reason = "the records have more cases")]
#[path = "../../kernels/tests/recorded/sorts.rs"]
mod sorts;
mod stage;
mod supervisor;
mod table;
mod timed;
#[path = "../../kernels/examples/common/timing.rs"]
mod timing;
mod unmodified;

use std::io;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use burn::backend::DispatchDevice;
use burn::tensor::Device;
use cubecl::client::Client;
use plan::{FLAVOURS, Step};
use results::Part;
use serde_json::json;
use stage::Turn;
use supervisor::Shown;

/// What the end of a run takes, beside the stages.
const MARGIN: Duration = Duration::from_secs(8);

/// The name of this program in a bundle.
const OWN_NAME: &str = "burn-scan.bench.gpu_check";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["check", ..] => check(&args),
        ["stage", name, ..] => {
            run_stage(name, &args);
            Ok(true)
        }
        // `cargo bench` and `cargo xtask report` ask benches for their cases: this one has none of criterion's.
        _ if words
            .iter()
            .any(|word| ["--bench", "--list"].contains(word)) =>
        {
            eprintln!("gpu_check measures a GPU by `gpu_check check`");
            Ok(true)
        }
        _ => selftest::run(),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("gpu_check: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The word after an option.
fn option<'a>(args: &'a [String], name: &str) -> Option<&'a str> {
    let at = args.iter().position(|arg| arg == name)?;
    args.get(at + 1).map(String::as_str)
}

/// The Cube device that `BURN_SCAN_DEVICE` names, with its description. Where it does not start, the process ends with
/// the first reason that a library gave as its last line.
fn open() -> &'static scan_testing::tensors::devices::Cube {
    static FIRST: Mutex<String> = Mutex::new(String::new());
    std::panic::set_hook(Box::new(|panic| {
        let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_empty() {
            *first = in_one_line(panic);
        }
    }));
    let opened = std::panic::catch_unwind(scan_testing::tensors::devices::cube);
    say_panics();
    if let Ok(Some(cube)) = opened {
        return cube;
    }
    let first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!("the device does not start: {first:.160}");
    std::process::exit(1)
}

/// One line, whatever panics: the supervisor shows the last one.
fn say_panics() {
    std::panic::set_hook(Box::new(|panic| eprintln!("{}", in_one_line(panic))));
}

fn in_one_line(panic: &PanicHookInfo<'_>) -> String {
    let message = scan_testing::tensors::panic_message(panic.payload());
    let words: Vec<&str> = message.split_whitespace().collect();
    words.join(" ")
}

fn client_of(device: &Device) -> Client {
    let DispatchDevice::Cube(cube) = device.as_dispatch() else {
        unreachable!("it is a Cube device")
    };
    cube.client()
}

/// A process of a stage.
fn run_stage(name: &str, args: &[String]) {
    let seconds = option(args, "--seconds").and_then(|text| text.parse().ok());
    let (at, shards) = option(args, "--shard")
        .and_then(|text| text.split_once('/'))
        .unwrap_or(("0", "1"));
    let number = |text: &str| text.parse().expect("the supervisor passes numbers");
    let turn = Turn {
        seconds: seconds.unwrap_or(1e9),
        shard: (number(at), number(shards)),
        after: option(args, "--after").map(str::to_owned),
    };
    say_panics();
    let journal = PathBuf::from(option(args, "--journal").expect("a stage has a journal"));
    if name == "installed" {
        stage::start(&journal, turn);
        unmodified::with_install(|| open().device.clone());
        return stage::finish();
    }
    let cube = open();
    let client = client_of(&cube.device);
    stage::start(&journal, turn);
    if args.iter().any(|arg| arg == "--plant") {
        planted::run(&client);
    }
    match name {
        "facts" => facts::run(&client, &cube.adapter),
        "right" => right::run(&client),
        "large" => right::large(&client),
        "fast" => fast::run(&client),
        "sorting" => sorting::run(&client),
        "invariance" => compared::invariance(&client),
        "tuning" => compared::tuning(&client),
        "burns-own" => unmodified::without_install(&cube.device),
        "planted" => {}
        _ => panic!("no stage `{name}`"),
    }
    stage::finish();
}

/// Runs all stages of all back ends, writes the results and prints the page. Whether every stage that ran was right.
fn check(args: &[String]) -> io::Result<bool> {
    let of = |name: &str| option(args, name).map(str::to_owned);
    let seconds = of("--seconds").and_then(|text| text.parse().ok());
    let named = of("--back-ends").unwrap_or_else(|| FLAVOURS.join(","));
    let flavours: Vec<String> = named.split(',').map(str::to_owned).collect();
    let mut run = Run {
        begun: Instant::now(),
        whole: Duration::from_secs(seconds.unwrap_or(540)).saturating_sub(MARGIN),
        saved: Duration::ZERO,
        bundle: PathBuf::from(of("--bundle").unwrap_or_else(|| ".".into())),
        out: PathBuf::from(of("--out").unwrap_or_else(|| "results.json".into())),
        work: std::env::temp_dir().join(format!("gpu_check-{}", std::process::id())),
        parts: Vec::new(),
    };
    std::fs::create_dir_all(&run.work)?;
    for flavour in &flavours {
        run.step(flavour, plan::facts())?;
    }
    let started: Vec<String> = run
        .parts
        .iter()
        .filter(|part| !part.shown.ended.is_empty())
        .map(|part| part.flavour.clone())
        .collect();
    let chosen = of("--stages");
    let is_chosen = |name: &str| {
        let chosen = chosen.as_deref();
        chosen.is_none_or(|chosen| chosen.split(',').any(|stage| stage == name))
    };
    for (flavour, step) in plan::steps(&started) {
        if is_chosen(step.name()) {
            run.step(&flavour, step)?;
        }
    }
    let _ = std::fs::remove_dir_all(&run.work);
    print!("{}", table::page(&run.parts));
    let seconds = run.begun.elapsed().as_secs();
    println!("\n{seconds} s; all results are in {}", run.out.display());
    let is_right = run.parts.iter().all(|part| part.wrong().next().is_none());
    Ok(is_right && !started.is_empty())
}

/// A run of `check`.
struct Run {
    begun: Instant,
    whole: Duration,
    /// What the steps before have not used of their limits.
    saved: Duration,
    bundle: PathBuf,
    out: PathBuf,
    work: PathBuf,
    parts: Vec<Part>,
}

impl Run {
    /// Runs a step of a back end, and saves what it showed.
    fn step(&mut self, flavour: &str, mut step: Step) -> io::Result<()> {
        let name = step.name();
        let left = self.whole.saturating_sub(self.begun.elapsed());
        let planned = *step.limit();
        *step.limit() = if name == "tests" {
            left
        } else {
            (planned + self.saved).min(left)
        };
        let limit = *step.limit();
        let shown = if limit < Duration::from_secs(2) {
            Shown::unfinished("no time left")
        } else {
            eprintln!("{flavour}: {name}, at most {} s", limit.as_secs());
            run_step(&step, flavour, &self.bundle, &self.work)?
        };
        let used = Duration::from_secs_f64(shown.seconds);
        self.saved = (self.saved + planned).saturating_sub(used);
        self.parts.push(Part {
            flavour: flavour.to_owned(),
            stage: name.to_owned(),
            shown,
        });
        results::save(&self.out, &host(&self.bundle), &self.parts)
    }
}

fn run_step(step: &Step, flavour: &str, bundle: &Path, work: &Path) -> io::Result<Shown> {
    match step {
        Step::Own(stage) => supervisor::run(stage, work, || program(bundle, flavour, OWN_NAME)),
        Step::Peers(limit) => outside::peers(&bundle.join("peers"), work, *limit),
        Step::Tests(limit) => {
            let listed = std::fs::read_to_string(bundle.join("binaries.txt")).unwrap_or_default();
            outside::tests(work, *limit, |name| {
                let line = format!("{flavour} {name}");
                let is_there = listed.lines().any(|listed| listed == line);
                is_there.then(|| by_script(bundle, flavour, name))
            })
        }
    }
}

/// The command of this program for a back end: by the script of the bundle, or without a bundle this very file.
fn program(bundle: &Path, flavour: &str, name: &str) -> Command {
    if bundle.join("run.sh").is_file() {
        return by_script(bundle, flavour, name);
    }
    let mut command = Command::new(std::env::current_exe().expect("a running program has a path"));
    command.env("BURN_SCAN_DEVICE", flavour);
    command
}

/// The script replaces itself by the binary, so that killing one ends the other.
fn by_script(bundle: &Path, flavour: &str, name: &str) -> Command {
    let mut command = Command::new("bash");
    command
        .arg(bundle.join("run.sh"))
        .args(["exec", flavour, name]);
    command
}

/// The build and the host.
fn host(bundle: &Path) -> serde_json::Value {
    let first = |path: &str, key: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key));
        line.and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim().to_owned())
    };
    let build = std::fs::read_to_string(bundle.join("build.txt")).unwrap_or_default();
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    json!({
        "build": build.trim(),
        "seconds since 1970": since_1970.map_or(0, |time| time.as_secs()),
        "cpu": first("/proc/cpuinfo", "model name"),
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
        "memory": first("/proc/meminfo", "MemTotal"),
    })
}
