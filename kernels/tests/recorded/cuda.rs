//! Everything this crate asks of a CUDA device, recorded: `cargo xtask gpu-code` compiles it and `cargo xtask
//! test-cuda-sim` runs it on a simulator.
//!
//! As in `webgpu.rs`, but the kernels become CUDA C++, as CubeCL's runtime hands it to NVIDIA's compiler, and
//! the cases become jobs. Without a simulator this test asserts that every kernel of the crate is launched and
//! lowered. `BURN_SCAN_RECORD` says where to write the record.

mod code;
mod compaction;
mod cubes;
mod entry_kernels;
mod gpu;
mod headlines;
mod jobs;
mod launches;
mod operators;
mod planes;
mod record;
mod scans;
mod server;
mod sorts;
#[path = "nvidia.rs"]
mod target;

use planes::Planes;
use std::path::Path;

#[test]
fn a_record_for_nvidia() {
    let planes = Planes::OfThirtyTwo;
    code::record(&server::second_client(planes));
    let client = server::client(planes);
    scans::record(&client, planes);
    launches::record(&client, planes);
    operators::record(&client, planes);
    compaction::record(&client, planes);
    sorts::record(&client, planes);
    sorts::around_tiles(&client, planes);
    cubes::record(&client, planes);
    headlines::record(&client);
    // What the bench `gpu_check` runs on a GPU.
    record::compiled_only(|| {
        scans::at_own_tuning(&client);
        operators::at_own_tuning(&client);
        compaction::at_own_tuning(&client);
        sorts::at_own_tuning(&client);
    });
    entry_kernels::assert_all_recorded();
    println!("{}", record::counts());
    if let Some(folder) = std::env::var_os("BURN_SCAN_RECORD") {
        jobs::save(Path::new(&folder)).expect("the record can be written");
    }
}
