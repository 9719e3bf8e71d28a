//! Finds the Vulkan drivers of this Linux machine, and builds nothing for it.
//!
//! A driver can start when three things exist: the loader (`libvulkan.so.1`), a manifest (a JSON file that names the
//! driver's library) in one of the loader's folders, and that library. A driver for hardware also needs a device node.
//! Distributions install the drivers of all vendors together, so a manifest alone says nothing about a GPU.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::libraries::Libraries;

/// Variables that replace the loader's folders. The second is the older name.
pub(crate) const OVERRIDES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// What the machine has.
pub(crate) struct Machine {
    pub(crate) loader: bool,
    pub(crate) drivers: Vec<Driver>,
}

/// One driver manifest.
#[derive(Debug, PartialEq)]
pub(crate) struct Driver {
    pub(crate) manifest: PathBuf,
    pub(crate) state: State,
}

/// Why a driver can or cannot start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    Gpu,
    Software,
    NoGpu,
    NoLibrary,
}

impl Machine {
    /// Looks into the folders that the loader would read.
    pub(crate) fn look() -> Self {
        let libraries = Libraries::look();
        let gpu = has_gpu_node();
        let drivers = manifests(&search_path(|name| env::var(name).ok()))
            .into_iter()
            .map(|manifest| {
                let json = std::fs::read_to_string(&manifest).unwrap_or_default();
                let library = library_path(&json).is_some_and(|l| libraries.has(&l, &manifest));
                let state = state(&manifest, library, gpu);
                Driver { manifest, state }
            })
            .collect();
        Self {
            loader: libraries.has("libvulkan.so.1", Path::new("")),
            drivers,
        }
    }

    /// Whether a driver can start.
    pub(crate) fn has_adapter(&self) -> bool {
        let starts = |d: &Driver| matches!(d.state, State::Gpu | State::Software);
        self.loader && self.drivers.iter().any(starts)
    }

    /// Whether a GPU's driver can start.
    pub(crate) fn has_gpu(&self) -> bool {
        self.loader && self.drivers.iter().any(|d| matches!(d.state, State::Gpu))
    }

    /// The manifest of Mesa's software driver, if this driver can start.
    pub(crate) fn lavapipe(&self) -> Option<&Path> {
        let found = self.drivers.iter().find(|driver| {
            driver.state == State::Software && file_name(&driver.manifest).starts_with("lvp_icd")
        });
        found.filter(|_| self.loader).map(|d| d.manifest.as_path())
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = if self.loader {
            "found"
        } else {
            "none (libvulkan.so.1)"
        };
        write!(f, "Vulkan loader: {found}; drivers:")?;
        if self.drivers.is_empty() {
            write!(f, " none")?;
        }
        for Driver { manifest, state } in &self.drivers {
            let state = match state {
                State::Gpu => "GPU",
                State::Software => "software",
                State::NoGpu => "no GPU here",
                State::NoLibrary => "its library is missing",
            };
            write!(f, "\n  {} ({state})", manifest.display())?;
        }
        Ok(())
    }
}

/// Whether Linux has a node of a GPU. A display alone (`/dev/dri/card0` of a virtual machine) is not a GPU.
fn has_gpu_node() -> bool {
    let render = |file: std::fs::DirEntry| file_name(&file.path()).starts_with("renderD");
    let nodes = ["/dev/nvidiactl", "/dev/dxg", "/dev/kgsl-3d0", "/dev/mali0"];
    std::fs::read_dir("/dev/dri")
        .into_iter()
        .flatten()
        .flatten()
        .any(render)
        || nodes.iter().any(|node| Path::new(node).exists())
}

fn state(manifest: &Path, library: bool, gpu: bool) -> State {
    let name = file_name(manifest);
    if !library {
        State::NoLibrary
    } else if name.starts_with("lvp_icd") || name.contains("swiftshader") {
        State::Software
    } else if gpu {
        State::Gpu
    } else {
        State::NoGpu
    }
}

/// The files or folders where the loader looks for manifests. `var` reads the environment.
fn search_path(var: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let list = |value: String| env::split_paths(&value).collect::<Vec<_>>();
    if let Some(value) = OVERRIDES.iter().find_map(|name| var(name)) {
        return list(value);
    }
    let home = PathBuf::from(var("HOME").unwrap_or_default());
    let mut bases = vec![var("XDG_CONFIG_HOME").map_or(home.join(".config"), PathBuf::from)];
    bases.extend(list(var("XDG_CONFIG_DIRS").unwrap_or("/etc/xdg".into())));
    bases.extend(["/usr/local/etc", "/etc"].map(PathBuf::from));
    bases.push(var("XDG_DATA_HOME").map_or(home.join(".local/share"), PathBuf::from));
    let data = var("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share".into());
    bases.extend(list(data));
    // NixOS keeps the drivers of the running system here.
    bases.push("/run/opengl-driver/share".into());
    bases.iter().map(|base| base.join("vulkan/icd.d")).collect()
}

/// The manifests in `path`, which holds files and folders.
fn manifests(path: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in path {
        if place.is_file() {
            found.push(place.clone());
        }
        let files = std::fs::read_dir(place).into_iter().flatten().flatten();
        let mut files: Vec<_> = files.map(|file| file.path()).collect();
        files.retain(|file| file.extension().is_some_and(|ext| ext == "json"));
        files.sort();
        found.extend(files);
    }
    found
}

/// The library that a manifest names.
fn library_path(json: &str) -> Option<String> {
    let manifest: Value = serde_json::from_str(json).ok()?;
    Some(manifest["ICD"]["library_path"].as_str()?.to_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
#[path = "vulkan_tests.rs"]
mod tests;
