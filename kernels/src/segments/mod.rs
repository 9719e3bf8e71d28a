//! Segments: told by offsets, and reduced; or told by heads, each of which receives the sum of the elements from it up to the next head.
//!
//! - [`segment_ids`], [`segment_starts`]: from where segments begin to what each element belongs to.
//! - [`repeat`]: a row of each segment at each of its elements.
//! - [`segment_reduce`]: the total of each segment.
//! - [`segment_sums`]: sums that are left at heads.
//!
//! ```text
//! values   1 2 3 4 5 6 7        heads   1 0 0 1 1 0 0
//! sums     6 0 0 4 18 0 0
//! ```
//!
//! This is what takes a gradient back from the results of a running maximum to the elements that set them. Adding up by index (a scatter)
//! would need atomic additions in an order that nobody knows, or one unit for a whole line. A segmented scan from the other end (Blelloch,
//! "Prefix sums and their applications", 1990) leaves each sum at its head: [`SegmentTotals`].

mod offsets;
mod per_unit;
mod reduce;
mod repeat;

pub use offsets::{segment_ids, segment_starts};
pub use reduce::segment_reduce;
pub use repeat::repeat;

use crate::monoid::{Fold, SegmentTotals};
use crate::scan::{LaunchOptions, ScanOptions, ScanTensors, scan_operator};
use crate::{ScanError, ScanOp};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Into `output`: at each head the sum of the values from it up to the next one, along `axis` and, in `reverse`, from its end; zero elsewhere. The
/// first element of a line is a head whatever `heads` says, in which anything but zero is one.
///
/// Three tensors of one shape; values and output have the type `dtype`, half-precision floats being added up in f32. The output is
/// contiguous and shares no memory with another tensor. Nothing waits for the device.
///
/// # Errors
///
/// See [`ScanError`].
pub fn segment_sums(
    client: &Client,
    values: TensorBinding,
    heads: (TensorBinding, ElemType),
    output: TensorBinding,
    axis: usize,
    dtype: ElemType,
    reverse: bool,
) -> Result<(), ScanError> {
    let tensors = ScanTensors::new(vec![values], vec![output], axis, dtype)
        .segmented(heads.0, heads.1, reverse);
    let options = ScanOptions {
        exclusive: false,
        reverse: !reverse,
    };
    let launch = LaunchOptions::default();
    scan_operator::<SegmentTotals<Fold>>(client, tensors, ScanOp::Sum, options, launch)
}
