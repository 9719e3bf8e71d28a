//! Scan and stream-compaction kernels for CubeCL.

pub mod compact;
pub mod error;
pub mod operator;
pub mod reference;
pub mod scan;

pub use error::ScanError;
pub use operator::ScanOp;
