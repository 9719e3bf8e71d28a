//! A headless Chromium with WebGPU on SwiftShader, its own software Vulkan driver. Every machine then has the same
//! adapter.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};
use fs_err as fs;
use serde_json::Value;

use crate::Result;
use crate::drivers::apt_install;
use crate::process::{in_path, output};

/// The program's names: first that of Debian and Fedora, then that of Arch and Alpine, then those of Google's packages.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

/// What chromedriver reads of it too. Containers often cannot have the sandbox, and root never can; the only pages are
/// this repository's. Timers and promises of a page must run although nobody looks at it.
const CAPABILITIES: &str = include_str!("../../examples/web/webdriver.json");

/// The name of an installed Chromium, whose version it prints. Installs Debian's where there is none.
pub(crate) fn get() -> Result<&'static str> {
    let name = installed(&NAMES, "chromium", "about 400 MB installed")?;
    println!("{}", output(name, &["--version"]).trim());
    Ok(name)
}

/// The name of the program through which wasm-bindgen's tests drive it. Installs Debian's where there is none.
pub(crate) fn driver() -> Result<&'static str> {
    installed(&["chromedriver"], "chromium-driver", "and its Chromium")
}

fn installed(names: &[&'static str], package: &str, size: &str) -> Result<&'static str> {
    let found = || names.iter().copied().find(|name| in_path(name));
    if let Some(name) = found() {
        return Ok(name);
    }
    let all = names.join(", ");
    ensure!(
        in_path("apt-get"),
        "not in PATH, and no apt-get to install it: {all}"
    );
    eprintln!("this machine has no {all}: installing Debian's package `{package}` ({size})");
    apt_install(package, &["--no-install-recommends"])?;
    found().with_context(|| format!("the package `{package}` brought none of {all}"))
}

fn flags() -> Result<Vec<String>> {
    let capabilities: Value = serde_json::from_str(CAPABILITIES)?;
    let flags = capabilities["goog:chromeOptions"]["args"].clone();
    Ok(serde_json::from_value(flags)?)
}

/// A running browser. A drop stops it and removes its profile.
pub(crate) struct Browser {
    child: Child,
    profile: PathBuf,
}

impl Browser {
    /// Opens `url` with an empty profile in `folder`. The browser's own messages go there, too.
    pub(crate) fn open(program: &str, url: &str, folder: &Path, more: &[&str]) -> Result<Self> {
        let profile = folder.join("profile");
        let _ = fs::remove_dir_all(&profile);
        fs::create_dir_all(&profile)?;
        let log = fs::File::create(folder.join("chromium.log"))?;
        let child = Command::new(program)
            .args(flags()?)
            .args(more)
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.into_file())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        Ok(Self { child, profile })
    }

    /// Whether it still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}
