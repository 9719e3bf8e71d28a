//! `cargo xtask mutants`: cargo-mutants on the code that plans on the host. A test must notice each mistake there.
//!
//! `cargo xtask faults` covers the kernels, with mistakes that a person chose. The whole suite takes minutes for one
//! mutant, so each part of the code is tried against the tests that are meant to cover it. The mutants go into a
//! [`copy`](crate::copy) of the tree, and the CPU engine is a crate of its own there. The command prints the survivors,
//! and `docs/testing.md` explains the known ones.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use fs_err as fs;

use crate::Result;
use crate::args::{Args, Spec};
use crate::copy::{Copy, copy_engine, copy_sources};
use crate::drivers;
use crate::process::{
    cargo, in_path, run as run_to_success, runner_variable, status_of, target_dir,
};

const SPEC: Spec = Spec {
    flags: &["--list"],
    options: &["--driver"],
};

/// Host code, and the tests that cover it.
struct Part {
    name: &'static str,
    copy: fn() -> Result<Copy>,
    files: &'static [&'static str],
    /// The package and its features.
    package: &'static [&'static str],
    /// The tests, as arguments of cargo.
    tests: &'static [&'static str],
    /// The tests that do not run: those of what happens inside kernels, and the longest.
    skip: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
}

/// Unoptimised, the tensor crate builds in seconds.
const UNOPTIMISED: &str = "--cargo-arg=--config=profile.dev.package.burn-scan.opt-level=0";

const PARTS: [Part; 4] = [
    Part {
        name: "kernels",
        copy: copy_sources,
        files: &[
            "kernels/src/scan/problem.rs",
            "kernels/src/scan/strategy.rs",
            "kernels/src/scan/tuning.rs",
            "kernels/src/scan/launch.rs",
            "kernels/src/scan/call.rs",
            "kernels/src/scan/tensors.rs",
            "kernels/src/scan/split.rs",
            "kernels/src/scan/scratch.rs",
            "kernels/src/scan/scratch_cache.rs",
            "kernels/src/compact/plan.rs",
        ],
        package: &["--package", "cubecl-scan", "--features", "wgpu"],
        tests: &[
            "--lib",
            "--test=scan",
            "--test=compact",
            "--test=guards",
            "--test=outputs",
        ],
        skip: &[
            "bits::",
            "determinism::",
            "every_density",
            "fallback::",
            "golden::",
            "many_columns_longer_than_any_loop",
            "stalled_tiles",
            "one_long_row",
            "tiles_that_never_publish",
        ],
        env: &[],
    },
    Part {
        name: "checks",
        copy: copy_sources,
        files: &["src/check.rs"],
        package: &[
            "--package",
            "burn-scan",
            "--features=flex,wgpu,fusion,autodiff",
            UNOPTIMISED,
        ],
        tests: &["--lib", "--test=bad_input", "--test=narrow_ints"],
        // The part `engine` has these.
        skip: &["cpu::"],
        env: &[],
    },
    Part {
        name: "fusion",
        copy: copy_sources,
        files: &[
            "src/fusion/pattern.rs",
            "src/fusion/plan.rs",
            "src/fusion/mirror.rs",
            "src/fusion/hold.rs",
            "src/fusion/fuser.rs",
        ],
        // None of these tests needs Flex.
        package: &[
            "--package",
            "burn-scan",
            "--no-default-features",
            "--features=std,wgpu,fusion,autodiff",
            UNOPTIMISED,
        ],
        tests: &[
            "--lib",
            "--test=fusion_patterns",
            "--test=fusion_plan_hooked",
            "--test=fusion_kernels",
            "--test=fusion_load_store",
        ],
        skip: &[],
        env: &[],
    },
    Part {
        name: "engine",
        copy: copy_engine,
        files: &["src/cpu/**/*.rs"],
        package: &["--package", "engine"],
        tests: &["--lib"],
        skip: &[],
        // Unoptimised, it builds in seconds but runs slowly. So the tests leave out the largest inputs, as under
        // valgrind.
        env: &[
            ("BURN_SCAN_MEMCHECK", "1"),
            ("CARGO_PROFILE_DEV_OPT_LEVEL", "0"),
        ],
    },
];

/// The first test that fails catches a mutant, and the others need not run. The harness calls its `--fail-fast`
/// unstable and asks for this variable at run time. The compiler does not see it.
const FAIL_FAST_IS_ALLOWED: &str = "env RUSTC_BOOTSTRAP=1";

/// After this time a mutant counts as one that loops forever.
const TIMEOUT_SECONDS: &str = "150";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    let parts = chosen(&args.words)?;
    if !in_path("cargo-mutants") {
        eprintln!("cargo-mutants is missing: installing it from crates.io");
        run_to_success(&mut cargo(&["install", "--locked", "cargo-mutants"]))?;
    }
    if args.flag("--list") {
        return parts.iter().try_for_each(|part| {
            let mut command = command(part, &(part.copy)()?);
            run_to_success(command.arg("--list"))
        });
    }
    let mut env = drivers::get(args.last("--driver").unwrap_or("system"))?;
    env.push(("BURN_SCAN_REQUIRE_CUBE", "1".into()));
    let mut lines = Vec::new();
    for part in parts {
        let folder = target_dir().join("mutants").join(part.name);
        fs::create_dir_all(&folder)?;
        let mut command = command(part, &(part.copy)()?);
        command
            .args(["--timeout", TIMEOUT_SECONDS, "--output"])
            .arg(&folder)
            .args(&args.rest)
            .args(["--", "--", "-Zunstable-options", "--fail-fast"])
            .args(part.skip.iter().flat_map(|name| ["--skip", name]))
            .env(runner_variable()?, FAIL_FAST_IS_ALLOWED)
            .envs(part.env.iter().copied())
            .envs(env.iter().map(|(name, value)| (name, value)));
        // 2: the tests missed some. 3: some did not end. Both are results.
        let status = status_of(&mut command)?;
        let is_result = matches!(status.code(), Some(0 | 2 | 3));
        ensure!(is_result, "cargo-mutants ended with {status}");
        lines.push(summary(part.name, &folder.join("mutants.out"))?);
    }
    println!("\n{}", lines.join("\n"));
    Ok(())
}

/// The parts with these names, or all.
fn chosen(names: &[String]) -> Result<Vec<&'static Part>> {
    if names.is_empty() {
        return Ok(PARTS.iter().collect());
    }
    let find = |name: &String| {
        let known = PARTS.map(|part| part.name).join(" ");
        let part = PARTS.iter().find(|part| part.name == *name);
        part.with_context(|| format!("no part `{name}`; there are: {known}"))
    };
    names.iter().map(find).collect()
}

fn command(part: &Part, copy: &Copy) -> Command {
    let mut command = cargo(&[
        "mutants",
        "--in-place",
        "--no-shuffle",
        "--test-workspace=false",
    ]);
    command
        .args(part.package)
        .args(part.files.iter().flat_map(|file| ["--file", file]))
        // As arguments of cargo, because the build does not see what follows `--` and would build every test and
        // example.
        .args(part.tests.iter().map(|test| format!("--cargo-arg={test}")))
        .env("CARGO_TARGET_DIR", &copy.target)
        // A mutant changes one line of a crate, and nobody reads its backtrace.
        .env("CARGO_INCREMENTAL", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("RUST_BACKTRACE", "0")
        .current_dir(&copy.tree);
    command
}

/// A line of counts, and one for each survivor.
fn summary(name: &str, folder: &Path) -> Result<String> {
    let read = |file: &str| -> Result<Vec<String>> {
        let text = fs::read_to_string(folder.join(file))?;
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
        assert_eq!(chosen(&["engine".to_owned()]).unwrap()[0].name, "engine");
        let error = chosen(&["gpu".to_owned()]).err().unwrap().to_string();
        assert!(error.contains("there are: kernels"));
    }

    /// cargo-mutants would pass over a file that moved, and say nothing.
    #[test]
    fn the_files_exist() {
        for file in PARTS.iter().flat_map(|part| part.files) {
            let path = file.split_once("/**").map_or(*file, |(folder, _)| folder);
            assert!(root().join(path).exists(), "{file}");
        }
    }
}
