//! Copies of the sources, in which other commands make mistakes on purpose.
//!
//! A copy is built in a folder of its own. Cargo names artifacts by paths relative to the workspace and judges them by the times of
//! files: in one folder, those of the copy and of the sources would be taken for each other.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::process::{output, root, target_dir};

/// The manifest of [`copy_engine`]; the versions are those of the workspace's lock file.
const ENGINE_MANIFEST: &str = r#"[package]
name = "engine"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
bytemuck = { version = "*", features = ["extern_crate_alloc"] }
half = { version = "*", default-features = false, features = ["bytemuck", "std"] }
libc = "*"
rayon = "*"

[profile.dev]
opt-level = 2
"#;

/// Where the copy is, and where it is built.
pub(crate) struct Copy {
    pub(crate) tree: PathBuf,
    pub(crate) target: PathBuf,
}

impl Copy {
    pub(crate) fn new(name: &str) -> Self {
        let folder = target_dir().join(name);
        Self {
            tree: folder.join("tree"),
            target: folder.join("target"),
        }
    }
}

/// Everything that git tracks or would track.
pub(crate) fn copy_sources() -> Result<Copy> {
    let copy = Copy::new("mistakes");
    let names = listed(".")?;
    for name in &names {
        bring(name, &copy.tree.join(name))?;
    }
    forget_others(&copy.tree, &names)?;
    Ok(copy)
}

/// The CPU engine as a crate of its own. It depends on nothing of Burn, and alone it builds in seconds.
pub(crate) fn copy_engine() -> Result<Copy> {
    let copy = Copy::new("engine");
    for name in listed("src/cpu")? {
        bring(&name, &copy.tree.join(&name))?;
    }
    bring("Cargo.lock", &copy.tree.join("Cargo.lock"))?;
    write(&copy.tree.join("Cargo.toml"), ENGINE_MANIFEST.as_bytes())?;
    let root = b"#![allow(dead_code, unused_imports)]\nmod cpu;\n";
    write(&copy.tree.join("src/lib.rs"), root)?;
    Ok(copy)
}

/// The files under a folder that git tracks or would track.
fn listed(folder: &str) -> Result<Vec<String>> {
    let root = root();
    let listed = output(
        "git",
        &[
            "-C",
            &root.to_string_lossy(),
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            folder,
        ],
    );
    if listed.is_empty() {
        return Err("git lists no files: the copy is made of what it tracks".into());
    }
    Ok(listed.lines().map(str::to_owned).collect())
}

/// Copies a file of the workspace; one that is listed, yet deleted in the working tree, is deleted in the copy.
fn bring(name: &str, to: &Path) -> Result<()> {
    match fs::read(root().join(name)) {
        Ok(bytes) => write(to, &bytes),
        Err(_) => {
            let _ = fs::remove_file(to);
            Ok(())
        }
    }
}

/// Deletes the files of a copy that are no longer listed: moved tests would be built twice.
fn forget_others(tree: &Path, names: &[String]) -> Result<()> {
    let listed: HashSet<PathBuf> = names.iter().map(|name| tree.join(name)).collect();
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if !listed.contains(&path) {
                fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            }
        }
    }
    Ok(())
}

/// A file that holds the same already keeps its time, so that cargo builds it no second time.
fn write(to: &Path, bytes: &[u8]) -> Result<()> {
    let error = |e: std::io::Error| format!("{}: {e}", to.display());
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(error)?;
    }
    fs::write(to, bytes).map_err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_has_what_it_depends_on() {
        let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
        let code: String = listed("src/cpu")
            .unwrap()
            .iter()
            .map(|name| read(name))
            .collect();
        let manifest = read("Cargo.toml");
        let dependencies = manifest
            .lines()
            .filter(|line| line.contains("workspace = true"))
            .filter_map(|line| line.split_once(" = "));
        let mut found = 0;
        for (name, _) in dependencies {
            let module = format!("{}::", name.replace('-', "_"));
            if code.contains(&module) {
                found += 1;
                let line = format!("\n{name} = ");
                assert!(ENGINE_MANIFEST.contains(&line), "{name}");
            }
        }
        assert!(found >= 3, "half, libc and rayon at least");
    }
}
