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

/// The folders where the loader looks for manifests, besides those of the user. NixOS has the last one.
const FOLDERS: [&str; 6] = [
    "/etc/xdg",
    "/usr/local/etc",
    "/etc",
    "/usr/local/share",
    "/usr/share",
    "/run/opengl-driver/share",
];

/// The nodes of GPUs besides those in `/dev/dri`.
const NODES: [&str; 4] = ["/dev/nvidiactl", "/dev/dxg", "/dev/kgsl-3d0", "/dev/mali0"];

/// Why a driver can or cannot start.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Gpu,
    Software,
    NoGpu,
    NoLibrary,
}

/// What the machine has.
pub(crate) struct Machine {
    loader: bool,
    /// The manifests.
    drivers: Vec<(PathBuf, State)>,
}

impl Machine {
    /// Looks into the folders that the loader would read.
    pub(crate) fn look() -> Self {
        let libraries = Libraries::look();
        let gpu = has_gpu_node();
        let driver = |manifest: PathBuf| {
            let json = std::fs::read_to_string(&manifest).unwrap_or_default();
            let library = library_path(&json).is_some_and(|l| libraries.has(&l, &manifest));
            let state = state(&manifest, library, gpu);
            (manifest, state)
        };
        let path = search_path(|name| env::var(name).ok());
        Self {
            loader: libraries.has("libvulkan.so.1", Path::new("")),
            drivers: manifests(&path).into_iter().map(driver).collect(),
        }
    }

    fn find(&self, is_it: impl Fn(&Path, State) -> bool) -> Option<&Path> {
        let mut drivers = self.drivers.iter().filter(|_| self.loader);
        let found = drivers.find(|(manifest, state)| is_it(manifest, *state));
        found.map(|(manifest, _)| manifest.as_path())
    }

    /// Whether a driver can start.
    pub(crate) fn has_adapter(&self) -> bool {
        let starts = |_: &Path, state| matches!(state, State::Gpu | State::Software);
        self.find(starts).is_some()
    }

    /// Whether a GPU's driver can start.
    pub(crate) fn has_gpu(&self) -> bool {
        self.find(|_, state| state == State::Gpu).is_some()
    }

    /// The manifest of Mesa's software driver, if this driver can start.
    pub(crate) fn lavapipe(&self) -> Option<&Path> {
        self.find(|manifest, state| {
            state == State::Software && file_name(manifest).starts_with("lvp_icd")
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = if self.loader {
            "found"
        } else {
            "none (libvulkan.so.1)"
        };
        let drivers = if self.drivers.is_empty() { " none" } else { "" };
        write!(f, "Vulkan loader: {found}; drivers:{drivers}")?;
        for (manifest, state) in &self.drivers {
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
    let mut files = std::fs::read_dir("/dev/dri")
        .into_iter()
        .flatten()
        .flatten();
    files.any(|file| file_name(&file.path()).starts_with("renderD"))
        || NODES.iter().any(|node| Path::new(node).exists())
}

fn state(manifest: &Path, library: bool, gpu: bool) -> State {
    let name = file_name(manifest);
    match (library, gpu) {
        (false, _) => State::NoLibrary,
        _ if name.starts_with("lvp_icd") || name.contains("swiftshader") => State::Software,
        (true, true) => State::Gpu,
        (true, false) => State::NoGpu,
    }
}

/// The files or folders where the loader looks for manifests. `var` reads the environment.
fn search_path(var: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    if let Some(value) = OVERRIDES.iter().find_map(|name| var(name)) {
        return env::split_paths(&value).collect();
    }
    let home = var("HOME").map(|home| PathBuf::from(home).join(".config"));
    let user = var("XDG_CONFIG_HOME").map(PathBuf::from).or(home);
    let more = ["XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS"]
        .map(|name| var(name).unwrap_or_default());
    let more: Vec<PathBuf> = more
        .iter()
        .flat_map(|value| env::split_paths(value))
        .collect();
    let bases = user
        .into_iter()
        .chain(more)
        .chain(FOLDERS.map(PathBuf::from));
    bases.map(|base| base.join("vulkan/icd.d")).collect()
}

/// The manifests in `path`, which holds files and folders.
fn manifests(path: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in path {
        found.extend(place.is_file().then(|| place.clone()));
        let files = std::fs::read_dir(place).into_iter().flatten().flatten();
        let mut files: Vec<_> = files.map(|file| file.path()).collect();
        files.retain(|file| {
            file.extension().is_some_and(|ext| ext == "json") && !found.contains(file)
        });
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
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_driver_needs_a_gpu_and_any_driver_its_library() {
        let state = |name: &str, library, gpu| super::state(Path::new(name), library, gpu);
        assert_eq!(state("/x/radeon_icd.x86_64.json", true, true), State::Gpu);
        assert_eq!(
            state("/x/radeon_icd.x86_64.json", true, false),
            State::NoGpu
        );
        assert_eq!(
            state("/x/lvp_icd.x86_64.json", true, false),
            State::Software
        );
        assert_eq!(
            state("/x/lvp_icd.x86_64.json", false, false),
            State::NoLibrary
        );
        let json = r#"{ "ICD": { "api_version": "1.3", "library_path": "/usr/lib/a.so" } }"#;
        assert_eq!(library_path(json).as_deref(), Some("/usr/lib/a.so"));
    }

    #[test]
    fn no_loader_means_no_adapter() {
        let lavapipe = || vec![(PathBuf::from("/x/lvp_icd.json"), State::Software)];
        for loader in [false, true] {
            let machine = Machine {
                loader,
                drivers: lavapipe(),
            };
            assert_eq!(machine.has_adapter(), loader);
            assert_eq!(machine.lavapipe().is_some(), loader);
        }
        let drivers = vec![(PathBuf::from("/x/radeon_icd.json"), State::NoGpu)];
        let machine = Machine {
            loader: true,
            drivers,
        };
        assert!(!machine.has_adapter() && machine.lavapipe().is_none());
        assert!(
            machine
                .to_string()
                .contains("radeon_icd.json (no GPU here)")
        );
    }

    #[test]
    fn overrides_replace_the_folders() {
        let set = |name: &str| (name == "VK_ICD_FILENAMES").then(|| "/a.json:/b".to_owned());
        assert_eq!(search_path(set), [Path::new("/a.json"), Path::new("/b")]);
        let folders = search_path(|name| (name == "HOME").then(|| "/home/me".to_owned()));
        for folder in [
            "/etc/vulkan/icd.d",
            "/usr/share/vulkan/icd.d",
            "/home/me/.config/vulkan/icd.d",
        ] {
            assert!(folders.iter().any(|f| f == Path::new(folder)), "{folder}");
        }
    }
}
