//! Every name of the public contract, on every device, against plain loops on the host. Where Burn has the operation,
//! its own CPU backend is asked as well.
//!
//! Burn on Cube is not a reference: software Vulkan drivers stop loops after 65,535 iterations, so its `cumsum` is
//! wrong.

#[macro_use]
extern crate scan_testing;

#[cfg(target_family = "wasm")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

#[cfg(feature = "flex")]
mod golden;
mod operations;

/// Elements of a tile of the kernels. Sizes around it are tried.
const TILE: usize = 4096;

/// A few of the sizes below: in a browser on a software adapter each takes seconds.
#[cfg(target_family = "wasm")]
const SIZES: [usize; 8] = [0, 1, 2, 65, 1025, 4095, 4097, 8193];

#[cfg(target_family = "wasm")]
const LARGE_SIZES: [usize; 2] = [16_385, 65_537];

/// Empty, one element, around the sizes of vectors, planes and cubes, around one tile and two.
#[cfg(not(target_family = "wasm"))]
const SIZES: [usize; 20] = [
    0, 1, 2, 3, 5, 31, 33, 63, 64, 65, 255, 256, 257, 1023, 1025, 4095, 4096, 4097, 8191, 8193,
];

/// Sizes one off powers of two, from 2^14 to 2^20.
#[cfg(not(target_family = "wasm"))]
const LARGE_SIZES: [usize; 8] = [
    16_383, 16_385, 65_535, 65_537, 262_143, 262_145, 1_048_575, 1_048_577,
];
