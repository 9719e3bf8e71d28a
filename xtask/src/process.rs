//! Running programs.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read};
use std::iter;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, ensure};

use crate::Result;

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable for `cargo run`. The compile-time value serves a binary that a person starts.
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
    // These describe xtask's own package. Build scripts would take them for changed variables.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name.as_ref());
        }
    }
    command
}

/// The variable that names what cargo runs programs with, such as valgrind:
/// `CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER`.
pub(crate) fn runner_variable() -> Result<String> {
    let version = output("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.context("rustc -vV names no host")?.trim();
    Ok(format!(
        "CARGO_TARGET_{}_RUNNER",
        host.to_uppercase().replace('-', "_")
    ))
}

/// Whether `PATH` has `program`.
pub(crate) fn in_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Shows the command line, runs it to its end, and returns how it ended.
pub(crate) fn status_of(command: &mut Command) -> Result<ExitStatus> {
    eprintln!("$ {}", line_of(command));
    let status = command.status();
    status.with_context(|| cannot_start(command))
}

/// Shows the command line and runs it to its end. A failure of the program is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = status_of(command)?;
    succeeded(command, status)
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    ensure!(
        status.success(),
        "`{}` ended with {status}",
        line_of(command)
    );
    Ok(())
}

/// Like [`run`]. Each line of standard output goes to `seen`, and to the terminal as well where `show` is set.
pub(crate) fn run_reading(
    command: &mut Command,
    show: bool,
    mut seen: impl FnMut(&str),
) -> Result<()> {
    eprintln!("$ {}", line_of(command));
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = child.with_context(|| cannot_start(command))?;
    let stdout = child.stdout.take().expect("stdout is piped");
    for line in lines(stdout) {
        if show {
            println!("{line}");
        }
        seen(&line);
    }
    let status = child.wait()?;
    succeeded(command, status)
}

/// The lines that a program prints, whatever bytes they hold.
pub(crate) fn lines(stream: impl Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(stream)
        .split(b'\n')
        .map_while(io::Result::ok);
    lines.map(|line| String::from_utf8_lossy(&line).into_owned())
}

/// Runs to success, and keeps what the program prints on both outputs.
pub(crate) fn run_printing_to(mut command: Command, printed: &mut Vec<u8>) -> Result<()> {
    let (mut reader, writer) = io::pipe()?;
    let errors = writer.try_clone()?;
    let child = command.stdout(writer).stderr(errors).spawn();
    let mut child = child.with_context(|| cannot_start(&command))?;
    // Reading ends when nobody can write any more, and `command` holds both writing ends.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let read = reader.read_to_end(printed);
    let status = child.wait()?;
    read?;
    succeeded(&command, status)
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

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`", line_of(command))
}

/// The command as a person would type it, with the variables it sets.
pub(crate) fn line_of(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str());
    let set = command
        .get_envs()
        .filter_map(|(k, v)| Some(format!("{}={}", k.to_string_lossy(), v?.to_string_lossy())));
    let words = iter::once(program)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy);
    set.chain(words.map(|word| word.into_owned()))
        .collect::<Vec<_>>()
        .join(" ")
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
    fn both_outputs_and_the_failure_are_kept() {
        let mut printed = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let error = run_printing_to(command, &mut printed)
            .unwrap_err()
            .to_string();
        assert!(error.contains("ended with exit status: 3"), "{error}");
        assert_eq!(String::from_utf8(printed).unwrap(), "out\nerr\n");
    }
}
