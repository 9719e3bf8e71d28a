//! Runs the benches under a progress bar and keeps what they say beside their figures.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::record::Facts;
use crate::Result;
use crate::drivers::Env;
use crate::process::{cargo, root, run as run_to_success};

/// How the benches are built and on which driver they run.
pub(crate) struct Benches {
    env: Env,
    names: Vec<String>,
    /// Further arguments for `cargo bench`, as `--features cuda`.
    cargo_args: Vec<String>,
}

impl Benches {
    /// Builds them, so that a first run does not compile under the progress bar.
    pub(crate) fn build(mut env: Env, cargo_args: Vec<String>) -> Result<Self> {
        env.push(("BURN_SCAN_REQUIRE_CUBE", "1".into()));
        let names = names()?;
        let benches = Self {
            env,
            names,
            cargo_args,
        };
        run_to_success(benches.cargo_bench().arg("--no-run"))?;
        Ok(benches)
    }

    /// Measures what `filter` matches into a fresh folder; what the benches say becomes facts: `adapter`, and `wrong` for
    /// wrong answers.
    pub(crate) fn run(&self, filter: &str, folder: &Path) -> Result<Facts> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(format!("{}: {error}", folder.display()));
            }
            _ => {}
        }
        let mut list = self.cargo_bench();
        let list = list
            .args(["--", "--list", filter])
            .stderr(Stdio::null())
            .output();
        let list = list.map_err(|e| format!("cannot list the benches: {e}"))?;
        let count = String::from_utf8_lossy(&list.stdout)
            .lines()
            .filter(|line| line.ends_with(": benchmark"))
            .count();
        if !list.status.success() || count == 0 {
            return Err(format!(
                "no bench matches `{filter}`, or one does not start"
            ));
        }
        let mut command = self.cargo_bench();
        command.args(["--", filter]).env("CRITERION_HOME", folder);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        watch(&mut command, &bar(count as u64))
    }

    fn cargo_bench(&self) -> Command {
        let mut command = cargo(&["bench", "--package", "burn-scan"]);
        for name in &self.names {
            command.args(["--bench", name]);
        }
        let env = self.env.iter().map(|(name, value)| (name, value));
        command.args(&self.cargo_args).envs(env);
        command
    }
}

/// The benches by their files, so that a new one cannot be forgotten.
fn names() -> Result<Vec<String>> {
    let folder = root().join("benches");
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let files = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut names: Vec<String> = files
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}

fn bar(count: u64) -> ProgressBar {
    let style = "{pos}/{len} [{bar:32}] {elapsed_precise}, {eta} left: {msg}";
    let style = ProgressStyle::with_template(style).expect("the template is valid");
    let bar = ProgressBar::new(count).with_style(style.progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}

/// Criterion names a case on standard error as it begins and prints its time on standard output as it ends; whatever
/// else is on standard error is shown.
fn watch(command: &mut Command, bar: &ProgressBar) -> Result<Facts> {
    let mut child = command
        .spawn()
        .map_err(|e| format!("cannot start cargo: {e}"))?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let stderr = child.stderr.take().expect("stderr is piped");
    let ended = bar.clone();
    let times = thread::spawn(move || {
        let times = lines(stdout).filter(|line| line.contains(" time:   ["));
        times.for_each(|_| ended.inc(1));
    });
    let (mut facts, mut begun) = (Facts::default(), 0);
    for line in lines(stderr) {
        match Said::of(&line) {
            // No terminal: a line each.
            Said::Begins(case) if bar.is_hidden() => {
                begun += 1;
                eprintln!("{begun}/{} {case}", bar.length().unwrap_or_default());
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
    let status = child.wait().map_err(|e| e.to_string())?;
    bar.finish_and_clear();
    match status.success() {
        true => Ok(facts),
        false => Err(format!("the benches ended with {status}")),
    }
}

/// What a line of a bench's standard error means.
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
            match case.contains(": ") {
                true => Self::Nothing,
                false => Self::Begins(case),
            }
        } else if let Some(adapter) = line.strip_prefix("cube: ") {
            Self::Adapter(adapter)
        } else if let Some(wrong) = line.strip_prefix("WRONG ANSWER of ") {
            Self::Wrong(wrong.split(',').next().unwrap_or(wrong))
        } else if line.trim().is_empty() || line.starts_with("Warning: Unable to complete") {
            Self::Nothing
        } else {
            Self::Other
        }
    }
}

fn lines(stream: impl Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(stream)
        .split(b'\n')
        .map_while(std::io::Result::ok);
    lines.map(|line| String::from_utf8_lossy(&line).into_owned())
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
            ("", Said::Nothing),
        ] {
            assert_eq!(Said::of(line), said);
        }
    }

    #[test]
    fn the_benches_are_found() {
        let names = names().unwrap();
        assert!(names.iter().any(|name| name == "scan"), "{names:?}");
        assert!(names.iter().all(|name| name != "common"), "{names:?}");
    }
}
