//! `cargo xtask mutants`: cargo-mutants on the code that plans on the host, whose mistakes a test must notice.
//!
//! Kernels are left out: what runs on a device is mutated by hand instead, see `cargo xtask faults`. Each part of the code
//! is tried against the tests that are meant to hold it, since the whole suite takes minutes a mutant. The changes are made in a
//! [`copy`](crate::copy) of the tree. Survivors are printed; `docs/testing.md` explains the known ones.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::args::{Args, Spec};
use crate::copy::{Copy, copy_sources};
use crate::drivers;
use crate::process::{cargo, in_path, run as run_to_success, status_of, target_dir};

const SPEC: Spec = Spec {
    flags: &["--list"],
    options: &["--driver"],
};

/// Host-side code and the tests that hold it.
struct Part {
    name: &'static str,
    package: &'static str,
    files: &'static [&'static str],
    /// Arguments of `cargo test`.
    tests: &'static [&'static str],
}

const PARTS: [Part; 4] = [
    Part {
        name: "kernels",
        package: "cubecl-scan",
        files: &[
            "kernels/src/scan/problem.rs",
            "kernels/src/scan/strategy.rs",
            "kernels/src/scan/tuning.rs",
            "kernels/src/scan/launch.rs",
        ],
        tests: &["--lib", "--test", "scan"],
    },
    Part {
        name: "checks",
        package: "burn-scan",
        files: &["src/check.rs"],
        tests: &["--lib", "--test", "bad_input", "--test", "contract"],
    },
    Part {
        name: "fusion",
        package: "burn-scan",
        files: &[
            "src/fusion/pattern.rs",
            "src/fusion/plan.rs",
            "src/fusion/mirror.rs",
            "src/fusion/hold.rs",
        ],
        tests: &[
            "--lib",
            "--test",
            "fusion_patterns",
            "--test",
            "fusion_plan_hooked",
            "--test",
            "fusion_backward_kernels",
        ],
    },
    Part {
        name: "cpu",
        package: "burn-scan",
        files: &[
            "src/cpu/mod.rs",
            "src/cpu/buffer.rs",
            "src/cpu/partition.rs",
        ],
        tests: &["--lib"],
    },
];

/// A mutant that loops for ever is killed after this.
const TIMEOUT_SECONDS: &str = "300";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    let parts = chosen(&args.words)?;
    if !in_path("cargo-mutants") {
        eprintln!("cargo-mutants is missing: installing it from crates.io");
        run_to_success(&mut cargo(&["install", "--locked", "cargo-mutants"]))?;
    }
    let copy = copy_sources()?;
    if args.flag("--list") {
        return parts
            .iter()
            .try_for_each(|part| run_to_success(command(part, &copy).arg("--list")));
    }
    let mut env = drivers::get(args.last("--driver").unwrap_or("system"))?;
    env.push(("BURN_SCAN_REQUIRE_CUBE", "1".into()));
    let mut lines = Vec::new();
    for part in parts {
        let folder = target_dir().join("mutants").join(part.name);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut command = command(part, &copy);
        command
            .args(["--timeout", TIMEOUT_SECONDS, "--output"])
            .arg(&folder)
            .args(&args.rest)
            .arg("--")
            .args(part.tests)
            .envs(env.iter().map(|(name, value)| (name, value)));
        // 2: some were missed; 3: some did not end. Both are results.
        let status = status_of(&mut command)?;
        if !matches!(status.code(), Some(0 | 2 | 3)) {
            return Err(format!("cargo-mutants ended with {status}"));
        }
        lines.push(summary(part.name, &folder.join("mutants.out"))?);
    }
    println!("\n{}", lines.join("\n"));
    Ok(())
}

/// The parts of those names, or all.
fn chosen(names: &[String]) -> Result<Vec<&'static Part>> {
    if names.is_empty() {
        return Ok(PARTS.iter().collect());
    }
    let find = |name: &String| {
        let known = PARTS.map(|part| part.name).join(" ");
        let part = PARTS.iter().find(|part| part.name == *name);
        part.ok_or_else(|| format!("no part `{name}`; there are: {known}"))
    };
    names.iter().map(find).collect()
}

fn command(part: &Part, copy: &Copy) -> Command {
    let mut command = cargo(&["mutants", "--in-place", "--no-shuffle"]);
    command
        .args(["--package", part.package, "--test-workspace=true"])
        .args(["--features", "cubecl-scan/wgpu"])
        .args(part.files.iter().flat_map(|file| ["--file", file]))
        .env("CARGO_TARGET_DIR", &copy.target)
        .current_dir(&copy.tree);
    command
}

/// One line of counts, and one for each survivor.
fn summary(name: &str, folder: &Path) -> Result<String> {
    let read = |file: &str| -> Result<Vec<String>> {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    let [caught, missed, endless, unviable] =
        ["caught.txt", "missed.txt", "timeout.txt", "unviable.txt"].map(read);
    let missed = missed?;
    let mut text = format!(
        "{name}: {} caught, {} survived, {} stopped after {TIMEOUT_SECONDS} s, {} did not compile",
        caught?.len(),
        missed.len(),
        endless?.len(),
        unviable?.len()
    );
    for mutant in &missed {
        text.push_str("\n  survived: ");
        text.push_str(mutant);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::root;

    #[test]
    fn parts_are_chosen_by_name() {
        assert_eq!(chosen(&[]).unwrap().len(), PARTS.len());
        assert_eq!(chosen(&["cpu".to_owned()]).unwrap()[0].package, "burn-scan");
        assert!(
            chosen(&["gpu".to_owned()])
                .err()
                .unwrap()
                .contains("there are: kernels")
        );
    }

    /// A file that moved would silently be left out.
    #[test]
    fn the_files_exist() {
        for file in PARTS.iter().flat_map(|part| part.files) {
            assert!(root().join(file).is_file(), "{file}");
        }
    }
}
