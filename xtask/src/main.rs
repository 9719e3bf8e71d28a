//! Development commands of burn-scan, run as `cargo xtask COMMAND`. Without a command it prints [`HELP`].
//!
//! One file per command; what they share is [`args`] (the command line), [`process`] (running a program,
//! steps and their summary), [`vulkan`] (which drivers this machine has) and [`drivers`] (getting one).

mod args;
mod bundle_files;
mod cmd_features;
mod cmd_gpu_bundle;
mod cmd_peers;
mod cmd_test;
mod drivers;
mod libraries;
mod llvm_stub;
mod process;
mod swiftshader;
mod vulkan;

use std::process::ExitCode;

/// Errors are messages for a person: nothing here is handled by code.
type Result<T> = std::result::Result<T, String>;

const HELP: &str = "\
Development commands of burn-scan.

usage: cargo xtask COMMAND [OPTIONS]

  test          Run every test on the CPU (Flex) and on the GPU path (Cube, through wgpu). A machine
                without a GPU gets lavapipe, Mesa's software Vulkan driver, installed by apt.
      --driver system       what the machine has, a real GPU first (default)
      --driver lavapipe     Mesa's software driver, also where there is a GPU
      --driver swiftshader  Chromium's software driver, unpacked (not installed) from Debian's
                            `chromium-common`; about 15 times slower: the kernels' own tests only
      --heavy               the long tier too (feature `heavy`)
      -- ARGS               passed to `cargo test`, e.g. `-- --test adapter`; only that step runs then

  features      clippy with every feature alone, for both crates, warnings being errors.
      NAME...               only these features

  peers         Run the benches of other libraries (numpy, jax, polars) in a Python venv under target/.
      --torch               torch too. On Linux pip takes the CUDA build, which is gigabytes: point pip
                            at PyTorch's CPU index first (PIP_EXTRA_INDEX_URL; pytorch.org names it)
      -- ARGS               passed to benches/peers/run.py

  gpu-bundle OUT
                Pack the test and bench binaries (release, stripped, xz) with a run script into the folder
                OUT, for a GPU host that has neither Rust nor network.
      --vulkan --cuda       also build for SPIR-V and for CUDA (default: wgpu alone)
      --test N --bench N    only these, repeatable (default: all of tests/ and benches/)

What continuous integration runs is `.ci/run`.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", args.as_slice()),
    };
    let own = || rest.iter().take_while(|arg| *arg != "--");
    let done = match command {
        _ if own().any(|arg| arg == "-h" || arg == "--help") => {
            print!("{HELP}");
            Ok(())
        }
        "test" => cmd_test::run(rest),
        "features" => cmd_features::run(rest),
        "peers" => cmd_peers::run(rest),
        "gpu-bundle" => cmd_gpu_bundle::run(rest),
        "help" | "-h" | "--help" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(format!(
            "no command `{other}`; `cargo xtask` alone lists them"
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
