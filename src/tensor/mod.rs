//! The tensor methods: checks, then the backend operation.

mod compact;
mod expand;
mod indices;
pub(crate) mod kind;
mod ragged;
mod recurrence;
mod running;
mod runs;
mod scan;
mod segments;
mod sharded;
mod sort;
mod transfer;

pub use compact::TensorCompact;
pub use expand::TensorExpand;
pub use indices::MaskIndices;
pub use ragged::RaggedIndices;
pub use recurrence::TensorRecurrence;
pub use running::{RunningRecurrence, RunningScan};
pub use runs::TensorRuns;
pub use scan::{TensorScan, cumsum};
pub use segments::TensorSegments;
pub use sharded::Sharded;
pub use sort::{TensorSort, TensorSortByKey};
