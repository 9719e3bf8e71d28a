//! `cargo xtask peers`: the same work in other libraries, on this machine's CPU.
//!
//! It makes a Python venv under `target/peers`, and installs each library on its own: a failure of one does not exclude
//! the others. Then it runs `benches/peers/run.py`, and names what was left out and why.
//!
//! `--sorts` builds the crate `benches/peers/sorts`, runs each of its peers in a process of its own, and writes
//! `peers-PEER.json` into `target/peers`, or into the folder of `--out`.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::drivers::{self, Env};
use crate::process::{cargo, root, run as run_to_success, target_dir};
use crate::python::Venv;

const SPEC: Spec = Spec {
    flags: &["--sorts", "--torch"],
    options: &["--driver"],
};

/// The peers of the crate `benches/peers/sorts`.
pub(crate) const SORTS: [&str; 3] = ["lampshade", "massively", "rdst"];

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
    if args.flag("--sorts") {
        let out = folder_of(&args.rest).unwrap_or_else(|| target_dir().join("peers"));
        let driver = drivers::get(args.last("--driver").unwrap_or("system"))?;
        left_out.extend(sorts(&out, &driver));
    } else {
        left_out.push(format!("{}: not asked for (--sorts)", SORTS.join(", ")));
    }
    for line in left_out {
        println!("left out: {line}");
    }
    result
}

/// The folder of `--out FILE`.
fn folder_of(rest: &[String]) -> Option<PathBuf> {
    let at = rest.iter().position(|word| word == "--out")?;
    Some(Path::new(rest.get(at + 1)?).parent()?.to_owned())
}

/// Measures the sorts of other crates. Returns a line for the reader for each that fails.
fn sorts(out: &Path, driver: &Env) -> Vec<String> {
    let manifest = root().join("benches/peers/sorts/Cargo.toml");
    let one = |peer: &&str| {
        let file = out.join(format!("peers-{peer}.json"));
        let mut command = cargo(&["run", "--release", "--locked", "--manifest-path"]);
        command
            .arg(&manifest)
            .arg("--target-dir")
            .arg(target_dir().join("peers-sorts"))
            .args(["--", peer])
            .arg(&file)
            .envs(driver.iter().map(|(name, value)| (name, value)));
        let error = fs::create_dir_all(out)
            .map_err(anyhow::Error::from)
            .and_then(|()| run_to_success(&mut command))
            .err()?;
        Some(format!("{peer}: {error:#}"))
    };
    SORTS.iter().filter_map(one).collect()
}

/// Installs one library. Returns a line for the reader if that fails.
fn install(venv: &Venv, library: &str) -> Option<String> {
    let error = venv.install(&[library]).err()?;
    Some(format!("{library}: pip could not install it ({error:#})"))
}
