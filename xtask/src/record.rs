//! What the crate asks of a device: `kernels/tests/recorded/jobs.rs` describes the form.

use std::path::PathBuf;

use fs_err as fs;

use crate::Result;
use crate::process::{cargo, run, target_dir};

/// The folder of the record that the test `test` writes: `cuda` or `hip`.
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
