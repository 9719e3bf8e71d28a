//! A headless Chromium with WebGPU on SwiftShader, its own software Vulkan driver. Every machine then has the same
//! adapter.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};
use fs_err as fs;

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

const FLAGS: [&str; 12] = [
    "--headless",
    // Containers often cannot have the sandbox, and root never can. The only page is this repository's.
    "--no-sandbox",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--enable-features=Vulkan",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    // The page's timers and promises must run although nobody looks at the page.
    "--disable-renderer-backgrounding",
];

/// The name of an installed Chromium. Installs Debian's where there is none.
pub(crate) fn get() -> Result<&'static str> {
    let found = || NAMES.into_iter().find(|name| in_path(name));
    if let Some(name) = found() {
        return Ok(name);
    }
    ensure!(
        in_path("apt-get"),
        "no browser here: install Chromium, so that one of these is in PATH: {}",
        NAMES.join(", ")
    );
    eprintln!(
        "this machine has no Chromium: installing Debian's package `chromium` (about 400 MB installed)"
    );
    apt_install("chromium", &["--no-install-recommends"])?;
    found().context("the package `chromium` brought no program of that name")
}

/// Its version, as it prints it.
pub(crate) fn version(program: &str) -> String {
    output(program, &["--version"]).trim().to_owned()
}

/// A running browser. A drop stops it and removes its profile.
pub(crate) struct Browser {
    child: Child,
    profile: PathBuf,
}

impl Browser {
    /// Opens `url` with an empty profile in `folder`. The browser's own messages go there, too.
    pub(crate) fn open(program: &str, url: &str, folder: &Path) -> Result<Self> {
        let profile = folder.join("profile");
        let _ = fs::remove_dir_all(&profile);
        fs::create_dir_all(&profile)?;
        let log = fs::File::create(folder.join("chromium.log"))?;
        let child = Command::new(program)
            .args(FLAGS)
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
