//! Tests that need a process of their own: what they set or watch is one for each process.

#[macro_use]
extern crate scan_testing;

#[cfg(all(feature = "fusion", feature = "wgpu"))]
#[cfg(all(feature = "fusion", feature = "wgpu", feature = "autodiff"))]
mod backward;
#[cfg(not(all(feature = "fusion", feature = "cubecl-backend")))]
mod disabled;
#[cfg(all(feature = "fusion", feature = "wgpu"))]
#[path = "../fusion_support/mod.rs"]
mod fusion_support;
#[cfg(all(feature = "fusion", feature = "wgpu"))]
mod handles;
#[cfg(all(feature = "fusion", feature = "wgpu"))]
mod install;
#[cfg(all(feature = "fusion", feature = "wgpu"))]
mod install_late;
#[cfg(all(feature = "fusion", feature = "wgpu"))]
mod install_threads;
#[cfg(all(feature = "fusion", feature = "wgpu", feature = "autodiff"))]
mod kernels;
#[cfg(all(feature = "flex", feature = "autodiff"))]
mod narrow_ints;
#[cfg(all(feature = "fusion", feature = "wgpu"))]
mod plans;
