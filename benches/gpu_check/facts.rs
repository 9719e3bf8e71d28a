//! The first stage: which device and compiler it is, and how fast it copies.

use cubecl::client::Client;
use scan_testing::kernels::upload;
use serde_json::json;

use crate::stage::{self, Outcome, figures};
use crate::timed::{Timed, too_large};
use crate::{copy, record};

pub fn run(client: &Client, adapter: &str) {
    stage::case("device", || {
        let properties = client.properties();
        let hardware = &properties.hardware;
        Outcome::Right(figures([
            ("adapter", json!(adapter)),
            ("runtime", json!(client.name())),
            ("compiler", json!(compiler(client))),
            (
                "planes",
                json!([hardware.plane_size_min, hardware.plane_size_max]),
            ),
            (
                "multiprocessors",
                json!(hardware.num_streaming_multiprocessors),
            ),
            (
                "units of a cube at most",
                json!(hardware.max_units_per_cube),
            ),
            (
                "shared bytes of a cube at most",
                json!(hardware.max_shared_memory_size),
            ),
            ("largest buffer", json!(properties.memory.max_page_size)),
            ("memory", json!(properties.memory.max_memory())),
            (
                "tile",
                json!(format!(
                    "{:?}",
                    cubecl_scan::testing::tile_shape(client, &Default::default())
                )),
            ),
            ("driver", json!(driver())),
        ]))
    });
    for power in [22, 26, 28, 29] {
        let words: usize = (1 << power) / 4;
        stage::case(&format!("copy of 2^{power} bytes"), || {
            if let Some(why) = too_large(client, 4 * words, 2) {
                return Outcome::LeftOut(why);
            }
            let data: Vec<i32> = (0..words as i32).collect();
            let (input, output) = (upload(client, &data), client.empty(4 * words));
            copy::copy(client, &input, &output, words);
            if let Some(wrong) = record::exact(client, output.clone(), &data) {
                return Outcome::Wrong(wrong);
            }
            let timed = Timed::of(client, || copy::copy(client, &input, &output, words));
            Outcome::Right(timed.figures(8 * words))
        });
    }
}

/// What makes machine code of the kernels.
fn compiler(client: &Client) -> String {
    let language = match client.name() {
        name if name.starts_with("cuda") => "CUDA C++ through NVRTC (cuda-cpp)",
        name if name.contains("spirv") => "SPIR-V by CubeCL",
        name if name.contains("wgsl") => "WGSL through naga",
        name => name,
    };
    format!("{language}, then the driver")
}

/// What NVIDIA's tool says, where it exists.
fn driver() -> String {
    let asked = std::process::Command::new("nvidia-smi")
        .args([
            "--query-gpu=name,driver_version,clocks.max.mem",
            "--format=csv,noheader",
        ])
        .output();
    let said = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    said.unwrap_or_else(|_| "no nvidia-smi".into())
}
