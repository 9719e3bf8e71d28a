//! The rules for the layout of the code that no lint holds.

#[allow(dead_code, reason = "the tests of the documents use all of it")]
#[path = "../documents/markdown.rs"]
mod markdown;
mod modules;
mod neighbours;
#[allow(dead_code, reason = "the tests of the documents use all of it")]
#[path = "../documents/tree.rs"]
mod tree;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tree::Tree;

/// The two libraries, and the folders of their sources.
const LIBRARIES: [(&str, &str); 2] = [("burn-scan", "src/"), ("cubecl-scan", "kernels/src/")];

const MOST_LINES: usize = 400;

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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (library, folder) in LIBRARIES {
        let circles = circles(&root.join(folder));
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
    let tree = Tree::read();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".rs")) {
        let lines = file.text.lines().count();
        assert!(lines <= MOST_LINES, "{}: {lines} lines", file.path);
    }
}

/// A dependency that no source names would still be built by every user of the library.
#[test]
fn every_dependency_of_a_library_is_used() {
    let tree = Tree::read();
    for (library, folder) in LIBRARIES {
        let sources = tree
            .files
            .iter()
            .filter(|file| file.path.starts_with(folder));
        let text: String = sources.map(|file| file.text.as_str()).collect();
        let is_it = |package: &&serde_json::Value| package["name"] == library;
        let package = tree.packages.iter().find(is_it).unwrap();
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            let is_always_built = dependency["kind"].is_null() && dependency["optional"] == false;
            let is_used = text.contains(&format!("{}::", name.replace('-', "_")));
            assert!(is_used || !is_always_built, "{library} does not use {name}");
        }
    }
}
