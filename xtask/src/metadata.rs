//! What cargo knows of a workspace: its packages, with their features and targets.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use crate::Result;
use crate::process::{cargo, line_of};

/// The packages of the workspace in `tree`, as `cargo metadata` describes them.
pub(crate) fn packages(tree: &Path) -> Result<Vec<Value>> {
    let mut command = cargo(&["metadata", "--no-deps", "--format-version", "1"]);
    let out = command.current_dir(tree).output()?;
    let text = String::from_utf8_lossy(&out.stderr);
    let mut all: Value = serde_json::from_slice(&out.stdout)
        .with_context(|| format!("`{}`: {text}", line_of(&command)))?;
    let packages = all["packages"].as_array_mut().map(std::mem::take);
    packages.with_context(|| format!("no package in {}", tree.display()))
}

/// The names of the targets of a kind, `test` or `bench`, in order. `is_wanted` sees a target's required features.
pub(crate) fn targets(
    packages: &[Value],
    kind: &str,
    is_wanted: impl Fn(&[Value]) -> bool,
) -> Vec<String> {
    let targets = packages.iter().filter_map(|p| p["targets"].as_array());
    let mut names: Vec<String> = targets
        .flatten()
        .filter(|target| target["kind"][0] == kind)
        .filter(|target| is_wanted(target["required-features"].as_array().map_or(&[], |v| v)))
        .filter_map(|target| Some(target["name"].as_str()?.to_owned()))
        .collect();
    names.sort();
    names
}
