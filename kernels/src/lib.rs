//! Scan and stream-compaction kernels for CubeCL: device level, cube level and plane level.
//!
//! - [`scan`]: tensors of any rank, strides and numeric type, along any axis, by one of five routines.
//! - [`compact`]: the survivors of a mask, their destinations, runs of equal elements, and stable grouping by key.
//! - [`cube`]: scans over the units of one cube or plane, as `#[cube]` functions for kernels of your own.
//! - [`segments`]: segments given by offsets or heads, and their totals.
//! - [`sort`](mod@sort): stable radix sorts of lines, the positions of their keys, and the `k` largest.
//!
//! ```no_run
//! use cubecl::prelude::*;
//! use cubecl_scan::{ScanOp, scan::{ScanOptions, scan}};
//!
//! # fn main() -> Result<(), cubecl_scan::ScanError> {
//! # let client: cubecl::client::Client = unimplemented!("of any CubeCL runtime");
//! let data = [3i32, 1, 4, 1, 5];
//! let tensor = |handle: cubecl::server::Handle| TensorBinding {
//!     handle: handle.binding(),
//!     strides: [1].into(),
//!     shape: [5].into(),
//!     tiling: Default::default(),
//! };
//! let input = client.create_from_slice(i32::as_bytes(&data));
//! let output = client.empty(5 * size_of::<i32>());
//! let dtype = i32::elem_type_native();
//! scan(&client, tensor(input), tensor(output.clone()), 0, dtype, ScanOp::Sum, ScanOptions::default())?;
//! let sums = client.read_one(output).expect("readable"); // 3, 4, 8, 9, 14
//! # Ok(())
//! # }
//! ```

// On docs.rs each item says which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod adjoint;
mod checked_index;
pub mod compact;
pub mod cube;
pub mod error;
pub mod monoid;
pub mod operator;
pub mod scan;
pub mod segments;
pub mod sort;
#[doc(hidden)]
pub mod testing;

pub use error::ScanError;
pub use operator::ScanOp;

/// The code blocks of the README, as tests. They begin with a device, which only a build with a runtime has.
#[cfg(all(doctest, feature = "wgpu"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
