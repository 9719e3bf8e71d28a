//! The tensor methods: checks, then the backend operation.

mod compact;
mod expand;
mod indices;
mod kind;
mod recurrence;
mod running;
mod scan;

pub use compact::TensorCompact;
pub use expand::TensorExpand;
pub use indices::MaskIndices;
pub(crate) use kind::Scannable;
pub use recurrence::TensorRecurrence;
pub use running::{RunningRecurrence, RunningScan};
pub use scan::{TensorScan, cumsum};
