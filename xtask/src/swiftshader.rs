//! SwiftShader, Chromium's software Vulkan driver, from Debian's package `chromium-common`. The package brings a
//! Vulkan loader too: both are unpacked under `target/` and nothing is installed.

use std::fs;
use std::path::Path;

use crate::Result;
use crate::debian;
use crate::drivers::{Env, pin};
use crate::process::{output, target_dir};

/// Debian's package that brings it.
const PACKAGE: &str = "chromium-common";

/// The variables that select it; downloads it the first time.
pub(crate) fn get() -> Result<Env> {
    let folder = target_dir().join("swiftshader");
    let driver = folder.join("driver");
    let manifest = driver.join("vk_swiftshader_icd.json");
    if !manifest.is_file() {
        unpack(&folder, &driver)?;
    }
    let mut env = pin(&manifest);
    // The package's own loader, so that nothing needs installing.
    let mut path = driver.into_os_string();
    if let Some(more) = std::env::var_os("LD_LIBRARY_PATH") {
        path.push(":");
        path.push(more);
    }
    env.push(("LD_LIBRARY_PATH", path));
    Ok(env)
}

/// Whether this machine's package lists offer it: Ubuntu's do not.
pub(crate) fn is_offered() -> bool {
    let policy = output("apt-cache", &["policy", PACKAGE]);
    let candidate = policy
        .lines()
        .find_map(|line| line.trim().strip_prefix("Candidate:"));
    candidate.is_some_and(|version| version.trim() != "(none)")
}

fn unpack(folder: &Path, driver: &Path) -> Result<()> {
    eprintln!("SwiftShader is unpacked from chromium-common (about 30 MB); nothing is installed");
    let tree = debian::unpack(folder, &[PACKAGE])?;
    let io = |error: std::io::Error| format!("{}: {error}", folder.display());
    // Only these files: beside them are Chromium's own EGL and GLES libraries, which must not come into the
    // test process. The manifest names its library relative to itself, and is copied last: it marks success.
    fs::create_dir_all(driver).map_err(io)?;
    for name in [
        "libvulkan.so.1",
        "libvk_swiftshader.so",
        "vk_swiftshader_icd.json",
    ] {
        let from = tree.join("usr/lib/chromium").join(name);
        fs::copy(&from, driver.join(name)).map_err(|e| format!("{}: {e}", from.display()))?;
    }
    fs::remove_dir_all(&tree).map_err(io)
}
