//! The revision that a change is compared with, checked out and built beside the workspace.
//!
//! Without `--against` it is the commit that the change stands on. That is the commit where the branch left `main`. On
//! `main` it is the last commit if the working tree differs from it, or else the one before.

use std::process::Command;

use anyhow::Context;

use crate::Result;
use crate::copy::Copy;
use crate::process::{output, root, run};

/// The full hash of `given`, or of the commit that the change stands on.
pub(crate) fn revision(given: Option<&str>) -> Result<String> {
    if let Some(given) = given {
        return commit(given).with_context(|| format!("git knows no revision `{given}`"));
    }
    let head = commit("HEAD")
        .context("--check compares with another revision, and this is no git repository")?;
    let branches = ["origin/HEAD", "origin/main", "main"];
    let left = branches
        .iter()
        .find_map(|main| commit(&git(&["merge-base", "HEAD", main])));
    stands_on(&head, left, !git(&["status", "--porcelain"]).is_empty())
        .or_else(|| commit("HEAD~1"))
        .context("there is no commit before this one to compare with (a shallow clone?)")
}

/// `None` means the commit before `head`.
fn stands_on(head: &str, left: Option<String>, changed: bool) -> Option<String> {
    let left = left.filter(|left| left != head);
    left.or_else(|| changed.then(|| head.to_owned()))
}

/// The revision's sources. The build products of the last check lie beside them.
pub(crate) fn checkout(revision: &str) -> Result<Copy> {
    let copy = Copy::new("report/base");
    if !copy.tree.join(".git").is_dir() {
        // The clone shares the objects of this repository, and leaves nothing behind in it.
        let clone = ["clone", "--shared", "--no-checkout", "--quiet"];
        run(Command::new("git").args(clone).arg(root()).arg(&copy.tree))?;
    }
    run(Command::new("git")
        .arg("-C")
        .arg(&copy.tree)
        .args(["checkout", "--force", "--quiet", "--detach", revision]))?;
    Ok(copy)
}

/// The full hash of a commit.
fn commit(name: &str) -> Option<String> {
    let name = format!("{name}^{{commit}}");
    Some(git(&["rev-parse", "--verify", "--quiet", &name])).filter(|hash| !hash.is_empty())
}

fn git(args: &[&str]) -> String {
    let root = root();
    let root = root.to_string_lossy();
    output("git", &[&["-C", &root], args].concat())
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::stands_on;

    #[test]
    fn a_branch_a_change_or_the_last_commit() {
        let left = || Some("left".to_owned());
        assert_eq!(stands_on("head", left(), true), left());
        assert_eq!(stands_on("head", left(), false), left());
        assert_eq!(stands_on("left", left(), true), left());
        assert_eq!(stands_on("left", left(), false), None);
        assert_eq!(stands_on("head", None, false), None);
    }
}
