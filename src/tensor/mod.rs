//! The tensor methods: checks, then the backend operation.

mod compact;
mod expand;
mod indices;
mod kind;
mod scan;

pub use compact::TensorCompact;
pub use expand::TensorExpand;
pub use indices::MaskIndices;
pub use scan::{TensorScan, cumsum};
