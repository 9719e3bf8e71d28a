//! What adding this crate changes in a program of Burn: `Device::default()` goes by the back ends that Burn was built
//! with, so no feature of Burn may be turned on that the program does not name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What this crate does turn on: Burn's door for backend extensions, and Flex as Burn's own defaults have it.
const TURNED_ON: [(&str, &str); 3] = [
    ("burn", "extension"),
    ("burn-flex", "rayon"),
    ("burn-flex", "simd"),
];

/// The packages of a program on Flex, and their features.
fn packages(this_crate: Option<&str>) -> BTreeMap<String, Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = fs::canonicalize(root).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let burn = r#"burn = { version = "*", default-features = false, features = ["std", "flex"] }"#;
    let added = this_crate.map_or(String::new(), |features| {
        format!("burn-scan = {{ path = {root:?}, features = [{features}] }}")
    });
    let package = "[package]\nname = \"program\"\nedition = \"2024\"\n[workspace]\n[dependencies]";
    let manifest = format!("{package}\n{burn}\n{added}\n");
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/main.rs"), "fn main() {}\n").unwrap();
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .current_dir(folder.path())
        .args(["tree", "--offline", "--edges", "normal,build"])
        .args(["--prefix", "none", "--format", "{p}\t{f}\t"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().filter_map(package_of).collect()
}

/// A line of `cargo tree`: the name and the version of a package, and its features.
fn package_of(line: &str) -> Option<(String, Vec<String>)> {
    let mut fields = line.split('\t');
    let name = fields.next()?.split(' ').next()?;
    let features = fields.next()?;
    let features = features.split(',').filter(|name| !name.is_empty());
    Some((name.to_owned(), features.map(str::to_owned).collect()))
}

/// The features of Burn that a program has with this crate only.
fn turned_on(features_of_this_crate: &str) -> Vec<(String, String)> {
    let without = packages(None);
    let with = packages(Some(features_of_this_crate));
    assert!(with.contains_key("burn-scan") && without.contains_key("burn-flex"));
    let of_burn = with
        .iter()
        .filter(|(name, _)| name.starts_with("burn") && *name != "burn-scan");
    let features = of_burn.flat_map(|(name, features)| {
        let before = without.get(name).cloned().unwrap_or_default();
        let new = features.iter().filter(move |name| !before.contains(name));
        new.map(|feature| (name.clone(), feature.clone()))
    });
    features.collect()
}

#[test]
fn adding_this_crate_turns_no_back_end_of_burn_on() {
    let allowed = TURNED_ON.map(|(name, feature)| (name.to_owned(), feature.to_owned()));
    assert_eq!(turned_on(r#""flex""#), allowed);
    assert_eq!(turned_on(""), [allowed[0].clone()]);
}

#[test]
fn a_back_end_that_is_turned_on_is_found() {
    let dispatch = ("burn-dispatch".to_owned(), "wgpu".to_owned());
    assert!(turned_on(r#""flex", "wgpu""#).contains(&dispatch));
}
