//! The rules for the layout of the code that no lint holds.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use walkdir::WalkDir;

/// The source folders of the two libraries.
const LIBRARIES: [&str; 2] = ["src", "kernels/src"];

/// Every folder with code.
const FOLDERS: [&str; 8] = [
    "src",
    "kernels",
    "protocol",
    "tests",
    "benches",
    "examples",
    "xtask/src",
    "xtask/tests",
];

const MOST_LINES: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let files = WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.unwrap().into_path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
}

/// Modules that name each other in a circle, and those between two circles. A module that names no other is in none, nor
/// is one that no other names. They are taken away until nothing changes.
fn circles(root: &Path) -> Vec<String> {
    let mut uses = modules::uses(root);
    loop {
        let before = uses.len();
        let all: BTreeSet<_> = uses.keys().cloned().collect();
        uses.retain(|_, used| used.iter().any(|module| all.contains(module)));
        let used: BTreeSet<_> = uses.values().flatten().cloned().collect();
        uses.retain(|module, _| used.contains(module));
        if uses.len() == before {
            return uses.keys().map(|module| module.join("::")).collect();
        }
    }
}

#[test]
fn no_modules_form_a_circle() {
    for library in LIBRARIES {
        let circles = circles(&root().join(library));
        assert!(circles.is_empty(), "{library}: a circle among {circles:?}");
    }
}

#[test]
fn a_circle_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("lib.rs", "mod one; mod two; mod three;");
    write(
        "one.rs",
        "use super::{three::C, two::B}; pub struct A(B, C);",
    );
    write(
        "two.rs",
        "macro_rules! a { () => { crate::one::A } } pub struct B;",
    );
    write("three.rs", "pub struct C;");
    assert_eq!(circles(folder.path()), ["one", "two"]);
    write("two.rs", "pub struct B;");
    assert!(circles(folder.path()).is_empty());
}

#[test]
fn files_are_short() {
    for file in FOLDERS
        .iter()
        .flat_map(|folder| sources(&root().join(folder)))
    {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MOST_LINES, "{}: {lines} lines", file.display());
    }
}

/// A dependency that no source names would still be built by every user of the library.
#[test]
fn every_dependency_of_a_library_is_used() {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let packages: BTreeMap<&str, &Value> = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["name"].as_str().unwrap(), package))
        .collect();
    for (package, library) in ["burn-scan", "cubecl-scan"].into_iter().zip(LIBRARIES) {
        let texts = sources(&root().join(library)).map(|file| fs::read_to_string(file).unwrap());
        let text: String = texts.collect();
        for dependency in packages[package]["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            let is_always_built = dependency["kind"].is_null() && dependency["optional"] == false;
            let is_used = text.contains(&format!("{}::", name.replace('-', "_")));
            assert!(is_used || !is_always_built, "{package} does not use {name}");
        }
    }
}
