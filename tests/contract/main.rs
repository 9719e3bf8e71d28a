//! The public contract, every name of it, on every device, against plain loops on the host and, where Burn has the
//! operation, against Burn's own CPU backend.
//!
//! Burn on Cube is no reference: software Vulkan drivers cut loops at 65,535 iterations, and its `cumsum` with them.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod compact;
mod compact_dim;
mod expand;
mod indices;
mod names;
mod partition;
mod scan;
mod scan_values;
mod scan_views;

/// Elements of a tile of the kernels: sizes around it are tried.
const TILE: usize = 4096;

/// Empty, one element, around vector, plane, cube and tile sizes, two tiles.
const SIZES: [usize; 20] = [
    0,
    1,
    2,
    3,
    5,
    31,
    33,
    63,
    64,
    65,
    255,
    256,
    257,
    1023,
    1025,
    TILE - 1,
    TILE,
    TILE + 1,
    2 * TILE - 1,
    2 * TILE + 1,
];

/// One off powers of two, up to 2^20.
const LARGE_SIZES: [usize; 8] = [
    (1 << 14) - 1,
    (1 << 14) + 1,
    (1 << 16) - 1,
    (1 << 16) + 1,
    (1 << 18) - 1,
    (1 << 18) + 1,
    (1 << 20) - 1,
    (1 << 20) + 1,
];
