//! SwiftShader, Chromium's software Vulkan driver, from Debian's package `chromium-common`. The package brings a
//! Vulkan loader too: both are unpacked under `target/` and nothing is installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::drivers::{Env, as_root, pin};
use crate::process::{in_path, output, run, target_dir};

/// Debian's package that brings it.
const PACKAGE: &str = "chromium-common";

/// The variables that select it; downloads it the first time.
pub(crate) fn get() -> Result<Env> {
    let folder = target_dir().join("swiftshader");
    let driver = folder.join("driver");
    let manifest = driver.join("vk_swiftshader_icd.json");
    if !manifest.is_file() {
        if !in_path("apt-get") || !in_path("dpkg-deb") {
            return Err("SwiftShader is taken from Debian's package chromium-common: needs apt-get and dpkg-deb".into());
        }
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
    let io = |error: std::io::Error| format!("{}: {error}", folder.display());
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(io)?;
    eprintln!(
        "downloading chromium-common (about 30 MB) to unpack SwiftShader; nothing is installed"
    );
    let download = || {
        run(Command::new("apt-get")
            .args(["download", PACKAGE])
            .current_dir(folder))
    };
    download().or_else(|_| {
        run(&mut as_root(&["apt-get", "update"]))?;
        download()
    })?;
    let is_deb = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "deb");
    let package = fs::read_dir(folder)
        .map_err(io)?
        .flatten()
        .map(|file| file.path())
        .find(is_deb);
    let package = package.ok_or("apt-get download left no package")?;
    let tree = folder.join("tree");
    run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&tree))?;
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
    fs::remove_dir_all(&tree)
        .and_then(|()| fs::remove_file(&package))
        .map_err(io)
}
