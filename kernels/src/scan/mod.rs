//! Scans of tensors: problem → strategy → routine → kernel.
//!
//! The tensor is `[outer…, len, inner…]` around the scan axis. [`Strategy::Inferred`] chooses a [`RoutineKind`] by
//! rules on shape and device, never by timing. A caller may force one. Rows longer than a tile are scanned in a single
//! pass if the device has 32-bit atomics: each cube takes the next tile, publishes its aggregate and folds what earlier
//! tiles have published.
//!
//! ```text
//! row          │ tile 0    │ tile 1    │ tile 2    │ …
//! aggregates     a₀          a₁          a₂            published as soon as a tile is scanned
//! prefixes       a₀          a₀⊕a₁       a₀⊕a₁⊕a₂      always folded from left to right
//!
//! tile, without plane operations          with them, in planes of 8
//! unit 0   v0 v64 v128 …  of 64 units     unit 0   v0 v8  v16 …
//! unit 1   v1 v65 v129 …                  unit 1   v1 v9  v17 …       v: a vector of neighbouring elements
//! ```
//!
//! No cube waits for another without a bound. A float result has the same bits in every schedule. Decoupled lookback:
//! Merrill & Garland (2016). The fallback for aggregates that are missing: Smith, Levien & Owens (2025).

mod batch_invariant;
mod built_in;
mod call;
mod clear;
pub(crate) mod components;
mod grid;
mod launch;
pub(crate) mod parts;
mod planned;
pub(crate) mod problem;
mod routines;
pub(crate) mod scratch;
mod scratch_cache;
mod split;
pub(crate) mod strategy;
mod tensors;
pub(crate) mod tuning;

pub use built_in::{BuiltIn, scan_built_in};
pub(crate) use clear::clear;
pub use components::args::{
    Access, Load, LoadExpand, Operands, Reads, ScanArgs, Store, StoreExpand, Writes,
};
pub use components::stall::Stall;
pub(crate) use grid::{ELEMENTWISE_UNITS, cube_count};
pub use launch::{scan, scan_operator, scan_with};
pub use planned::PlannedScan;
pub use problem::ScanOptions;
pub use strategy::{LaunchOptions, RoutineKind, Strategy};
pub use tensors::ScanTensors;
