//! `cargo xtask test`: every test of the workspace on Flex and on Cube.
//!
//! 1. [`drivers`] finds or gets a Vulkan driver: that of a GPU, else SwiftShader, else lavapipe.
//! 2. The test `adapter` prints its adapter in one line `adapter: NAME …`. If the adapter does not start, nothing else
//!    runs. So no Cube test is left out without a word.
//! 3. The whole workspace with its default features, in two lists of steps; the list that ends sooner takes steps of the
//!    other. In the background: the kernels' own tests, on SwiftShader with plane operations; what works in another way
//!    without them, on SwiftShader as it is; what depends on the driver's memory and schedule, on lavapipe; the examples
//!    of the documentation. Drivers compile kernels on one thread of a process, and two processes keep two cores busy.
//!
//! `--rest` runs the rest: the protocol, and the public contract without the feature `fusion`, where operations run one
//! by one.
//!
//! The long tier is a run of its own: the tests that have a long form, built with the feature `heavy`, and the CPU
//! engine under valgrind, again in two processes.
//!
//! The tests read three variables. `BURN_SCAN_REQUIRE_CUBE=1` makes a test fail, not skip, if no adapter starts.
//! `BURN_SCAN_FORCE_PLANE=1` uses plane operations although the adapter does not advertise them.
//! `BURN_SCAN_ROWS_ONLY=1` leaves scans of columns out.

use std::process::Command;

use anyhow::ensure;
use serde_json::Value;

use crate::Result;
use crate::args::{Args, Spec};
use crate::drivers::{self, Env};
use crate::metadata::{packages, targets};
use crate::process::{cargo, root, run as run_to_success, run_reading};
use crate::steps::{Background, Steps};

const SPEC: Spec = Spec {
    flags: &["--heavy", "--rest"],
    options: &["--driver"],
};

/// The contract without fusion, on the Cube device: Flex never fuses. The rest of the selection is that of the other
/// steps, so most dependencies are built already. The CPU engine takes longest to compile, and these are not its tests, so
/// it stays unoptimised.
const NO_FUSION: [&str; 8] = [
    "--workspace",
    // The examples are built with fusion.
    "--exclude",
    "burn-scan-examples",
    "--no-default-features",
    "--features",
    "burn-scan/std,burn-scan/flex,burn-scan/wgpu,burn-scan/autodiff,cubecl-scan/default,cubecl-scan/wgpu,xtask/shared-dependencies",
    "--config",
    "profile.dev.package.burn-scan.opt-level=0",
];

/// The tests of the kernels. Their names select the package, because `-p cubecl-scan` would build all dependencies with
/// other features.
const KERNEL_TESTS: [&str; 8] = [
    "scan",
    "compact",
    "cube_scan",
    "guards",
    "kernel_properties",
    "outputs",
    "segments",
    "sort",
];

/// Those whose routines have a form of their own without plane operations. Columns have the same kernels, and compiling
/// these takes half of the time of `scan`.
const PLANELESS_TESTS: [&str; 5] = ["scan", "compact", "cube_scan", "sort", "kernel_properties"];
const ROWS_ONLY: &str = "BURN_SCAN_ROWS_ONLY";

/// Those that another driver may answer otherwise: what is read and written outside, and tiles that wait for others.
/// lavapipe takes several times as long as SwiftShader to compile a kernel, and does not run all.
const LAVAPIPE_TESTS: [&str; 3] = ["guards", "outputs", "segments"];
/// Those of `scan`. lavapipe runs them without plane operations, so SwiftShader does only with.
const WAITING_TILES: [&str; 2] = ["fallback::", "determinism::"];

/// Steps of their own among the tests of the tensors, so that they run in whichever list of steps ends sooner.
const ON_EITHER_LIST: [&str; 5] = ["gradients", "properties", "remote", "sharded", "webgpu"];

/// Names the adapter, and runs first.
const ADAPTER: &str = "adapter";

/// The model checker, which needs no driver.
const PROTOCOL: &str = "protocol";

/// The tests that have a long form: the kernels' and the tensors'.
const LONG_KERNEL_TESTS: [&str; 3] = ["kernel_properties", "scan", "compact"];
const LONG_TESTS: [&str; 3] = ["properties", "concurrency", "contract"];

/// The tests that run once more without fusion: every operation on every rank and every gradient, but not every size.
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

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    args.no_words("; arguments for cargo test go after `--`")?;
    let is_long = args.flag("--heavy");
    let driver = match args.last("--driver") {
        Some(driver) => driver,
        None if is_long => "system",
        None => drivers::soonest(),
    };
    let tests = Tests::new(drivers::for_tests(driver)?, is_long, &args.rest);
    let mut steps = Steps::default();
    if args.flag("--rest") {
        let protocol = tests.selected(&[PROTOCOL], &tests.env);
        let background = Background::start(vec![("protocol", Ok(protocol))]);
        steps.step("contract, without fusion", || tests.without_fusion());
        steps.join(background);
        return steps.finish();
    }
    let Some(adapter) = tests.adapter(&mut steps) else {
        eprintln!(
            "no adapter, no tests; `cargo xtask test --driver lavapipe` uses Mesa's software driver"
        );
        return steps.finish();
    };
    if is_long {
        tests.long(&mut steps);
    } else if !args.rest.is_empty() {
        println!("arguments were given for cargo test: they go to all tests, on one driver");
        let mut workspace = tests.selected(&[], &tests.env);
        steps.step("workspace, default features", || {
            run_to_success(&mut workspace)
        });
    } else {
        tests.all(&mut steps, driver)?;
    }
    let result = steps.finish();
    println!("{adapter}");
    result
}

/// How the steps call cargo.
struct Tests<'a> {
    env: Env,
    /// All steps that can share these do, so cargo builds once.
    features: String,
    /// Arguments for `cargo test`.
    rest: &'a [String],
}

impl<'a> Tests<'a> {
    fn new(env: Env, is_long: bool, rest: &'a [String]) -> Self {
        let heavy = if is_long { ",heavy" } else { "" };
        Self {
            env,
            features: format!("cubecl-scan/wgpu,remote,xtask/shared-dependencies{heavy}"),
            rest,
        }
    }

    fn workspace(&self, env: &Env) -> Command {
        cargo_test(&["--workspace", "--features", &self.features], env)
    }

    /// The tests of these names, or all. After a failure the others still run.
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
            command.args(["--test", ADAPTER, "--", "--nocapture"]);
            run_reading(&mut command, true, |line| {
                adapter = adapter.take().or(adapter_of(line))
            })?;
            ensure!(adapter.is_some(), "the test `adapter` printed no adapter");
            Ok(())
        });
        adapter.filter(|_| started)
    }

    /// The long tier. The tensors' laws take somewhat longer than the steps in parallel.
    fn long(&self, steps: &mut Steps) {
        let kernels = self.selected(&LONG_KERNEL_TESTS, &self.env);
        let background = Background::start(vec![
            ("kernels, long form", Ok(kernels)),
            (
                "CPU engine under valgrind",
                Ok(cargo(&["xtask", "memcheck"])),
            ),
        ]);
        steps.step("tensors, long form", || {
            run_to_success(&mut self.selected(&LONG_TESTS, &self.env))
        });
        steps.join(background);
    }

    /// The normal tier: two lists of steps. What ends sooner takes steps of the other.
    fn all(&self, steps: &mut Steps, driver: &str) -> Result<()> {
        let mut background = self.kernels(driver);
        let workspace = |kind: &[&str]| {
            let mut command = self.workspace(&self.env);
            command.args(kind);
            Ok(command)
        };
        background.extend([
            (
                "what runs on a GPU notices planted faults",
                workspace(&["--bench", "gpu_check"]),
            ),
            ("examples in the documentation", workspace(&["--doc"])),
        ]);
        background.extend(ON_EITHER_LIST.map(|name| (name, Ok(self.selected(&[name], &self.env)))));
        let background = Background::start(background);
        let others = others_than_kernels()?;
        let others = others.iter().map(String::as_str);
        let others: Vec<&str> = others
            .filter(|name| !ON_EITHER_LIST.contains(name))
            .collect();
        steps.step("everything else", || {
            run_to_success(self.selected(&others, &self.env).args(["--lib", "--bins"]))
        });
        steps.join(background);
        Ok(())
    }

    /// The kernels' own tests, on each driver that has something to say about them.
    fn kernels(&self, driver: &str) -> Vec<(&'static str, Result<Command>)> {
        if driver != "swiftshader" {
            println!("the kernels' own tests run on this driver alone, not on SwiftShader");
            return vec![("kernels", Ok(self.selected(&KERNEL_TESTS, &self.env)))];
        }
        let with_planes = drivers::for_kernels(driver);
        let lavapipe = || drivers::for_tests("lavapipe");
        let waiting = |env: Env| {
            let mut command = self.selected(&["scan"], &env);
            command.arg("--").args(WAITING_TILES);
            command
        };
        let mut planeless = self.selected(&PLANELESS_TESTS, &self.env);
        planeless.env(ROWS_ONLY, "1").arg("--");
        planeless.args(WAITING_TILES.iter().flat_map(|name| ["--skip", name]));
        vec![
            (
                "kernels, with plane operations",
                with_planes.map(|env| self.selected(&KERNEL_TESTS, &env)),
            ),
            ("kernels, without them", Ok(planeless)),
            (
                "kernels on lavapipe",
                lavapipe().map(|env| self.selected(&LAVAPIPE_TESTS, &env)),
            ),
            ("waiting tiles on lavapipe", lavapipe().map(waiting)),
        ]
    }

    fn without_fusion(&self) -> Result<()> {
        let mut command = cargo_test(&NO_FUSION, &self.env);
        command.args(["--test", "contract", "--test", "gradients", "--"]);
        command.args(WITHOUT_FUSION);
        run_to_success(command.args(["--skip", "::flex"]))
    }
}

/// The tests of the workspace that are neither [`KERNEL_TESTS`], nor [`PROTOCOL`], nor [`ADAPTER`]. `cargo xtask gpu-code`
/// runs those that need `cuda-source`, and `cargo xtask test-web` those that need `browser`.
fn others_than_kernels() -> Result<Vec<String>> {
    let of_others = ["cuda-source", "browser"];
    let runs = |required: &[Value]| {
        !required
            .iter()
            .any(|feature| of_others.iter().any(|of| feature == of))
    };
    let mut names = targets(&packages(&root())?, "test", runs);
    names.retain(|name| {
        ![PROTOCOL, ADAPTER].contains(&name.as_str()) && !KERNEL_TESTS.contains(&name.as_str())
    });
    Ok(names)
}

/// `cargo test LINE` with the variables of a driver.
pub(crate) fn cargo_test(line: &[&str], env: &Env) -> Command {
    let mut command = cargo(&["test"]);
    command
        .args(line)
        // With `RUST_BACKTRACE=1` each error in a kernel traces its origin, and kernels compile five times as slowly.
        // Panics still have a trace.
        .env("RUST_LIB_BACKTRACE", "0")
        .envs(env.iter().map(|(name, value)| (name, value)));
    command
}

/// The adapter's line in the output of the test. The harness may have put the test's name before it.
fn adapter_of(line: &str) -> Option<String> {
    line.find("adapter: ").map(|at| line[at..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_selected() {
        let all = targets(&packages(&root()).unwrap(), "test", |_| true);
        let named = KERNEL_TESTS.into_iter().chain(ON_EITHER_LIST);
        for name in named.chain([PROTOCOL]) {
            assert!(all.iter().any(|found| found == name), "{name}");
        }
        let others = others_than_kernels().unwrap();
        for name in ["webgpu", "contract", "laziness", "documents"] {
            assert!(others.iter().any(|found| found == name), "{name}");
        }
        for name in ["cuda", "scan", "protocol", "browser"] {
            assert!(!others.iter().any(|found| found == name), "{name}");
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
