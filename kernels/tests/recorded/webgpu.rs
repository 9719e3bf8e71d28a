//! Everything this crate asks of a browser's WebGPU device, recorded: `cargo xtask test-webgpu` runs it there.
//!
//! The crate's own functions are called on a CubeCL device ([`server`]) that compiles every kernel to WGSL and runs
//! none. It records modules, buffers, writes, bindings, scalars and grids, with the order and the contents that a
//! browser would get. Each case has the result of the plain loops of `reference`. Three devices are emulated: one
//! without plane operations, one with planes of 4, which Chromium's SwiftShader has, and one with planes of 8 to 128,
//! whose kernels are compiled only.
//!
//! Without a browser this test asserts that every kernel of the crate is launched, compiles, and keeps to the
//! limits that WebGPU promises everywhere. With the feature `lowering`, each module is also written in the
//! languages of Metal and DirectX. `BURN_SCAN_RECORD` says where to write the record.

mod compaction;
mod cubes;
mod entry_kernels;
mod json;
mod launches;
#[cfg(feature = "lowering")]
mod lowering;
mod operators;
mod planes;
mod record;
mod scans;
mod server;
mod sorts;
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
        if planes != Planes::Varying {
            launches::record(&client, planes);
        }
        operators::record(&client, planes);
        compaction::record(&client, planes);
        sorts::record(&client, planes);
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
