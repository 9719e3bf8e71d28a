//! Everything this crate asks of a browser's WebGPU device, written down for `cargo xtask test-webgpu` to run there.
//!
//! The crate's own functions are called on a CubeCL device ([`server`]) that compiles every kernel to WGSL and runs none: it
//! records modules, buffers, writes, bindings, scalars and grids, in the order and with the contents that a browser would be
//! given. Beside each case stands what the plain loops of `reference` return. Three devices are played: one without plane operations,
//! one with planes of 4, which Chromium's SwiftShader has, and one with planes of 8 to 128, whose kernels are compiled only.
//!
//! Natively this asserts that every kernel of the crate is launched, compiles, and keeps to the limits that WebGPU promises
//! everywhere. With the feature `lowering` each module is written in the languages of Metal and DirectX as well. The record is written where `BURN_SCAN_RECORD` says.

#[path = "../common/mod.rs"]
mod common;

mod compaction;
mod cubes;
mod entry_kernels;
mod json;
#[cfg(feature = "lowering")]
mod lowering;
mod operators;
mod planes;
mod record;
mod scans;
mod server;
#[path = "browser.rs"]
mod target;

use planes::Planes;
use std::path::Path;

#[test]
fn a_record_for_the_browser() {
    for planes in [Planes::None, Planes::OfFour, Planes::Varying] {
        record::record().compile_only = planes == Planes::Varying;
        let client = server::client(planes);
        scans::record(&client, planes);
        operators::record(&client, planes);
        compaction::record(&client, planes);
        cubes::record(&client, planes);
    }
    entry_kernels::assert_all_recorded();
    println!("{}", record::counts());
    #[cfg(feature = "lowering")]
    lowering::assert_all_lowered();
    if let Some(folder) = std::env::var_os("BURN_SCAN_RECORD") {
        json::save(Path::new(&folder)).expect("the record can be written");
    }
}
