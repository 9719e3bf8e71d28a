//! Scan (prefix sum) and stream compaction for [Burn](burn), on every CubeCL device and on the CPU.

pub mod backends;
mod check;
#[cfg(feature = "flex")]
mod cpu;
#[cfg(all(feature = "fusion", feature = "cubecl-backend"))]
mod fusion;
mod install;
pub mod ops;
mod options;
mod tensor;

pub use install::{InstallError, install};
pub use options::{ScanOp, ScanOptions};
pub use tensor::{MaskIndices, TensorCompact, TensorExpand, TensorScan, cumsum};

/// Every trait of this crate: `use burn_scan::prelude::*;`.
pub mod prelude {
    pub use crate::{MaskIndices, ScanOp, ScanOptions, TensorCompact, TensorExpand, TensorScan};
}
