//! Scans in Burn's fusion, with `install()`: plans, values and bits. Burn's fusion registry and its plan cache are per
//! process, so no test runs a tensor operation before the first `install()`.
#![cfg(all(feature = "fusion", feature = "wgpu"))]

#[path = "../fusion_support/mod.rs"]
mod fusion_support;
mod load_store;
mod patterns;
mod random_graphs;
