//! Running programs, and the list of steps that a command prints at its end.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::Result;

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable for `cargo run`; the compile-time value serves a binary started by hand.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let xtask = xtask.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    xtask
        .parent()
        .expect("xtask is a folder of the workspace")
        .to_owned()
}

/// The folder for build products: `CARGO_TARGET_DIR` or `target`.
pub(crate) fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// `cargo ARGS`, to run in the workspace's root.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    // These describe xtask's own package and would leak into build scripts as changed variables.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name.as_ref());
        }
    }
    command
}

/// The tests or benches in a folder by cargo's rule, `NAME.rs` and `NAME/main.rs`, so that a new one cannot be forgotten.
pub(crate) fn targets_in(folder: &Path) -> Result<Vec<String>> {
    let error = |e| format!("{}: {e}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        let is_target = path.extension() == Some("rs".as_ref()) || path.join("main.rs").exists();
        if is_target && let Some(name) = path.file_stem() {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The variable that names what cargo runs programs with, such as valgrind: `CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER`.
pub(crate) fn runner_variable() -> Result<String> {
    let version = output("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc -vV names no host")?.trim();
    Ok(format!(
        "CARGO_TARGET_{}_RUNNER",
        host.to_uppercase().replace('-', "_")
    ))
}

/// Whether `program` is found in `PATH`.
pub(crate) fn in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Runs to its end, showing the command line first.
pub(crate) fn status_of(command: &mut Command) -> Result<ExitStatus> {
    eprintln!("$ {}", line_of(command));
    command.status().map_err(|e| cannot_start(command, &e))
}

/// Runs to success, showing the command line first.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = status_of(command)?;
    succeeded(command, status)
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    status
        .success()
        .then_some(())
        .ok_or_else(|| format!("`{}` ended with {status}", line_of(command)))
}

/// Like [`run`], and hands each line of standard output to `seen` after printing it (if `show`).
pub(crate) fn run_reading(
    command: &mut Command,
    show: bool,
    mut seen: impl FnMut(&str),
) -> Result<()> {
    eprintln!("$ {}", line_of(command));
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| cannot_start(command, &e))?;
    let stdout = child.stdout.take().expect("stdout is piped");
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.map_err(|e| e.to_string())?;
        let line = String::from_utf8_lossy(&line);
        if show {
            println!("{line}");
        }
        seen(&line);
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    succeeded(command, status)
}

/// What `program ARGS` prints, or nothing where it cannot run.
pub(crate) fn output(program: &str, args: &[&str]) -> String {
    Command::new(program)
        .args(args)
        .stderr(Stdio::null())
        .output()
        .map(|out| String::from_utf8_lossy(&out.stdout).into_owned())
        .unwrap_or_default()
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start `{}`: {error}", line_of(command))
}

/// The command as one would type it, with the variables it sets.
fn line_of(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str());
    let set = command
        .get_envs()
        .filter_map(|(k, v)| Some(format!("{}={}", k.to_string_lossy(), v?.to_string_lossy())));
    let words = std::iter::once(program)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy);
    set.chain(words.map(|word| word.into_owned()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Steps that run one by one, beside others. What they print is shown when they are [joined](Steps::join).
pub(crate) struct Beside(JoinHandle<Vec<(Done, Vec<u8>)>>);

/// A step: its name, how it ended and when.
type Done = (String, Result<()>, Duration);

impl Beside {
    /// A step fails where there is no command for it.
    pub(crate) fn start(steps: Vec<(&str, Result<Command>)>) -> Self {
        let steps: Vec<_> = (steps.into_iter())
            .map(|(name, command)| (name.to_owned(), command))
            .collect();
        for (name, command) in &steps {
            eprintln!("\n== {name}, beside what follows");
            if let Ok(command) = command {
                eprintln!("$ {}", line_of(command));
            }
        }
        Self(thread::spawn(|| {
            let run = |(name, command): (String, Result<Command>)| {
                let start = Instant::now();
                let mut printed = Vec::new();
                let result = command.and_then(|command| run_printing_to(command, &mut printed));
                ((name, result, start.elapsed()), printed)
            };
            steps.into_iter().map(run).collect()
        }))
    }
}

/// Runs to success, and keeps what is printed on both outputs.
fn run_printing_to(mut command: Command, printed: &mut Vec<u8>) -> Result<()> {
    let (mut reader, writer) = io::pipe().map_err(|e| e.to_string())?;
    let errors = writer.try_clone().map_err(|e| e.to_string())?;
    let child = command.stdout(writer).stderr(errors).spawn();
    let mut child = child.map_err(|e| cannot_start(&command, &e))?;
    // Reading ends when nobody can write any more, and the command holds both writing ends.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let read = reader.read_to_end(printed);
    let status = child.wait().map_err(|e| e.to_string())?;
    read.map_err(|e| e.to_string())?;
    succeeded(&command, status)
}

/// Steps that all run, whatever the others did; the summary has one line for each.
#[derive(Default)]
pub(crate) struct Steps {
    done: Vec<Done>,
}

impl Steps {
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> bool {
        eprintln!("\n== {name}");
        let start = Instant::now();
        let result = work();
        self.note(name, result, start.elapsed())
    }

    /// Waits for the steps that run beside the others, and shows what they printed.
    pub(crate) fn join(&mut self, beside: Beside) {
        let done = beside.0.join().expect("steps return their errors");
        for ((name, result, took), printed) in done {
            eprintln!("\n== {name}, beside the steps above");
            eprint!("{}", String::from_utf8_lossy(&printed));
            self.note(&name, result, took);
        }
    }

    fn note(&mut self, name: &str, result: Result<()>, took: Duration) -> bool {
        let ok = result.is_ok();
        if let Err(message) = &result {
            eprintln!("{message}");
        }
        self.done.push((name.to_owned(), result, took));
        ok
    }

    /// Prints the summary; an error if a step failed.
    pub(crate) fn finish(self) -> Result<()> {
        println!();
        for (name, result, took) in &self.done {
            let state = if result.is_ok() { "ok" } else { "FAILED" };
            println!("{state:>6} {:>7.1} s  {name}", took.as_secs_f64());
        }
        match self.done.iter().filter(|(_, r, _)| r.is_err()).count() {
            0 => Ok(()),
            n => Err(format!("{n} of {} steps failed", self.done.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_written_as_in_a_variable() {
        let variable = runner_variable().unwrap();
        assert!(!variable.contains('-'), "{variable}");
        assert_eq!(variable, variable.to_uppercase());
    }

    #[test]
    #[cfg(unix)]
    fn a_step_beside_others_shows_both_outputs_and_its_failure() {
        let mut printed = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let error = run_printing_to(command, &mut printed).unwrap_err();
        assert!(error.contains("ended with exit status: 3"), "{error}");
        assert_eq!(String::from_utf8(printed).unwrap(), "out\nerr\n");
    }
}
