//! Checks that the record has every kernel that the sources launch.

use super::record::record;
use std::fs;
use std::path::Path;

/// Asserts that all kernels are recorded.
pub fn assert_all_recorded() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    if !sources.is_dir() {
        scan_testing::unsupported("no sources here, so no list of kernels to compare with");
        return;
    }
    let recorded = record().groups();
    let mut missing = entry_kernels(&sources);
    missing.retain(|kernel| !recorded.contains(kernel));
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
