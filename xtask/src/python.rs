//! Python virtual environments under `target`, for programs and libraries that come as Python packages only.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, anyhow};

use crate::Result;
use crate::process::{in_path, output, root, run, target_dir};

/// A virtual environment that has pip.
pub(crate) struct Venv {
    python: PathBuf,
}

impl Venv {
    /// `target/NAME/venv`. Makes it where it is missing.
    pub(crate) fn get(name: &str) -> Result<Self> {
        let folder = target_dir().join(name).join("venv");
        let python = folder.join(if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        });
        if !python.is_file() || !has_pip(&python) {
            make(&folder)?;
        }
        Ok(Self { python })
    }

    pub(crate) fn command(&self) -> Command {
        Command::new(&self.python)
    }

    /// Installs packages from wheels. Those already installed stay as they are.
    pub(crate) fn install(&self, packages: &[&str]) -> Result<()> {
        let mut command = self.command();
        command.args(["-m", "pip", "install", "--quiet"]);
        command.args(["--disable-pip-version-check", "--only-binary", ":all:"]);
        run(command.args(packages))
    }

    /// Where pip installs packages.
    pub(crate) fn packages(&self) -> PathBuf {
        let python = self.python.to_string_lossy();
        let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
        output(&python, &["-c", ask]).trim().into()
    }
}

/// A venv on Debian without its package `python3-venv` exists, but has no pip.
fn has_pip(python: &Path) -> bool {
    let pip = Command::new(python)
        .args(["-m", "pip", "--version"])
        .output();
    pip.is_ok_and(|out| out.status.success())
}

/// The name of this machine's Python.
fn interpreter() -> Result<&'static str> {
    let found = ["python3", "python"].into_iter().find(|name| in_path(name));
    found
        .or(cfg!(windows).then_some("python"))
        .context("this needs Python 3 (python3 in PATH)")
}

/// Runs a script of the repository. It leaves no compiled files beside the sources.
pub(crate) fn script(path: &str) -> Result<Command> {
    let mut command = Command::new(interpreter()?);
    command.arg("-B").arg(root().join(path));
    Ok(command)
}

fn make(venv: &Path) -> Result<()> {
    run(Command::new(interpreter()?)
        .args(["-m", "venv", "--clear"])
        .arg(venv))
    .map_err(|error| {
        anyhow!("{error:#}. On Debian and Ubuntu: sudo apt-get install -y python3-venv")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scripts_pass_their_tests() {
        if interpreter().is_err() {
            // Past the harness, which hides what a passing test prints.
            let said = "left out: tests of the scripts, for lack of Python\n";
            std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes()).unwrap();
            return;
        }
        for tests in ["benches/report/tests.py", "xtask/gpu/tests.py"] {
            run(&mut script(tests).unwrap()).unwrap();
        }
    }
}
