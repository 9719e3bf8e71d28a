//! What the crate asks of a device. The test `TEST` writes it down in `target/TEST`, and
//! `kernels/tests/recorded/jobs.rs` describes the form.

use std::path::{Path, PathBuf};

use anyhow::Context;
use fs_err as fs;

use crate::Result;
use crate::process::{cargo, run, target_dir};

/// A kernel of the record.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub(crate) path: PathBuf,
    /// The device that it is compiled for.
    pub(crate) device: String,
    /// The kernel's own name, without types and hashes.
    pub(crate) kernel: String,
    pub(crate) units: u32,
    /// Bytes that the launch asks for besides those that the code declares.
    pub(crate) shared: u32,
    /// The case that launched it first: `GROUP, NAME`.
    pub(crate) case: String,
}

/// The tests that write a record.
pub(crate) const CUDA: &str = "cuda";
pub(crate) const HIP: &str = "hip";

pub(crate) fn folder(test: &str) -> PathBuf {
    target_dir().join(test)
}

/// Writes the record anew.
pub(crate) fn write(test: &str) -> Result<()> {
    let folder = folder(test);
    for part in ["modules", "cases"] {
        let _ = fs::remove_dir_all(folder.join(part));
    }
    fs::create_dir_all(&folder)?;
    let features = "cubecl-scan/wgpu,cubecl-scan/cuda-source";
    let mut command = cargo(&["test", "--workspace", "--features", features]);
    command
        .args(["--test", test, "--", "--nocapture"])
        .env("BURN_SCAN_RECORD", &folder);
    run(&mut command)
}

/// The kernels of the record.
pub(crate) fn modules(test: &str) -> Result<Vec<Module>> {
    let path = folder(test).join("modules.txt");
    let text = fs::read_to_string(&path)?;
    let module = |line| {
        let module = module(&folder(test).join("modules"), line);
        module.with_context(|| format!("{}: `{line}`", path.display()))
    };
    text.lines().map(module).collect()
}

fn module(folder: &Path, line: &str) -> Option<Module> {
    let mut words = line.splitn(8, ' ');
    let file = words.next()?;
    let device = words.next()?;
    let entry = words.next()?;
    let mut number = || words.next()?.parse::<u32>().ok();
    let units = number()? * number()? * number()?;
    let shared = number()?;
    Some(Module {
        path: folder.join(file),
        device: device.to_owned(),
        kernel: entry.split("_kernel").next()?.to_owned(),
        units,
        shared,
        case: words.next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_module() {
        let line = "7.cu cuda scan_kernel_f32_0a1b 512 1 1 48 contiguous, sum of [1, 16]";
        let module = module(Path::new("modules"), line).unwrap();
        assert_eq!(module.path, Path::new("modules/7.cu"));
        assert_eq!(module.device, "cuda");
        assert_eq!(
            (&*module.kernel, module.units, module.shared),
            ("scan", 512, 48)
        );
        assert_eq!(module.case, "contiguous, sum of [1, 16]");
        assert!(super::module(Path::new(""), "7.cu cuda scan_kernel 512 1").is_none());
    }
}
