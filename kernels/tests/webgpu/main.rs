//! Everything this crate asks of a browser's WebGPU device, written down for `cargo xtask test-webgpu` to run there.
//!
//! The crate's own functions are called on a CubeCL device ([`device`]) that compiles every kernel to WGSL and runs none: it
//! records modules, buffers, writes, bindings, scalars and grids, in the order and with the contents that a browser would be
//! given. Beside each case stands what the plain loops of `reference` return. Three devices are played: one without plane operations,
//! one with planes of 4, which Chromium's SwiftShader has, and one with planes of 8 to 128, whose kernels are compiled only.
//!
//! Natively this asserts that every kernel of the crate is launched, compiles, and keeps to the limits that WebGPU promises
//! everywhere. The record is written where `BURN_SCAN_WEBGPU_RECORD` says.

#[path = "../common/mod.rs"]
mod common;

mod browser;
mod compaction;
mod cubes;
mod device;
mod operators;
mod record;
mod scans;

use browser::Planes;
use std::fs;
use std::path::Path;

#[test]
fn a_record_for_the_browser() {
    for planes in [Planes::None, Planes::OfFour, Planes::Varying] {
        record::record().compile_only = planes == Planes::Varying;
        let client = device::client(planes);
        scans::record(&client, planes);
        operators::record(&client, planes);
        compaction::record(&client, planes);
        cubes::record(&client, planes);
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    if sources.is_dir() {
        let recorded = record::record().groups();
        let mut missing = entry_kernels(&sources);
        missing.retain(|kernel| !recorded.contains(kernel));
        assert!(missing.is_empty(), "no case launches {missing:?}");
    } else {
        cubecl_scan::testing::unsupported("no sources here, so no list of kernels to compare with");
    }
    println!("{}", record::counts());
    if let Some(folder) = std::env::var_os("BURN_SCAN_WEBGPU_RECORD") {
        record::save(Path::new(&folder)).expect("the record can be written");
    }
}

/// The kernels that the sources in a folder launch, without the ending of their names.
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
