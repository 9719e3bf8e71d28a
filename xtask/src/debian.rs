//! Debian's packages, downloaded and unpacked where they do not touch the system.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::drivers::as_root;
use crate::process::{in_path, run};

/// The tree of files that the packages have, in `folder`. Those that are there already are not downloaded.
pub(crate) fn unpack(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let tree = folder.join("tree");
    if tree.is_dir() {
        return Ok(tree);
    }
    if !in_path("apt-get") || !in_path("dpkg-deb") {
        let packages = packages.join(" ");
        return Err(format!(
            "Debian's packages {packages} are downloaded and unpacked: needs apt-get and dpkg-deb"
        ));
    }
    let io = |error: std::io::Error| format!("{}: {error}", folder.display());
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(io)?;
    let download = || {
        run(Command::new("apt-get")
            .arg("download")
            .args(packages)
            .current_dir(folder))
    };
    download().or_else(|_| {
        run(&mut as_root(&["apt-get", "update"]))?;
        download()
    })?;
    // The name that is returned marks success.
    let unfinished = folder.join("unfinished");
    for file in fs::read_dir(folder).map_err(io)?.flatten() {
        let path = file.path();
        if path.extension().is_some_and(|ext| ext == "deb") {
            run(Command::new("dpkg-deb")
                .arg("-x")
                .arg(&path)
                .arg(&unfinished))?;
            fs::remove_file(&path).map_err(io)?;
        }
    }
    fs::rename(unfinished, &tree).map_err(io)?;
    Ok(tree)
}
