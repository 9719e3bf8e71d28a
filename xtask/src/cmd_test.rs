//! `cargo xtask test`: every test of the workspace on Flex and on Cube.
//!
//! 1. A Vulkan driver is found or got ([`drivers`]).
//! 2. The test `adapter` prints which adapter that is: one line `adapter: NAME …`. Nothing else runs if it
//!    does not start: the Cube tests are never skipped silently.
//! 3. The whole workspace with its default features, then the public contract without `fusion`, where ops
//!    run one by one. Beside all that, the kernels' own tests, and where the driver is lavapipe, those on SwiftShader as well, with
//!    plane operations. Drivers compile kernels on one thread a process: two processes keep two cores busy.
//!
//! The long tier is a run of its own: the tests that have a long form, built with the feature `heavy`, and the CPU engine under valgrind,
//! again in two processes at a time.
//!
//! The tests read two variables: `BURN_SCAN_REQUIRE_CUBE=1` makes a test fail, not skip, where no adapter
//! starts; `BURN_SCAN_FORCE_PLANE=1` uses plane operations although the adapter does not advertise them.

use std::process::Command;

use crate::Result;
use crate::args::{Args, Spec};
use crate::drivers::{self, Env};
use crate::process::{Beside, Steps, cargo, root, run as run_to_success, run_reading, targets_in};
use crate::swiftshader;

const SPEC: Spec = Spec {
    flags: &["--heavy"],
    options: &["--driver"],
};

/// What else is selected is as in the other steps, so that most dependencies are built already: building `burn-scan` alone without it took
/// six minutes, this takes one. The CPU engine, by far the longest to compile, is tested here neither for its speed nor for its sizes.
const NO_FUSION: [&str; 6] = [
    "--workspace",
    "--no-default-features",
    "--features",
    "burn-scan/std,burn-scan/flex,burn-scan/wgpu,burn-scan/autodiff,cubecl-scan/std,cubecl-scan/wgpu,xtask/report",
    "--config",
    "profile.dev.package.burn-scan.opt-level=0",
];

/// The tests of the kernels, by which the package is selected: `-p cubecl-scan` would build all dependencies with other features.
const KERNEL_TESTS: [&str; 7] = [
    "scan",
    "compact",
    "cube_scan",
    "guards",
    "kernel_properties",
    "outputs",
    "segments",
];

/// The tests that have a long form: the kernels' and the tensors'.
const LONG_KERNEL_TESTS: [&str; 2] = ["kernel_properties", "scan"];
const LONG_TESTS: [&str; 1] = ["properties"];

/// The tests that run once more without fusion: every operation on every rank, and every gradient, but not every size again.
const WITHOUT_FUSION: [&str; 12] = [
    "names",
    "every_rank",
    "scan_views",
    "compact_dim",
    "compact_by_mask",
    "expand",
    "indices",
    "partition",
    "sum_scans",
    "product_scans",
    "extremum_scans",
    "stays_in_the_graph",
];

const ON_SWIFTSHADER: &str = "kernels on SwiftShader, plane operations forced";

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    if let Some(word) = args.words.first() {
        return Err(format!(
            "unexpected `{word}`; arguments for cargo test go after `--`"
        ));
    }
    let driver = args.last("--driver").unwrap_or("system");
    let is_long = args.flag("--heavy");
    let tests = Tests::new(drivers::for_tests(driver)?, is_long, &args.rest);
    let mut steps = Steps::default();
    let Some(adapter) = tests.adapter(&mut steps) else {
        eprintln!(
            "no adapter, no tests; `cargo xtask test --driver lavapipe` uses the software driver"
        );
        return steps.finish();
    };
    if is_long {
        tests.long(&mut steps);
    } else if driver == "swiftshader" {
        println!(
            "SwiftShader is about 15 times slower than lavapipe: only the kernels' own tests run on it"
        );
        let mut kernels = tests.selected(&KERNEL_TESTS, &tests.env);
        steps.step(ON_SWIFTSHADER, || run_to_success(&mut kernels));
    } else if !args.rest.is_empty() {
        println!(
            "arguments were given for cargo test: the steps without fusion and on SwiftShader are left out"
        );
        let mut workspace = tests.selected(&[], &tests.env);
        steps.step("workspace, default features", || {
            run_to_success(&mut workspace)
        });
    } else {
        tests.all(&mut steps, adapter.contains("llvmpipe"))?;
    }
    let result = steps.finish();
    println!("{adapter}");
    result
}

/// How the steps call cargo.
struct Tests<'a> {
    env: Env,
    /// One selection of packages and features for all steps that can share it: one build.
    features: String,
    /// Arguments for `cargo test`.
    rest: &'a [String],
}

impl<'a> Tests<'a> {
    fn new(env: Env, is_long: bool, rest: &'a [String]) -> Self {
        let heavy = if is_long { ",heavy" } else { "" };
        Self {
            env,
            features: format!("cubecl-scan/wgpu,remote,xtask/report{heavy}"),
            rest,
        }
    }

    fn workspace(&self, env: &Env) -> Command {
        cargo_test(&["--workspace", "--features", &self.features], env)
    }

    /// The tests of these names, or all; what fails does not keep the others from running.
    fn selected(&self, names: &[&str], env: &Env) -> Command {
        let mut command = self.workspace(env);
        command.arg("--no-fail-fast");
        command.args(names.iter().flat_map(|name| ["--test", name]));
        command.args(self.rest);
        command
    }

    /// The line that names the adapter, if it starts.
    fn adapter(&self, steps: &mut Steps) -> Option<String> {
        let mut adapter = None;
        let started = steps.step("adapter", || {
            let mut command = self.workspace(&self.env);
            command.args(["--test", "adapter", "--", "--nocapture"]);
            run_reading(&mut command, true, |line| {
                adapter = adapter.take().or(adapter_of(line))
            })?;
            adapter
                .is_some()
                .then_some(())
                .ok_or_else(|| "the test `adapter` printed no adapter".to_owned())
        });
        adapter.filter(|_| started)
    }

    /// The long tier. By its parts, the tensors' laws take somewhat longer than what runs beside them.
    fn long(&self, steps: &mut Steps) {
        let kernels = self.selected(&LONG_KERNEL_TESTS, &self.env);
        let beside = Beside::start(vec![
            ("kernels, long form", Ok(kernels)),
            (
                "CPU engine under valgrind",
                Ok(cargo(&["xtask", "memcheck"])),
            ),
        ]);
        steps.step("tensors' laws, long form", || {
            run_to_success(&mut self.selected(&LONG_TESTS, &self.env))
        });
        steps.join(beside);
    }

    /// The normal tier.
    fn all(&self, steps: &mut Steps, is_lavapipe: bool) -> Result<()> {
        let mut kernels = vec![("kernels", Ok(self.selected(&KERNEL_TESTS, &self.env)))];
        if is_lavapipe && swiftshader::is_offered() {
            let env = drivers::for_tests("swiftshader");
            let command = env.map(|env| self.selected(&KERNEL_TESTS, &env));
            kernels.push((ON_SWIFTSHADER, command));
        } else {
            println!(
                "SwiftShader is left out: it follows lavapipe, where Debian's package chromium-common is offered"
            );
        }
        let others = others_than_kernels()?;
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        let kernels = Beside::start(kernels);
        steps.step("everything else", || {
            run_to_success(self.selected(&others, &self.env).args(["--lib", "--bins"]))
        });
        steps.step("examples in the documentation", || {
            run_to_success(self.workspace(&self.env).arg("--doc"))
        });
        steps.step("contract, without fusion", || {
            let mut command = cargo_test(&NO_FUSION, &self.env);
            command.args(["--test", "contract", "--test", "gradients", "--"]);
            run_to_success(command.args(WITHOUT_FUSION))
        });
        steps.join(kernels);
        Ok(())
    }
}

/// The tests of the workspace that are not [`KERNEL_TESTS`]. Of those in `kernels/tests/recorded`, which are named in a manifest, `cuda` is
/// for `cargo xtask gpu-code`.
fn others_than_kernels() -> Result<Vec<String>> {
    let mut names = vec!["webgpu".to_owned()];
    for folder in ["tests", "kernels/tests", "protocol/tests", "xtask/tests"] {
        names.extend(targets_in(&root().join(folder))?);
    }
    names.retain(|name| !KERNEL_TESTS.contains(&name.as_str()));
    Ok(names)
}

fn cargo_test(line: &[&str], env: &Env) -> Command {
    let mut command = cargo(&["test"]);
    command
        .args(line)
        // Kernels compile five times as slowly where `RUST_BACKTRACE=1` has each of their errors trace its origin; panics still do.
        .env("RUST_LIB_BACKTRACE", "0")
        .envs(env.iter().map(|(name, value)| (name, value)));
    command
}

/// The adapter's line in what the test prints; the harness may have put the test's name before it.
fn adapter_of(line: &str) -> Option<String> {
    line.find("adapter: ").map(|at| line[at..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_selected() {
        let names = targets_in(&root().join("kernels/tests")).unwrap();
        for name in KERNEL_TESTS {
            assert!(names.iter().any(|found| found == name), "{name}");
        }
        let others = others_than_kernels().unwrap();
        for name in ["webgpu", "contract", "laziness", "documents", "protocol"] {
            assert!(others.iter().any(|found| found == name), "{name}");
        }
    }

    #[test]
    fn the_adapter_is_found_in_the_output() {
        let line = "adapter: llvmpipe (Vulkan, driver 22.3), plane size 8";
        assert_eq!(adapter_of(line).as_deref(), Some(line));
        let after_name = format!("test the_adapter ... {line}");
        assert_eq!(adapter_of(&after_name).as_deref(), Some(line));
        assert_eq!(adapter_of("test adapter::starts ... ok"), None);
    }
}
