//! NVIDIA's compiler, disassembler and CUB, from PyPI into a virtual environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::process::run_reading;
use crate::python::Venv;

/// The CUDA release whose code is looked at; the disassembler reads that of older compilers.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvrtc-cu12==12.9.86",
    "nvidia-cuda-runtime-cu12==12.9.79",
    "nvidia-cuda-cccl-cu12==12.9.27",
    "nvidia-cuda-nvdisasm==13.5.37",
    "nvidia-cuda-cuobjdump==13.5.37",
];

const NVRTC: &str = include_str!("nvrtc.py");

pub(crate) struct Toolkit {
    venv: Venv,
    packages: PathBuf,
    tools: PathBuf,
}

impl Toolkit {
    pub(crate) fn get() -> Result<Self> {
        let venv = Venv::get("cuda")?;
        venv.install(&PACKAGES)?;
        let packages = venv.packages();
        let tools = fs::read_dir(packages.join("nvidia"))
            .map_err(|e| format!("{}: {e}", packages.display()))?
            .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
            .find(|folder| folder.join("nvdisasm").is_file());
        Ok(Self {
            tools: tools.ok_or("the wheels have no nvdisasm")?,
            packages,
            venv,
        })
    }

    /// Compiles files to machine code in a folder; a message for each that the compiler refuses.
    pub(crate) fn compile(&self, files: &[PathBuf], arch: &str, out: &Path) -> Result<Vec<String>> {
        let written = |path: PathBuf, text: &str| match fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(error) => Err(format!("{}: {error}", path.display())),
        };
        fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
        let script = written(out.join("nvrtc.py"), NVRTC)?;
        // CUB asks for a header of the host's, of which it uses nothing here.
        written(out.join("iterator"), "")?;
        let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        let list = written(out.join("files.txt"), &names.join("\n"))?;
        let mut command = self.venv.command();
        command
            .arg(script)
            .arg(&self.packages)
            .arg(arch)
            .arg(list)
            .arg(out);
        let mut refused = Vec::new();
        let done = run_reading(&mut command, false, |line| refused.push(line.to_owned()));
        match refused.is_empty() {
            true => done.map(|()| refused),
            false => Ok(refused),
        }
    }

    /// What a tool says of a file of machine code.
    pub(crate) fn tool(&self, name: &str, argument: &str, file: &Path) -> Result<String> {
        let mut path = vec![self.tools.clone()];
        path.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let path = std::env::join_paths(path).map_err(|e| e.to_string())?;
        let mut command = Command::new(self.tools.join(name));
        let out = command.arg(argument).arg(file).env("PATH", path).output();
        let out = out.map_err(|e| format!("{name}: {e}"))?;
        match out.status.success() {
            true => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
            false => Err(format!("{name}: {}", String::from_utf8_lossy(&out.stderr))),
        }
    }
}
