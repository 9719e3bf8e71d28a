//! SwiftShader, Chromium's software Vulkan driver, from Debian's package `chromium-common`. The package has a Vulkan
//! loader, too. Both go under `target/`, and nothing is installed.

use std::path::Path;

use fs_err as fs;

use crate::Result;
use crate::debian;
use crate::drivers::{Env, pin, update_lists};
use crate::process::{in_path, output, target_dir};

/// Debian's package that has it.
const PACKAGE: &str = "chromium-common";

/// The variables that select it. Downloads it the first time.
pub(crate) fn get() -> Result<Env> {
    let folder = target_dir().join("swiftshader");
    let driver = folder.join("driver");
    let manifest = driver.join("vk_swiftshader_icd.json");
    if !manifest.is_file() {
        unpack(&folder, &driver)?;
    }
    let mut env = pin(&manifest);
    // The package's own loader. Nothing else must be installed.
    let mut path = driver.into_os_string();
    if let Some(more) = std::env::var_os("LD_LIBRARY_PATH") {
        path.push(":");
        path.push(more);
    }
    env.push(("LD_LIBRARY_PATH", path));
    Ok(env)
}

/// Whether this machine's package lists have it. Ubuntu's do not. A fresh machine has no lists, and gets them.
pub(crate) fn is_offered() -> bool {
    if in_path("apt-get")
        && !has_lists()
        && let Err(error) = update_lists()
    {
        eprintln!("no lists of packages: {error:#}");
    }
    let policy = output("apt-cache", &["policy", PACKAGE]);
    let candidate = policy
        .lines()
        .find_map(|line| line.trim().strip_prefix("Candidate:"));
    candidate.is_some_and(|version| version.trim() != "(none)")
}

fn has_lists() -> bool {
    let lists = std::fs::read_dir("/var/lib/apt/lists")
        .into_iter()
        .flatten();
    let mut names = lists.flatten().map(|file| file.file_name());
    names.any(|name| name.to_string_lossy().contains("_Packages"))
}

fn unpack(folder: &Path, driver: &Path) -> Result<()> {
    eprintln!("SwiftShader is unpacked from chromium-common (about 30 MB); nothing is installed");
    let tree = debian::unpack(folder, &[PACKAGE])?;
    // Only these files: Chromium's own EGL and GLES libraries lie beside them and must not come into the test process.
    // The manifest names its library relative to itself. It is copied last, because it marks success.
    fs::create_dir_all(driver)?;
    for name in [
        "libvulkan.so.1",
        "libvk_swiftshader.so",
        "vk_swiftshader_icd.json",
    ] {
        fs::copy(tree.join("usr/lib/chromium").join(name), driver.join(name))?;
    }
    Ok(fs::remove_dir_all(&tree)?)
}
