//! Repetition: each row of the output is a copy of the row of its segment.

use super::entries_of;
use super::offsets::segment_ids;
use crate::ScanError;
use crate::compact::{PermutationShape, gather};
use crate::error::{check_outputs, check_types};
use crate::scan::scratch::temporary_tensor;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Writes row `j` of `values`, `[rows, width]`, into the rows of `output` from `offsets[j]` up to the next offset.
/// `output` has `total` rows, with zeros after the last offset. There is one more offset than rows.
///
/// All tensors are contiguous. If offsets decrease, or leave `0..=total`, the result is unspecified, but nothing out of
/// bounds is read or written. Nothing waits for the device.
///
/// # Errors
///
/// See [`ScanError`].
///
/// # Panics
///
/// If there are no offsets, or a tensor is too small.
pub fn repeat(
    client: &Client,
    values: TensorBinding,
    offsets: (TensorBinding, ElemType),
    output: TensorBinding,
    [total, width]: [usize; 2],
    dtype: ElemType,
) -> Result<(), ScanError> {
    let rows = entries_of(&offsets) - 1;
    let index = offsets.1;
    check_types(client, [dtype, index])?;
    check_outputs(
        &[
            ("values", &values, dtype.size(), rows * width),
            ("offsets", &offsets.0, index.size(), 1),
        ],
        &[("output", &output, dtype.size(), total * width)],
    )?;
    if total * width == 0 {
        return Ok(());
    }
    let ids = temporary_tensor(client, [total], index);
    segment_ids(client, offsets, ids.clone(), total)?;
    let shape = PermutationShape {
        outer: 1,
        slices: total,
        destinations: rows,
        inner: width,
    };
    gather(client, values, (ids, index), output, dtype, shape)
}
