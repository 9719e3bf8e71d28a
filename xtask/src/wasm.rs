//! Building for browsers: a compiler with the target `wasm32-unknown-unknown`, and wasm-bindgen's programs.
//!
//! Where rustup has the target, that is all. Elsewhere the Rust with which Debian builds browsers is unpacked under
//! `target/`. rustup's cargo drives it, and builds the standard library from the source that comes with it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use fs_err as fs;

use crate::Result;
use crate::debian;
use crate::process::{cargo, output, root, run, target_dir};

const TARGET: &str = "wasm32-unknown-unknown";

/// Debian's packages: the compiler and its libraries, the standard library with its source, the linker.
const PACKAGES: [&str; 6] = [
    "rustc-web",
    "libstd-rust-web-1.96",
    "libstd-rust-web-dev",
    "rust-web-src",
    "libllvm22",
    "lld-22",
];

/// Everything that a build for a browser needs.
pub(crate) struct Wasm {
    /// The folder of wasm-bindgen's programs.
    programs: PathBuf,
    /// Debian's compiler.
    unpacked: Option<PathBuf>,
}

impl Wasm {
    /// Gets what is missing.
    pub(crate) fn get() -> Result<Self> {
        let line = ["--print", "target-libdir", "--target", TARGET];
        let is_there = Path::new(output("rustc", &line).trim()).is_dir();
        let unpacked = if is_there {
            None
        } else {
            eprintln!("`rustup target add {TARGET}` would save a download of 140 MB");
            let folder = target_dir().join("rust-web");
            Some(debian::unpack(&folder, &PACKAGES)?.join("usr"))
        };
        Ok(Self {
            programs: bindgen()?,
            unpacked,
        })
    }

    /// `cargo ARGS` for the page's crate in a folder of its own, which [`target_dir`](Self::target_dir) names.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo(args);
        command
            .args(["--package", "burn-scan-web", "--target", TARGET])
            .env("CARGO_TARGET_DIR", Self::target_dir());
        if let Some(usr) = &self.unpacked {
            let mut libraries: OsString = usr.join("lib").into();
            libraries.push(":");
            libraries.push(usr.join("lib/x86_64-linux-gnu"));
            command
                .arg("-Zbuild-std=std,panic_abort")
                // A stable cargo needs it for that option.
                .env("RUSTC_BOOTSTRAP", "1")
                .env("RUSTC", usr.join("bin/rustc"))
                .env("LD_LIBRARY_PATH", libraries)
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", usr.join("bin/wasm-ld-22"));
        }
        command
    }

    /// Where [`cargo`](Self::cargo) puts what it builds.
    pub(crate) fn target_dir() -> PathBuf {
        target_dir().join("web")
    }

    /// One of wasm-bindgen's programs.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// Builds the page into a folder, which it returns.
    pub(crate) fn page(&self, profile: &str) -> Result<PathBuf> {
        run(&mut self.cargo(&["build", "--locked", "--profile", profile]))?;
        let built = Self::target_dir().join(TARGET).join(profile);
        let built = built.join("burn_scan_web.wasm");
        let page = Self::target_dir().join("page");
        let _ = fs::remove_dir_all(&page);
        let mut command = Command::new(self.program("wasm-bindgen"));
        command.args([
            "--target",
            "web",
            "--no-typescript",
            "--remove-name-section",
        ]);
        run(command.arg("--out-dir").arg(page.join("pkg")).arg(built))?;
        for file in fs::read_dir(root().join("examples/web/page"))? {
            let file = file?;
            fs::copy(file.path(), page.join(file.file_name()))?;
        }
        Ok(page)
    }
}

/// The folder of wasm-bindgen's programs, of the version that the lock file names: those in `PATH`, or else built from
/// crates.io.
fn bindgen() -> Result<PathBuf> {
    let lock = fs::read_to_string(root().join("Cargo.lock"))?;
    let version = lock.split_once("name = \"wasm-bindgen\"\nversion = \"");
    let (version, _) = version
        .and_then(|(_, rest)| rest.split_once('"'))
        .context("Cargo.lock has no wasm-bindgen")?;
    let is_right =
        |program: &str| output(program, &["--version"]).trim() == format!("wasm-bindgen {version}");
    if is_right("wasm-bindgen") {
        return Ok(PathBuf::new());
    }
    let folder = target_dir().join("wasm-bindgen");
    let programs = folder.join("bin");
    if !is_right(&programs.join("wasm-bindgen").to_string_lossy()) {
        let mut command = cargo(&["install", "wasm-bindgen-cli", "--version", version]);
        run(command.arg("--root").arg(&folder))?;
    }
    Ok(programs)
}
