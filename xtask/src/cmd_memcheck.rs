//! `cargo xtask memcheck`: the tests of the CPU engine under valgrind's memcheck. It sees every access outside of a
//! buffer and every branch on memory that was never written.
//!
//! The engine is built as a crate of its own, because valgrind would take minutes to start all of Burn. Its tests leave
//! out their largest inputs, see `BURN_SCAN_MEMCHECK` in `docs/testing.md`.

use std::thread::available_parallelism;

use crate::Result;
use crate::args::{Args, Spec};
use crate::copy::copy_engine;
use crate::drivers::apt_install;
use crate::process::{cargo, in_path, run as run_to_success, runner_variable};

/// Runs the engine's tests with one of the given words in their names, or all.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &Spec::default())?;
    if !in_path("valgrind") {
        eprintln!("valgrind is missing: installing it");
        apt_install("valgrind", &[])?;
    }
    let copy = copy_engine()?;
    let mut command = cargo(&["test", "--"]);
    command
        .args(&args.words)
        // Valgrind runs one thread at a time. More tests at once would only wait for each other.
        .args(["--test-threads", "1"])
        .env(runner_variable()?, "valgrind --quiet --error-exitcode=99")
        .env("BURN_SCAN_MEMCHECK", "1")
        // Threads hand work to each other even on a small machine.
        .env("RAYON_NUM_THREADS", threads().to_string())
        .env("CARGO_TARGET_DIR", &copy.target)
        .current_dir(&copy.tree);
    run_to_success(&mut command)
}

fn threads() -> usize {
    available_parallelism().map_or(2, |cores| cores.get().clamp(2, 4))
}
