//! Development commands of burn-scan, run as `cargo xtask COMMAND`. Without a command it prints [`HELP`].
//!
//! Each command has a file `cmd_NAME.rs`. They share [`args`] (the command line), [`process`] (running a program),
//! [`steps`] (several programs and their summary), [`vulkan`] (the drivers that this machine has) and [`drivers`]
//! (getting one).

mod args;
mod bundle_files;
mod chromium;
mod cmd_faults;
mod cmd_features;
mod cmd_gpu_bundle;
mod cmd_gpu_code;
mod cmd_memcheck;
mod cmd_next_burn;
mod cmd_peers;
mod cmd_report;
mod cmd_test;
mod cmd_test_cuda_sim;
mod cmd_test_web;
mod cmd_test_webgpu;
mod cmd_web;
mod copy;
mod debian;
mod drivers;
mod faults;
mod libraries;
mod llvm_stub;
mod metadata;
mod process;
mod programs;
mod python;
mod record;
mod site;
mod steps;
mod swiftshader;
mod vulkan;
mod wasm;

use std::process::ExitCode;

// Errors are messages for a person. No code here handles one.
use anyhow::{Result, bail};

const HELP: &str = "\
Development commands of burn-scan.

usage: cargo xtask COMMAND [OPTIONS]

  test          Run the tests on the CPU (Flex) and on the GPU path (Cube, through wgpu). A machine
                without a GPU gets two software Vulkan drivers.
      --driver system       what the machine has, a real GPU first (the default where there is one)
      --driver swiftshader  Chromium's software driver, unpacked (not installed) from Debian's
                            `chromium-common`, and lavapipe for some of the kernels' own tests (the other default)
      --driver lavapipe     Mesa's software driver alone, installed by apt
      --rest                what it leaves out instead: the protocol, and the contract without the feature `fusion`
      --heavy               the long tier instead: 20,000 drawn cases per law (feature `heavy`), and `memcheck`;
                            more than two hours
      -- ARGS               passed to `cargo test`, e.g. `-- --test adapter`; only that step runs then

  test-webgpu   Compile and run the kernels in headless Chromium, whose WGSL validator (Tint) is stricter than
                naga, and check what they compute. Installs Debian's `chromium` by apt where there is none.
      --replay              what target/webgpu holds of the last run: nothing is built

  test-web      Run tests of the crate itself, compiled to WebAssembly, in headless Chromium: on WebGPU, and on the
                CPU of the page. Then open the page of `web`, which checks itself. Installs Debian's `chromium` and
                `chromium-driver` by apt where they are missing.
      --page                the page alone
      --picture             keep the picture of the page as docs/images/web.png
      -- ARGS               passed to `cargo test`, e.g. `-- --test browser`; only the tests run then

  web           Build the page of examples/web for browsers, and serve it on this machine. Where rustup has no target
                wasm32-unknown-unknown, Debian's compiler is unpacked under target/; wasm-bindgen comes from crates.io.
      --build               do not serve it: the folder is target/web/page
      --port N              serve it at this port (default 8080)

  test-cuda-sim Compile the kernels to PTX and run them on a GPU simulator, which is not part of this repository.
      --simulator DIR       the folder with its sim.py
      --built DIR           what its build.sh filled (default: the variable SIM_DIR)
      --headlines           only the cases whose cycles count
      --replay              what target/cuda holds of the last run: nothing is recorded
      WORD...               only cases with one of these in their names

  memcheck      Run the tests of the CPU engine under valgrind (installed by apt where missing).
      NAME...               only tests with one of these in their name

  faults        Make the mistakes that kernels/tests/faults.txt and tests/faults.txt list, one at a time in a copy of
                the tree; each must fail the test that is named for it.
      WORD...               only faults with one of these in their name, or of this package
      --driver NAME         as for `test`

  features      clippy with every feature alone, for both crates, warnings being errors; the README's first program,
                made of its lines; and two programs that differ only in this crate, whose default devices must be the
                same.
      NAME...               only these features

  next-burn     Check a copy of the tree with the newest pre-release of Burn and the CubeCL that goes with it. Without
                an error the tests run.
      --patch               the newest patches of Burn and CubeCL that the manifest admits. Fails if the lock file has
                            older ones.

  peers         Run the benches of other libraries (numpy, jax, polars) in a Python venv under target/.
      --torch               torch too. On Linux pip takes the CUDA build, which is gigabytes: point pip
                            at PyTorch's CPU index first (PIP_EXTRA_INDEX_URL; pytorch.org names it)
      --sorts               the sorts of lampshade, massively and rdst too: a build of wgpu and CubeCL
      --driver D            as for `test`; of lampshade and massively
      -- ARGS               passed to benches/peers/run.py

  report        Run the benches and the peers, record them, and write docs/results and the results in
                docs/performance.md. Takes two cores half an hour, and Python.
      --quick               the headline cases only, a few minutes; the pages go to target/report
      --check               measure the headline cases of this tree and of the commit it stands on in turn; fails
                            where one became more than 15 % slower. A quarter of an hour besides the builds
      --against REVISION    with --check: that revision instead
      --device DEVICE       with --check: the cases of `flex` or `cube` only
      --gpu FILE            measure nothing: record the results.json that `./run.sh check` wrote on a GPU host
      --criterion FOLDER    measure nothing: record a folder of criterion, with a machine.txt as this command writes it
      --name NAME           the run's name, benches/results/NAME.csv (default: adapter and cores)
      --driver D, --torch, --sorts
                            as for `test` and `peers`
      -- ARGS               passed to `cargo bench`, e.g. `-- --features cuda`

  gpu-code      Compile the kernels with NVIDIA's compiler (from PyPI, into a Python venv under target/) and for AMD's
                GPUs with Clang (Debian's packages, unpacked under target/); no GPU is needed. Read the machine code,
                and print a table: registers, spills, widths of accesses, barriers; CUB's beside them. Fails where a
                kernel is refused, spills, reads contiguous memory narrowly, or where units may miss a plane operation.
      --replay              what target/cuda and target/hip hold of the last run: nothing is recorded
      --write               put the table into docs/results/compiled.md
      WORD...               only cases with one of these in their names

  gpu-bundle OUT
                Pack the test and bench binaries (release, stripped, xz) with a run script into the folder
                OUT, for a GPU host that has neither Rust nor network.
      --check               what `./run.sh check` runs within nine minutes on a GPU: for wgpu, SPIR-V and CUDA
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
    let mut own = rest.iter().take_while(|arg| *arg != "--");
    let asks_for_help = own.any(|arg| arg == "-h" || arg == "--help");
    let command = if asks_for_help { "help" } else { command };
    match run(command, rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &str, args: &[String]) -> Result<()> {
    match command {
        "test" => cmd_test::run(args),
        "test-cuda-sim" => cmd_test_cuda_sim::run(args),
        "test-web" => cmd_test_web::run(args),
        "test-webgpu" => cmd_test_webgpu::run(args),
        "web" => cmd_web::run(args),
        "memcheck" => cmd_memcheck::run(args),
        "faults" => cmd_faults::run(args),
        "features" => cmd_features::run(args),
        "next-burn" => cmd_next_burn::run(args),
        "peers" => cmd_peers::run(args),
        "report" => cmd_report::run(args),
        "gpu-code" => cmd_gpu_code::run(args),
        "gpu-bundle" => cmd_gpu_bundle::run(args),
        "help" | "-h" | "--help" => {
            print!("{HELP}");
            Ok(())
        }
        other => bail!("no command `{other}`; `cargo xtask` alone lists them"),
    }
}
