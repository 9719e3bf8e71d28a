//! `cargo xtask peers`: the same work in other libraries, on this machine's CPU.
//!
//! It makes a Python venv under `target/peers`, and installs each library on its own: one that fails does not keep the
//! others out. Then it runs `benches/peers/run.py`, and names what was left out and why.

use anyhow::ensure;

use crate::Result;
use crate::args::{Args, Spec};
use crate::process::{root, run as run_to_success};
use crate::python::Venv;

const SPEC: Spec = Spec {
    flags: &["--torch"],
    options: &[],
};

const LIBRARIES: [&str; 4] = ["numpy", "scipy", "jax", "polars"];

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    let script = root().join("benches/peers/run.py");
    ensure!(script.is_file(), "{} is missing", script.display());
    let venv = Venv::get("peers")?;
    let mut left_out = Vec::new();
    for library in LIBRARIES {
        left_out.extend(install(&venv, library));
    }
    if args.flag("--torch") {
        left_out.extend(install(&venv, "torch"));
    } else {
        left_out.push("torch: not asked for (--torch)".to_owned());
    }
    let mut command = venv.command();
    command.arg(&script).args(&args.rest).current_dir(root());
    let result = run_to_success(&mut command);
    for line in left_out {
        println!("left out: {line}");
    }
    result
}

/// Installs one library. Returns a line for the reader if that fails.
fn install(venv: &Venv, library: &str) -> Option<String> {
    let error = venv.install(&[library]).err()?;
    Some(format!("{library}: pip could not install it ({error:#})"))
}
