//! Everything this crate asks of an AMD GPU, recorded: `cargo xtask gpu-code` compiles it.
//!
//! As in `cuda.rs`, for planes of 64 units and of 32, in HIP C++, as CubeCL's runtime hands it to AMD's
//! compiler where it lowers to C++. This test asserts that every kernel of the crate is launched and lowered,
//! and fits in shared memory.

mod code;
mod compaction;
mod cubes;
mod entry_kernels;
mod gpu;
mod jobs;
mod launches;
mod operators;
mod planes;
mod record;
mod scans;
mod server;
mod sorts;
#[path = "amd.rs"]
mod target;

use planes::Planes;
use std::path::Path;

#[test]
fn a_record_for_amd() {
    for planes in [Planes::OfSixtyFour, Planes::OfThirtyTwo] {
        code::record(&server::second_client(planes));
    }
    let planes = Planes::OfSixtyFour;
    let client = server::client(planes);
    scans::record(&client, planes);
    launches::record(&client, planes);
    operators::record(&client, planes);
    compaction::record(&client, planes);
    sorts::record(&client, planes);
    cubes::record(&client, planes);
    entry_kernels::assert_all_recorded();
    println!("{}", record::counts());
    if let Some(folder) = std::env::var_os("BURN_SCAN_RECORD") {
        jobs::save(Path::new(&folder)).expect("the record can be written");
    }
}
