//! Python virtual environments under `target`, for what is to be had as Python packages only.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::process::{in_path, output, run, target_dir};

/// A virtual environment that has pip.
pub(crate) struct Venv {
    python: PathBuf,
}

impl Venv {
    /// `target/NAME/venv`, made where it is missing.
    pub(crate) fn get(name: &str) -> Result<Self> {
        let folder = target_dir().join(name).join("venv");
        let python = folder.join(match cfg!(windows) {
            true => "Scripts/python.exe",
            false => "bin/python",
        });
        if !python.is_file() || !has_pip(&python) {
            make(&folder)?;
        }
        Ok(Self { python })
    }

    pub(crate) fn command(&self) -> Command {
        Command::new(&self.python)
    }

    /// Installs packages from wheels; those that are there already are left as they are.
    pub(crate) fn install(&self, packages: &[&str]) -> Result<()> {
        let line = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ];
        let wheels = ["--only-binary", ":all:"];
        run(self.command().args(line).args(wheels).args(packages))
    }

    /// Where packages are installed.
    pub(crate) fn packages(&self) -> PathBuf {
        let python = self.python.to_string_lossy();
        let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
        output(&python, &["-c", ask]).trim().into()
    }
}

/// A venv on Debian without its package `python3-venv` is made, but has no pip.
fn has_pip(python: &Path) -> bool {
    let pip = Command::new(python)
        .args(["-m", "pip", "--version"])
        .output();
    pip.is_ok_and(|out| out.status.success())
}

fn make(venv: &Path) -> Result<()> {
    let base = ["python3", "python"].into_iter().find(|name| in_path(name));
    let base = base
        .or(cfg!(windows).then_some("python"))
        .ok_or("this needs Python 3 (python3 in PATH)")?;
    run(Command::new(base).args(["-m", "venv", "--clear"]).arg(venv)).map_err(|error| {
        format!("{error}. On Debian and Ubuntu: sudo apt-get install -y python3-venv")
    })
}
