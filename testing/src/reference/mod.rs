//! Plain loops over row-major tensors that say what every operation must return. They are slow, and so simple that one
//! glance shows they are right.
//!
//! ```
//! use cubecl_scan::{ScanOp, scan::ScanOptions};
//! use scan_testing::reference;
//!
//! let sums = reference::scan(&[3, 1, 4, 1, 5], &[5], 0, ScanOp::Sum, ScanOptions::default());
//! assert_eq!(sums, [3, 4, 8, 9, 14]);
//! let mask = [true, false, true, true, false];
//! assert_eq!(reference::compact(&[3, 1, 4, 1, 5], &mask), [3, 4, 1]);
//! assert_eq!(reference::expand(&[3, 4, 1], &mask), [3, 0, 4, 1, 0]);
//! assert_eq!(reference::partition(&[1, 0, 1], 2), (vec![1, 0, 2], vec![0, 1, 3]));
//! ```

mod loops;
mod order;
mod scalar;

pub use loops::{
    argwhere, compact, compact_dim, expand, indices, partition, recurrence_adjoint, scan,
    segment_sums, sort,
};
pub use order::SortKey;
pub use scalar::{Scalar, hash, values};
