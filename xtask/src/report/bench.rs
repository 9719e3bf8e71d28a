//! Runs the benches under a progress bar, and keeps what they say beside their figures.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use fs_err as fs;
use indicatif::{ProgressBar, ProgressStyle};

use super::record::Facts;
use crate::Result;
use crate::bundle_files::{Binary, binary_of};
use crate::copy::Copy;
use crate::drivers::Env;
use crate::metadata::{packages, targets};
use crate::process::{cargo, lines, root, run_reading, target_dir};

/// The built benches of a tree, and the driver that they run on.
pub(crate) struct Benches {
    tree: PathBuf,
    env: Env,
    binaries: Vec<Binary>,
}

impl Benches {
    /// Builds the benches of the workspace. `cargo_args` are arguments such as `--features cuda`.
    pub(crate) fn build(env: &Env, cargo_args: &[String]) -> Result<Self> {
        let workspace = Copy {
            tree: root(),
            target: target_dir(),
        };
        Self::build_in(&workspace, env, cargo_args)
    }

    /// Builds the benches of another tree, in a target folder of its own.
    pub(crate) fn build_in(tree: &Copy, env: &Env, cargo_args: &[String]) -> Result<Self> {
        let mut command = cargo(&["bench", "--package", "burn-scan", "--no-run"]);
        command.args(["--features", "flex,wgpu,fusion,autodiff"]);
        command.arg("--message-format=json-render-diagnostics");
        for name in names(&tree.tree)? {
            command.args(["--bench", &name]);
        }
        command.args(cargo_args).current_dir(&tree.tree);
        command.env("CARGO_TARGET_DIR", &tree.target);
        let mut binaries = Vec::new();
        run_reading(&mut command, false, |line| {
            binaries.extend(binary_of(line, &tree.tree));
        })?;
        binaries.sort_by(|a, b| a.name.cmp(&b.name));
        let mut env = env.clone();
        env.push(("BURN_SCAN_REQUIRE_CUBE", "1".into()));
        Ok(Self {
            tree: tree.tree.clone(),
            env,
            binaries,
        })
    }

    /// Measures the cases that `filter` matches, with criterion's `settings`, into a fresh folder. Words of the benches
    /// become facts: `adapter`, and `wrong` for wrong answers.
    pub(crate) fn run(&self, filter: &str, settings: &[&str], folder: &Path) -> Result<Facts> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut chosen = Vec::new();
        for binary in &self.binaries {
            let count = self.count(binary, filter)?;
            chosen.extend((count > 0).then_some((binary, count)));
        }
        ensure!(!chosen.is_empty(), "no bench matches `{filter}`");
        let bar = bar(chosen.iter().map(|(_, count)| count).sum());
        let mut facts = Facts::default();
        for (binary, _) in chosen {
            let mut command = self.command(binary, &[filter]);
            command.args(settings).env("CRITERION_HOME", folder);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            watch(&mut command, &bar, &mut facts)?;
        }
        bar.finish_and_clear();
        Ok(facts)
    }

    /// How many cases of a bench the `filter` matches.
    fn count(&self, binary: &Binary, filter: &str) -> Result<u64> {
        let mut list = self.command(binary, &["--list", filter]);
        let list = list.stderr(Stdio::null()).output();
        let list = list.with_context(|| format!("cannot list {}", binary.name))?;
        ensure!(list.status.success(), "{} does not start", binary.name);
        let lines = String::from_utf8_lossy(&list.stdout);
        let cases = lines.lines().filter(|line| line.ends_with(": benchmark"));
        Ok(cases.count() as u64)
    }

    /// The command that `cargo bench` would run.
    fn command(&self, binary: &Binary, args: &[&str]) -> Command {
        let mut command = Command::new(&binary.path);
        command.arg("--bench").args(args).current_dir(&self.tree);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The names of the benches in a tree.
fn names(tree: &Path) -> Result<Vec<String>> {
    let mut packages = packages(tree)?;
    packages.retain(|package| package["name"] == "burn-scan");
    Ok(targets(&packages, "bench", |_| true))
}

fn bar(count: u64) -> ProgressBar {
    let style = "{pos}/{len} [{bar:32}] {elapsed_precise}, {eta} left: {msg}";
    let style = ProgressStyle::with_template(style).expect("the template is valid");
    let bar = ProgressBar::new(count).with_style(style.progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

/// Runs a bench. Criterion names a case on standard error when it begins, and prints its time on standard output when
/// it ends. Everything else on standard error is shown.
fn watch(command: &mut Command, bar: &ProgressBar, facts: &mut Facts) -> Result<()> {
    let mut child = command.spawn().context("cannot start a bench")?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let stderr = child.stderr.take().expect("stderr is piped");
    let ended = bar.clone();
    let times = thread::spawn(move || {
        let times = lines(stdout).filter(|line| line.contains(" time:   ["));
        times.for_each(|_| ended.inc(1));
    });
    for line in lines(stderr) {
        match Said::of(&line) {
            // Without a terminal each case has a line.
            Said::Begins(case) if bar.is_hidden() => {
                let count = bar.length().unwrap_or_default();
                eprintln!("{}/{count} {case}", bar.position() + 1);
            }
            Said::Begins(case) => bar.set_message(case.to_owned()),
            Said::Nothing => {}
            Said::Adapter(adapter) if facts.get("adapter") == Some(adapter) => {}
            said => {
                bar.suspend(|| eprintln!("{line}"));
                match said {
                    Said::Adapter(adapter) => facts.push("adapter", adapter),
                    Said::Wrong(id) => facts.push("wrong", id),
                    _ => {}
                }
            }
        }
    }
    times.join().expect("reading the times does not panic");
    let status = child.wait()?;
    ensure!(status.success(), "a bench ended with {status}");
    Ok(())
}

/// The meaning of a line of a bench's standard error.
#[derive(Debug, PartialEq)]
enum Said<'a> {
    Begins(&'a str),
    Adapter(&'a str),
    Wrong(&'a str),
    Other,
    Nothing,
}

impl<'a> Said<'a> {
    fn of(line: &'a str) -> Self {
        if let Some(case) = line.strip_prefix("Benchmarking ") {
            if case.contains(": ") {
                Self::Nothing
            } else {
                Self::Begins(case)
            }
        } else if let Some(adapter) = line.strip_prefix("cube: ") {
            Self::Adapter(adapter)
        } else if let Some(wrong) = line.strip_prefix("WRONG ANSWER of ") {
            Self::Wrong(wrong.split(',').next().unwrap_or(wrong))
        } else if line.trim().is_empty()
            || line.starts_with("Warning: Unable to complete")
            || line.starts_with("error: XDG_RUNTIME_DIR")
        {
            Self::Nothing
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_bench_says_is_understood() {
        let wrong =
            "WRONG ANSWER of cumsum/flex/f16/1x4/dim1/burn, measured all the same: element 3";
        for (line, said) in [
            ("Benchmarking a/b", Said::Begins("a/b")),
            ("Benchmarking a/b: Warming up for 300.00 ms", Said::Nothing),
            (
                "cube: llvmpipe (Vulkan)",
                Said::Adapter("llvmpipe (Vulkan)"),
            ),
            (wrong, Said::Wrong("cumsum/flex/f16/1x4/dim1/burn")),
            ("Unsupported: cube does not compute with F16", Said::Other),
            (
                "Warning: Unable to complete 10 samples in 1.0s.",
                Said::Nothing,
            ),
            // A software driver says this where there is no desktop.
            (
                "error: XDG_RUNTIME_DIR is invalid or not set in the environment.",
                Said::Nothing,
            ),
            ("", Said::Nothing),
        ] {
            assert_eq!(Said::of(line), said);
        }
    }

    #[test]
    fn the_benches_are_found() {
        let names = names(&root()).unwrap();
        assert!(names.iter().any(|name| name == "scan"), "{names:?}");
        assert!(names.iter().all(|name| name != "common"), "{names:?}");
    }
}
