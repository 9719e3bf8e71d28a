//! The rules for the layout of the code that no lint holds.

#[allow(dead_code, reason = "the tests of the documents use all of it")]
#[path = "../documents/markdown.rs"]
mod markdown;
mod modules;
mod neighbours;
#[allow(dead_code, reason = "the tests of the documents use all of it")]
#[path = "../documents/tree.rs"]
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tree::Tree;

/// The two libraries, and the folders of their sources.
const LIBRARIES: [(&str, &str); 2] = [("burn-scan", "src/"), ("cubecl-scan", "kernels/src/")];

const MOST_LINES: usize = 400;

/// Modules that name each other in a circle, and those between two circles. A module that names no other is in none,
/// nor is one that no other names. They are taken away until nothing changes.
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

/// Types that both libraries have to offer under one name. Those of the kernels are values of CubeCL's compile time,
/// which a program without CubeCL must not have to build; those of the tensors know log-sum-exp as well.
const IN_BOTH: [&str; 3] = ["ScanOp", "ScanOptions", "SortOrder"];

/// Types that rustdoc alone sees.
const TWICE: [&str; 1] = ["Readme"];

/// The types that a source declares for other modules, and whether all of the library sees them.
fn types(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.lines().filter_map(|line| {
        let line = line.trim_start();
        let (of_all, rest) = if let Some(rest) = line.strip_prefix("pub ") {
            (true, rest)
        } else {
            let (seen_by, rest) = line.strip_prefix("pub(")?.split_once(") ")?;
            (seen_by == "crate", rest)
        };
        let (what, name) = rest.split_once(' ')?;
        let is_type = ["struct", "enum", "trait", "type", "union"].contains(&what);
        let end = name.find(|sign: char| !sign.is_alphanumeric() && sign != '_');
        let name = &name[..end.unwrap_or(name.len())];
        // A macro may name it.
        (is_type && !name.is_empty()).then_some((name, of_all))
    })
}

/// The names that several types have: within a library, or as far as all of it sees them, in the other one, too.
fn shared_names(sources: &[(&str, &str, &str)]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<(&str, &str, bool)>> = BTreeMap::new();
    for (library, path, text) in sources {
        for (name, of_all) in types(text) {
            places
                .entry(name)
                .or_default()
                .push((library, path, of_all));
        }
    }
    let clash = |name: &str, one: &(&str, &str, bool), other: &(&str, &str, bool)| {
        let is_in_both = one.2 && other.2 && !IN_BOTH.contains(&name);
        !TWICE.contains(&name) && (one.0 == other.0 || is_in_both)
    };
    let mut clashes = Vec::new();
    for (name, places) in places {
        for (at, one) in places.iter().enumerate() {
            let others = places[at + 1..].iter();
            let others = others.filter(|other| clash(name, one, other));
            clashes.extend(others.map(|other| format!("{name} in {} and {}", one.1, other.1)));
        }
    }
    clashes
}

#[test]
fn a_type_has_a_name_of_its_own() {
    let tree = Tree::read();
    let mut sources = Vec::new();
    for (library, folder) in LIBRARIES {
        let files = tree.files.iter().filter(|file| file.path.ends_with(".rs"));
        let files = files.filter(|file| file.path.starts_with(folder));
        sources.extend(files.map(|file| (library, file.path.as_str(), file.text.as_str())));
    }
    let clashes = shared_names(&sources);
    assert!(clashes.is_empty(), "types of one name: {clashes:#?}");
    let counted: usize = sources.iter().map(|source| types(source.2).count()).sum();
    assert!(counted > 200, "only {counted} types were found");
}

#[test]
fn types_of_one_name_are_found() {
    let of = |library, text| (library, text, text);
    let one = "pub(super) struct Line<'a>(&'a str);";
    let other = "    pub(crate) enum Line {";
    assert_eq!(shared_names(&[of("a", one), of("a", other)]).len(), 1);
    assert_eq!(shared_names(&[of("a", one), of("b", other)]).len(), 0);
    assert_eq!(
        shared_names(&[of("a", "pub trait Line: Sync {"), of("b", other)]).len(),
        1
    );
    assert_eq!(
        shared_names(&[of("a", "pub struct ScanOp;"), of("b", "pub enum ScanOp {")]).len(),
        0
    );
    assert_eq!(
        shared_names(&[
            of("a", "struct Line;"),
            of("a", "pub fn line() {}"),
            of("a", one)
        ])
        .len(),
        0
    );
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
