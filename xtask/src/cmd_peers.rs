//! `cargo xtask peers`: the same work in other libraries, on this machine's CPU.
//!
//! Makes a Python venv under `target/peers`, installs each library on its own (so that one that cannot be
//! had does not take the others along), runs `benches/peers/run.py`, and names what was left out and why.

use crate::Result;
use crate::args::{Args, Spec};
use crate::process::{root, run as run_to_success};
use crate::python::Venv;

const LIBRARIES: [&str; 4] = ["numpy", "scipy", "jax", "polars"];

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
    let result = run_to_success(
        venv.command()
            .arg(&script)
            .args(&args.rest)
            .current_dir(root()),
    );
    for line in left_out {
        println!("left out: {line}");
    }
    result
}

/// Installs one library; a line for the reader if that fails.
fn install(venv: &Venv, library: &str) -> Option<String> {
    venv.install(&[library])
        .err()
        .map(|error| format!("{library}: pip could not install it ({error})"))
}
