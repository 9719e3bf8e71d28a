//! `cargo xtask peers`: the same work in other libraries, on this machine's CPU.
//!
//! Makes a Python venv under `target/peers`, installs each library on its own (so that one that cannot be
//! had does not take the others along), runs `benches/peers/run.py`, and names what was left out and why.

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::args::{Args, Spec};
use crate::process::{in_path, root, run as run_to_success, target_dir};

const LIBRARIES: [&str; 3] = ["numpy", "jax", "polars"];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(
        args,
        &Spec {
            flags: &["--torch"],
            options: &[],
        },
    )?;
    let script = root().join("benches/peers/run.py");
    if !script.is_file() {
        return Err(format!("{} is missing", script.display()));
    }
    let venv = target_dir().join("peers/venv");
    let python = venv.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    if !python.is_file() || !has_pip(&python) {
        make_venv(&venv)?;
    }
    let mut left_out = Vec::new();
    for library in LIBRARIES {
        left_out.extend(install(&python, library));
    }
    if args.flag("--torch") {
        left_out.extend(install(&python, "torch"));
    } else {
        left_out.push("torch: not asked for (--torch)".to_owned());
    }
    let result = run_to_success(
        Command::new(&python)
            .arg(&script)
            .args(&args.rest)
            .current_dir(root()),
    );
    for line in left_out {
        println!("left out: {line}");
    }
    result
}

/// A venv on Debian without its package `python3-venv` is made, but has no pip.
fn has_pip(python: &Path) -> bool {
    let pip = Command::new(python)
        .args(["-m", "pip", "--version"])
        .output();
    pip.is_ok_and(|out| out.status.success())
}

fn make_venv(venv: &Path) -> Result<()> {
    let base = ["python3", "python"].into_iter().find(|name| in_path(name));
    let base = base
        .or(cfg!(windows).then_some("python"))
        .ok_or("the peers need Python 3 (python3 in PATH)")?;
    run_to_success(Command::new(base).args(["-m", "venv", "--clear"]).arg(venv)).map_err(|error| {
        format!("{error}. On Debian and Ubuntu: sudo apt-get install -y python3-venv")
    })
}

/// Installs one library from wheels; a line for the reader if that fails.
fn install(python: &Path, library: &str) -> Option<String> {
    let line = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
    ];
    run_to_success(Command::new(python).args(line).arg(library))
        .err()
        .map(|error| format!("{library}: pip could not install it ({error})"))
}
