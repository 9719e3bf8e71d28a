//! A copy of the sources, in which other commands make mistakes on purpose.
//!
//! It is built in a folder of its own. Cargo names artifacts by paths relative to the workspace and judges them by the times of
//! files: in one folder, those of the copy and of the sources would be taken for each other.

use std::fs;
use std::path::PathBuf;

use crate::Result;
use crate::process::{output, root, target_dir};

/// Where the copy is, and where it is built.
pub(crate) struct Copy {
    pub(crate) tree: PathBuf,
    pub(crate) target: PathBuf,
}

/// Brings the copy up to date with what git tracks or would track. A file that did not change keeps its time, so that cargo
/// builds it no second time.
pub(crate) fn copy_sources() -> Result<Copy> {
    let folder = target_dir().join("mistakes");
    let copy = Copy {
        tree: folder.join("tree"),
        target: folder.join("target"),
    };
    let listed = output(
        "git",
        &[
            "-C",
            &root().to_string_lossy(),
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
        ],
    );
    if listed.is_empty() {
        return Err("git lists no files: the copy is made of what it tracks".into());
    }
    for name in listed.lines() {
        let (from, to) = (root().join(name), copy.tree.join(name));
        let error = |e: std::io::Error| format!("{}: {e}", to.display());
        let Ok(bytes) = fs::read(&from) else {
            // Listed, yet deleted in the working tree.
            let _ = fs::remove_file(&to);
            continue;
        };
        if fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(error)?;
        }
        fs::write(&to, bytes).map_err(error)?;
    }
    Ok(copy)
}
