//! Copies of the sources, which other commands change.
//!
//! A copy is built in a folder of its own. Cargo names artifacts by paths relative to the workspace and judges them by
//! the times of files. In one folder, cargo would take those of the copy for those of the sources.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use fs_err as fs;
use walkdir::WalkDir;

use crate::Result;
use crate::process::{output, root, target_dir};

/// The manifest of [`copy_engine`]. The workspace's lock file names the versions.
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

/// The root of [`copy_engine`].
const ENGINE_ROOT: &str = "#![allow(dead_code, unused_imports, unexpected_cfgs)]
mod cpu;
mod refusal;
mod scan_op;
use scan_op::ScanOp;
";

/// Where the copy is, and where cargo builds it.
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

/// The sources in `target/NAME`: every file that git tracks or would track.
pub(crate) fn copy_tree(name: &str) -> Result<Copy> {
    let copy = Copy::new(name);
    let names = listed(".")?;
    for name in &names {
        bring(name, &copy.tree.join(name))?;
    }
    forget_others(&copy.tree, &names)?;
    Ok(copy)
}

/// The copy in which other commands make mistakes on purpose.
pub(crate) fn copy_sources() -> Result<Copy> {
    copy_tree("mistakes")
}

/// The CPU engine as a crate of its own. It depends on nothing of Burn, and alone it builds in seconds.
pub(crate) fn copy_engine() -> Result<Copy> {
    let copy = Copy::new("engine");
    for name in listed("src/cpu")? {
        bring(&name, &copy.tree.join(&name))?;
    }
    bring("src/refusal.rs", &copy.tree.join("src/refusal.rs"))?;
    bring("src/options/scan_op.rs", &copy.tree.join("src/scan_op.rs"))?;
    bring("Cargo.lock", &copy.tree.join("Cargo.lock"))?;
    write(&copy.tree.join("Cargo.toml"), ENGINE_MANIFEST.as_bytes())?;
    write(&copy.tree.join("src/lib.rs"), ENGINE_ROOT.as_bytes())?;
    Ok(copy)
}

/// The files under a folder that git tracks or would track.
fn listed(folder: &str) -> Result<Vec<String>> {
    let root = root();
    let root = root.to_string_lossy();
    let line = ["-C", &root, "ls-files", "--cached", "--others"];
    let listed = output(
        "git",
        &[&line, &["--exclude-standard", folder][..]].concat(),
    );
    ensure!(
        !listed.is_empty(),
        "git lists no files: the copy is made of what it tracks"
    );
    Ok(listed.lines().map(str::to_owned).collect())
}

/// Copies a file of the workspace. A listed file that the working tree no longer has is deleted in the copy.
fn bring(name: &str, to: &Path) -> Result<()> {
    match fs::read(root().join(name)) {
        Ok(bytes) => write(to, &bytes),
        Err(_) => {
            let _ = fs::remove_file(to);
            Ok(())
        }
    }
}

/// Deletes the files of a copy that are no longer listed. Cargo would build a moved test twice.
fn forget_others(tree: &Path, names: &[String]) -> Result<()> {
    let listed: HashSet<PathBuf> = names.iter().map(|name| tree.join(name)).collect();
    for entry in WalkDir::new(tree) {
        let entry = entry?;
        if !entry.file_type().is_dir() && !listed.contains(entry.path()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Writes a file. One that holds the same already keeps its time, so that cargo does not build it again.
pub(crate) fn write(to: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(to, bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_has_what_it_depends_on() {
        // Git lists a file that is deleted and not yet committed.
        let read = |name: &str| fs::read_to_string(root().join(name)).unwrap_or_default();
        let files = listed("src/cpu").unwrap();
        let code: String = files.iter().map(|name| read(name)).collect();
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

        let lines = code.lines().map(str::trim_start);
        let lines = lines.filter(|line| !line.starts_with("//"));
        let mut items = 0;
        for rest in lines.flat_map(|line| line.split("crate::").skip(1)) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            let name = &rest[..end.unwrap_or(rest.len())];
            let [item, module] = [format!("::{name};"), format!("mod {name};")];
            assert!(
                ENGINE_ROOT.contains(&item) || ENGINE_ROOT.contains(&module),
                "crate::{name}"
            );
            items += 1;
        }
        assert!(items >= 2, "ScanOp and refusal at least");
    }
}
