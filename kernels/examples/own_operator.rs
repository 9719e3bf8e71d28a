//! Scans with an operator of your own: the orientation of a camera after each of many small turns.
//!
//! ```sh
//! cargo run --release -p cubecl-scan --features wgpu --example own_operator
//! ```
//!
//! A turn is a unit quaternion. Successive turns multiply, in their order. `rotation.rs` has all that it takes to scan
//! them. The program compares the result with a plain loop in f64.

#[path = "own_operator/rotation.rs"]
mod rotation;

use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::scan::{LaunchOptions, ScanOptions, ScanTensors, scan_operator};
use rotation::Rotations;
use std::time::Instant;

const TURNS: usize = 1 << 18;

/// Turns by up to a hundredth of a radian about axes that wander.
fn turn(i: usize) -> [f64; 4] {
    let t = i as f64;
    let axis = [
        (0.001 * t).sin(),
        (0.0007 * t).cos(),
        (0.0003 * t).sin() + 0.1,
    ];
    let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
    let half = 0.005 * (0.01 * t).cos();
    let [x, y, z] = axis.map(|x| x / length * half.sin());
    [half.cos(), x, y, z]
}

fn product([a, b, c, d]: [f64; 4], [e, f, g, h]: [f64; 4]) -> [f64; 4] {
    [
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    ]
}

fn main() {
    let client = cubecl::Device::default().client();
    let turns: Vec<[f64; 4]> = (0..TURNS).map(turn).collect();
    let tensor = |handle: Handle| TensorBinding {
        handle: handle.binding(),
        strides: [1].into(),
        shape: [TURNS].into(),
        tiling: Default::default(),
    };
    let parts = (0..4).map(|part| {
        turns
            .iter()
            .map(|turn| turn[part] as f32)
            .collect::<Vec<_>>()
    });
    let parts: Vec<Handle> = parts
        .map(|part| client.create_from_slice(f32::as_bytes(&part)))
        .collect();
    let orientations: Vec<Handle> = (0..4)
        .map(|_| client.empty(TURNS * size_of::<f32>()))
        .collect();

    let scan = || {
        let inputs = parts.iter().cloned().map(tensor).collect();
        let outputs = orientations.iter().cloned().map(tensor).collect();
        let tensors = ScanTensors::new(inputs, outputs, 0, f32::elem_type_native());
        let (options, launch) = (ScanOptions::default(), LaunchOptions::default());
        scan_operator::<Rotations>(&client, tensors, (), options, launch)
            .expect("four tensors of one shape");
        let read = |handle: &Handle| client.read_one(handle.clone()).expect("readable");
        orientations.iter().map(read).collect::<Vec<_>>()
    };
    scan(); // compiles the kernel
    let start = Instant::now();
    let found = scan();
    println!(
        "{TURNS} turns composed and read back in {:.2?} on {}",
        start.elapsed(),
        client.name()
    );

    let found: Vec<&[f32]> = found.iter().map(|part| f32::from_bytes(part)).collect();
    let mut expected = [1., 0., 0., 0.];
    let mut worst = 0f64;
    for (i, turn) in turns.into_iter().enumerate() {
        expected = product(expected, turn);
        for part in 0..4 {
            let apart = (f64::from(found[part][i]) - expected[part]).abs();
            assert!(apart < 1e-3, "that is more than rounding");
            worst = worst.max(apart);
        }
    }
    println!("the last orientation: {expected:.4?}");
    println!("largest difference to a loop in f64: {worst:.1e}");
}
