//! NVIDIA's compiler, its disassembler and CUB, from PyPI, in a virtual environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use fs_err as fs;

use crate::Result;
use crate::process::run_reading;
use crate::python::Venv;

/// The compiler is from the CUDA release that `gpu-code` looks at. The disassembler is newer and reads its code.
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
        let tools = fs::read_dir(packages.join("nvidia"))?
            .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
            .find(|folder| folder.join("nvdisasm").is_file());
        Ok(Self {
            tools: tools.context("the wheels have no nvdisasm")?,
            packages,
            venv,
        })
    }

    /// Compiles files to machine code in the folder `out`. Returns a message for each file that the compiler refuses.
    pub(crate) fn compile(&self, files: &[PathBuf], arch: &str, out: &Path) -> Result<Vec<String>> {
        fs::create_dir_all(out)?;
        let script = out.join("nvrtc.py");
        fs::write(&script, NVRTC)?;
        // CUB includes a header of the host, and uses nothing of it here.
        fs::write(out.join("iterator"), "")?;
        let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        let list = out.join("files.txt");
        fs::write(&list, names.join("\n"))?;
        let mut command = self.venv.command();
        command
            .arg(script)
            .arg(&self.packages)
            .arg(arch)
            .arg(list)
            .arg(out);
        let mut refused = Vec::new();
        let done = run_reading(&mut command, false, |line| refused.push(line.to_owned()));
        if refused.is_empty() {
            done.map(|()| refused)
        } else {
            Ok(refused)
        }
    }

    /// What a tool says of a file of machine code.
    pub(crate) fn tool(&self, name: &str, argument: &str, file: &Path) -> Result<String> {
        let mut path = vec![self.tools.clone()];
        path.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let mut command = Command::new(self.tools.join(name));
        command.arg(argument).arg(file);
        let out = command.env("PATH", std::env::join_paths(path)?).output();
        let out = out.with_context(|| name.to_owned())?;
        let why = String::from_utf8_lossy(&out.stderr);
        ensure!(out.status.success(), "{name}: {why}");
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }
}
