//! Scan (prefix sum) and stream compaction for [Burn](burn), on every CubeCL device and on the CPU.
//!
//! ```
//! use burn::tensor::{Int, Tensor};
//! use burn_scan::prelude::*;
//!
//! let device = burn::tensor::Device::flex();
//! let lengths = Tensor::<1, Int>::from_data([3, 0, 2], &device);
//! let offsets = lengths.exclusive_cumsum(0); // where each ragged row starts
//! assert_eq!(offsets.into_data().try_to_vec::<i32>().unwrap(), [0, 3, 3]);
//! ```
//!
//! | trait | for | what |
//! |---|---|---|
//! | [`TensorScan`] | float, int | sums, products, maxima, minima along a dimension: inclusive or exclusive, forward or reverse; of segments; from a value; with positions |
//! | [`TensorRecurrence`] | float | linear recurrences `h[t] = a[t]·h[t−1] + x[t]`, the logarithm of a running sum of exponentials |
//! | [`RunningScan`], [`RunningRecurrence`] | float, int | the same over sequences that arrive in chunks |
//! | [`Sharded`] | float, int, bool | the same, and compaction, over a tensor with parts on several devices or machines |
//! | [`TensorCompact`] | float, int, bool | the survivors of a mask, in order: exact or padded, flat, along a dimension, or of each line |
//! | [`TensorExpand`] | float, int, bool | survivors back to their places under a mask; stable grouping by key |
//! | [`MaskIndices`] | bool | where the trues are, and how many |
//! | [`RaggedIndices`] | int | lengths of ragged rows to offsets, offsets to the row of each element |
//! | [`TensorSegments`] | float, int | the total of each ragged row |
//! | [`TensorRuns`] | float, int, bool | run-length encoding, and repetition by lengths |
//! | [`TensorSort`] | float, int | stable sorts along a dimension, with positions or without; the `k` largest |
//! | [`TensorSortByKey`] | float, int, bool | values in the order of keys |
//!
//! After [`install`], Burn's own `tensor.cumsum(dim)` runs on the same kernels: on every fused CubeCL device of the
//! process, in any model, forward and backward.
//!
//! # Guarantees
//!
//! - Float results have the same bits in every run on one device, whatever the load.
//! - Sums of any width are exact modulo the width: no bit is spent on flags.
//! - Only exact forms wait for the device, such as exact compaction: they read back one number.
//! - Bad input panics in Burn's message form, and the device goes on working.
//!
//! # How it works
//!
//! On CubeCL devices a long row is scanned in one pass. Each cube scans a tile, publishes its total, and looks back at
//! the totals that its predecessors have published (Merrill & Garland 2016). A cube computes a missing total itself
//! (Smith, Levien & Owens 2025).
//!
//! ```text
//! tile        …  t−5   t−4   t−3   t−2   t−1    t        A  total of the tile ("aggregate")
//! published      P     P     A     A     ·      ?        P  total of the row up to and including the tile ("prefix")
//!                      └──⊕──┴──⊕──┘     ▲               ·  nothing yet
//!                                        └ after a bounded number of reads the cube computes this one itself
//! ```
//!
//! The kernels are a crate of their own, `cubecl-scan`, which does not depend on Burn.
//!
//! # Features
//!
//! The default features select no back end of Burn. The features mirror those that a program turns on in Burn: `flex`
//! (the CPU), `wgpu`, `cuda` and the others, `fusion` (lazy operations, and [`install`]), `autodiff`; the README lists
//! them.

// On docs.rs each item says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod backends;
mod check;
#[cfg(feature = "flex")]
mod cpu;
#[cfg(all(feature = "fusion", feature = "cubecl-backend"))]
mod fusion;
mod install;
pub mod ops;
mod options;
#[cfg(feature = "cubecl-backend")]
pub mod primitive;
mod refusal;
#[cfg(feature = "remote")]
pub mod remote;
mod tensor;

pub use install::{InstallError, install};
pub use options::{RecurrenceOptions, ScanOp, ScanOptions, SortOrder};
pub use tensor::{
    MaskIndices, RaggedIndices, RunningRecurrence, RunningScan, Sharded, TensorCompact,
    TensorExpand, TensorRecurrence, TensorRuns, TensorScan, TensorSegments, TensorSort,
    TensorSortByKey, cumsum,
};

/// Every trait of this crate: `use burn_scan::prelude::*;`.
pub mod prelude {
    pub use crate::{
        MaskIndices, RaggedIndices, RecurrenceOptions, RunningRecurrence, RunningScan, ScanOp,
        ScanOptions, Sharded, SortOrder, TensorCompact, TensorExpand, TensorRecurrence, TensorRuns,
        TensorScan, TensorSegments, TensorSort, TensorSortByKey,
    };
}

/// The code blocks of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The code blocks of the page on recurrences.
#[cfg(doctest)]
#[doc = include_str!("../docs/recurrences.md")]
pub struct Recurrences;

/// The code blocks of the page on several devices.
#[cfg(all(doctest, feature = "remote"))]
#[doc = include_str!("../docs/distributed.md")]
pub struct Distributed;

/// The code blocks of the migration page.
#[cfg(doctest)]
#[doc = include_str!("../docs/migration.md")]
pub struct Migration;
