//! Stream compaction and its relatives, on the components of the scan, as CUB's select is built on its scan.
//!
//! - [`compact()`]: the survivors of a mask, in order, and their number. Also their positions, or the destination of
//!   each position.
//! - [`compact_lines`]: the same for each line along an axis.
//! - [`run_lengths`]: the runs of equal elements, and their lengths.
//! - [`expand`]: the inverse of [`compact()`].
//! - [`gather`] and [`scatter`]: move slices to and from destinations. Each is the adjoint of the other.
//! - [`scatter_ranks`]: scatters to destinations that are ranks, and writes zeros after them.
//! - [`partition`]: a stable grouping of values by key; [`partition_ranks`] its destinations.
//!
//! ```text
//! mask      1  0  1  1  0
//! values    a  b  c  d  e
//! compact   a  c  d  0  0     count 3
//! indices   0  2  3  0  0
//! ranks     0 −1  1  2 −1     as destinations; expand: `false` receives 0, the i-th `true` the i-th value
//! ```
//!
//! # Example
//!
//! ```no_run
//! use cubecl::{client::Client, prelude::*, server::Handle};
//! use cubecl_scan::{ScanError, compact::{Emit, compact}, scan::LaunchOptions};
//!
//! /// The positive numbers among five, and their count.
//! fn positive(client: &Client) -> Result<(Handle, Handle), ScanError> {
//!     let values = client.create_from_slice(i32::as_bytes(&[3, -1, 4, 1, -5]));
//!     let mask = client.create_from_slice(u32::as_bytes(&[1, 0, 1, 1, 0]));
//!     let (output, count) = (client.empty(5 * 4), client.empty(4));
//!     let tensor = |handle: &Handle, len: usize| TensorBinding {
//!         handle: handle.clone().binding(),
//!         strides: [1].into(),
//!         shape: [len].into(),
//!         tiling: Default::default(),
//!     };
//!     let (int, flag) = (i32::elem_type_native(), u32::elem_type_native());
//!     compact(
//!         client,
//!         Some((tensor(&values, 5), int)),
//!         (tensor(&mask, 5), flag),
//!         tensor(&output, 5),
//!         tensor(&count, 1),
//!         int,
//!         Emit::Values,
//!         LaunchOptions::default(),
//!     )?;
//!     Ok((output, count)) // 3, 4, 1, 0, 0, and 3
//! }
//! # fn main() {}
//! ```

pub(crate) mod digits;
mod emit;
mod keys;
mod launch;
mod lines;
mod mask_tile;
mod per_unit;
mod permute;
mod place;
mod plan;
mod run_lengths;
mod select;
mod selection;

pub use emit::Emit;
pub use keys::{partition, partition_ranks};
pub use launch::compact;
pub use lines::compact_lines;
pub use permute::{PermutationShape, gather, scatter, scatter_ranks};
pub use place::expand;
pub(crate) use plan::unused;
pub use run_lengths::run_lengths;
