//! Debian's packages, downloaded and unpacked into a folder of their own. The system stays as it is.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::ensure;
use fs_err as fs;

use crate::Result;
use crate::drivers::update_lists;
use crate::process::{in_path, run};

/// Downloads packages and unpacks them in `folder`, once. Returns the tree of their files.
pub(crate) fn unpack(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let tree = folder.join("tree");
    if tree.is_dir() {
        return Ok(tree);
    }
    ensure!(
        in_path("apt-get") && in_path("dpkg-deb"),
        "Debian's packages {} are downloaded and unpacked: needs apt-get and dpkg-deb",
        packages.join(" ")
    );
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let download = || {
        let mut command = Command::new("apt-get");
        command.arg("download").args(packages).current_dir(folder);
        run(&mut command)
    };
    download().or_else(|_| {
        update_lists()?;
        download()
    })?;
    // The name that is returned marks success.
    let unfinished = folder.join("unfinished");
    for file in fs::read_dir(folder)?.flatten() {
        let path = file.path();
        if path.extension().is_some_and(|ext| ext == "deb") {
            let mut command = Command::new("dpkg-deb");
            run(command.arg("-x").arg(&path).arg(&unfinished))?;
            fs::remove_file(&path)?;
        }
    }
    fs::rename(unfinished, &tree)?;
    Ok(tree)
}
