//! `cargo xtask memcheck`: the tests of the CPU engine under valgrind's memcheck, which sees every access outside of a
//! buffer and every branch on memory that was never written.
//!
//! The engine is built as a crate of its own, since valgrind would take minutes to start all of Burn. Its tests leave out
//! their largest inputs, see `BURN_SCAN_MEMCHECK` in `docs/testing.md`.

use std::thread::available_parallelism;

use crate::Result;
use crate::args::{Args, Spec};
use crate::copy::copy_engine;
use crate::drivers::apt_install;
use crate::process::{cargo, in_path, output, run as run_to_success};

const SPEC: Spec = Spec {
    flags: &[],
    options: &[],
};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    check(&args.words)
}

/// Runs the engine's tests with one of `names` in theirs, or all.
pub(crate) fn check(names: &[String]) -> Result<()> {
    if !in_path("valgrind") {
        eprintln!("valgrind is missing: installing it");
        apt_install("valgrind", &[])?;
    }
    let copy = copy_engine()?;
    let runner = format!("CARGO_TARGET_{}_RUNNER", host_triple()?);
    let mut command = cargo(&["test", "--"]);
    command
        .args(names)
        // Valgrind runs one thread at a time: more tests at once would only wait for each other.
        .args(["--test-threads", "1"])
        .env(runner, "valgrind --quiet --error-exitcode=99")
        .env("BURN_SCAN_MEMCHECK", "1")
        // Threads that hand work to each other, on however small a machine.
        .env("RAYON_NUM_THREADS", threads().to_string())
        .env("CARGO_TARGET_DIR", &copy.target)
        .current_dir(&copy.tree);
    run_to_success(&mut command)
}

fn threads() -> usize {
    available_parallelism().map_or(2, |cores| cores.get().clamp(2, 4))
}

/// As cargo writes it in the names of variables: `X86_64_UNKNOWN_LINUX_GNU`.
fn host_triple() -> Result<String> {
    let version = output("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc -vV names no host")?;
    Ok(host.trim().to_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_written_as_in_a_variable() {
        let host = host_triple().unwrap();
        assert!(host.contains('_') && !host.contains('-'), "{host}");
        assert_eq!(host, host.to_uppercase());
    }
}
