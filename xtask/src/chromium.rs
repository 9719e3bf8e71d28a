//! A headless Chromium with WebGPU on SwiftShader, its own software Vulkan driver: the same adapter on every machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Result;
use crate::drivers::apt_install;
use crate::process::{in_path, output};

/// The program's names: Debian and Fedora, Arch and Alpine; Google's own packages.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

const FLAGS: [&str; 12] = [
    "--headless",
    // Containers often cannot have the sandbox, root never can, and the one page it shows is this repository's.
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
    // The page's timers and promises must not sleep because nobody looks at it.
    "--disable-renderer-backgrounding",
];

/// The name of an installed Chromium; installs Debian's where there is none.
pub(crate) fn get() -> Result<&'static str> {
    let found = || NAMES.into_iter().find(|name| in_path(name));
    if let Some(name) = found() {
        return Ok(name);
    }
    if !in_path("apt-get") {
        return Err(format!(
            "no browser here: install Chromium, so that one of these is in PATH: {}",
            NAMES.join(", ")
        ));
    }
    eprintln!(
        "this machine has no Chromium: installing Debian's package `chromium` (about 400 MB installed)"
    );
    apt_install("chromium", &["--no-install-recommends"])?;
    found().ok_or_else(|| "the package `chromium` brought no program of that name".to_owned())
}

/// Its version, as it prints it.
pub(crate) fn version(program: &str) -> String {
    output(program, &["--version"]).trim().to_owned()
}

/// A running browser; stopped, and its profile removed, when dropped.
pub(crate) struct Browser {
    child: Child,
    profile: PathBuf,
}

impl Browser {
    /// Opens `url` with an empty profile in `folder`, where the browser's own messages go, too.
    pub(crate) fn open(program: &str, url: &str, folder: &Path) -> Result<Self> {
        let io = |e: std::io::Error| format!("{}: {e}", folder.display());
        let profile = folder.join("profile");
        let _ = fs::remove_dir_all(&profile);
        fs::create_dir_all(&profile).map_err(io)?;
        let log = File::create(folder.join("chromium.log")).map_err(io)?;
        let child = Command::new(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|e| format!("cannot start {program}: {e}"))?;
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
