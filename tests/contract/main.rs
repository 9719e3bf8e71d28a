//! The public contract, every name of it, on every device, against plain loops on the host and, where Burn has the
//! operation, against Burn's own CPU backend.
//!
//! Burn on Cube is no reference: software Vulkan drivers cut loops at 65,535 iterations, and its `cumsum` with them.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

/// `every_rank!(check)` is `check!([..], [..], ..)` of shapes of every rank, which is part of a tensor's type.
macro_rules! every_rank {
    ($check:ident) => {
        $check!(
            [11],
            [13, 7],
            [5, 3, 11],
            [3, 5, 2, 7],
            [0, 3],
            [2, 0, 4],
            [1, 1, 1, 1],
            [70, 90]
        )
    };
}

#[cfg(feature = "flex")]
mod burns_own;
mod compact;
mod compact_along;
mod compact_dim;
mod expand;
#[cfg(feature = "flex")]
mod golden;
mod indices;
mod log_sum_exp;
mod names;
mod partition;
mod ragged;
mod recurrence;
mod running;
mod runs;
mod scan;
mod scan_from;
mod scan_values;
mod scan_views;
mod segmented;

/// Elements of a tile of the kernels: sizes around it are tried.
const TILE: usize = 4096;

/// Empty, one element, around the sizes of vectors, planes and cubes, around one tile and two.
const SIZES: [usize; 20] = [
    0, 1, 2, 3, 5, 31, 33, 63, 64, 65, 255, 256, 257, 1023, 1025, 4095, 4096, 4097, 8191, 8193,
];

/// One off powers of two, from 2^14 to 2^20.
const LARGE_SIZES: [usize; 8] = [
    16_383, 16_385, 65_535, 65_537, 262_143, 262_145, 1_048_575, 1_048_577,
];
