//! Checks that the record has every kernel that the sources launch.

#![allow(dead_code, reason = "a browser may have a GPU or none")]

use super::record::record;
use std::fs;
use std::path::Path;

/// The per-unit kernels, for devices that are no GPU. A GPU compacts and groups in other kernels.
const ON_NO_GPU: [&str; 12] = [
    "count_runs",
    "write_runs",
    "count_keys",
    "place_keys",
    "heads",
    "runs",
    "tail",
    "ids",
    "repeat",
    "identities",
    "parts",
    "crossing",
];

pub fn assert_all_of_a_gpu_recorded() {
    assert_all_recorded_but(&ON_NO_GPU);
}

pub fn assert_all_recorded() {
    assert_all_recorded_but(&[]);
}

/// Asserts that all kernels are recorded, except `never`: those that a device of this kind never runs.
fn assert_all_recorded_but(never: &[&str]) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    if !sources.is_dir() {
        cubecl_scan::testing::unsupported("no sources here, so no list of kernels to compare with");
        return;
    }
    let recorded = record().groups();
    let mut missing = entry_kernels(&sources);
    missing.retain(|kernel| !recorded.contains(kernel) && !never.contains(&kernel.as_str()));
    assert!(missing.is_empty(), "no case launches {missing:?}");
}

/// The kernels that the sources in a folder launch, without the suffix of their names.
fn entry_kernels(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            found.extend(entry_kernels(&path));
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        let names = text.split("#[cube(launch").skip(1);
        let names = names.filter_map(|after| after.split_once("fn ")?.1.split(['<', '(']).next());
        found.extend(names.filter_map(|name| Some(name.strip_suffix("_kernel")?.to_owned())));
    }
    found
}
