//! Segments, given by offsets or by heads: their ids, starts, totals, and sums at heads.
//!
//! - [`segment_ids`], [`segment_starts`]: from offsets to the segment of each element, and to the start of each
//!   segment.
//! - [`repeat`]: the row of its segment at each element.
//! - [`segment_reduce`]: the total of each segment.
//! - [`segment_sums`]: at each head, the sum of the elements up to the next head.
//!
//! ```text
//! values   1 2 3 4 5 6 7        heads   1 0 0 1 1 0 0
//! sums     6 0 0 4 18 0 0
//! ```
//!
//! [`segment_sums`] takes a gradient back from the results of a running maximum to the elements that set them. A
//! scatter would need atomic additions, whose order varies, or one unit for a whole line. A segmented scan from the
//! other end (Blelloch, "Prefix sums and their applications", 1990) leaves each sum at its head: [`SegmentTotals`].

mod offsets;
mod reduce;
mod repeat;

pub use offsets::{segment_ids, segment_starts};
pub use reduce::{segment_reduce, segment_reduce_built_in};
pub use repeat::repeat;

use crate::error::Typed;
use crate::monoid::{Fold, SegmentTotals};
use crate::scan::{LaunchOptions, ScanOptions, ScanTensors, scan_operator};
use crate::{ScanError, ScanOp};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The number of offsets.
///
/// # Panics
///
/// If there are none.
#[track_caller]
fn entries_of(offsets: &Typed) -> usize {
    let entries: usize = offsets.0.shape.iter().product();
    assert!(
        entries > 0,
        "segments have one offset more than there are segments"
    );
    entries
}

/// Writes into `output`, at each head, the sum of the values from it up to the next head along `axis`. In `reverse`
/// lines are taken from their end. Elsewhere it writes zero. Any non-zero in `heads` is a head, and so is the first
/// element of a line, whatever `heads` says.
///
/// The three tensors have one shape. Values and output have the type `dtype`; half-precision floats are summed in f32.
/// The output is contiguous and shares no memory with another tensor. Nothing waits for the device.
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
