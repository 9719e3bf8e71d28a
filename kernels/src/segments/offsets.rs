//! From offsets to the segment of each element: marks are scattered, then a running maximum extends them.
//!
//! ```text
//! offsets   0 2 2 5            three segments, the second empty
//! marks     0 · 2 · · 3 ·      of equal offsets the last counts
//! ids       0 0 2 2 2 3 3      their running maximum
//! starts    1 · 1 · · 1 ·      at the same elements
//! ```

use super::entries_of;
use crate::checked_index::checked_index;
use crate::error::{Typed, check_outputs, check_types};
use crate::scan::scratch::temporary_tensor;
use crate::scan::{ELEMENTWISE_UNITS, ScanOptions, clear, cube_count, scan};
use crate::{ScanError, ScanOp};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
fn mark_kernel<I: Numeric, M: Numeric>(
    offsets: &[I],
    marks: &mut [M],
    entries: usize,
    len: usize,
    #[comptime] numbered: bool,
    #[define(I)] _index: ElemType,
    #[define(M)] _mark: ElemType,
) {
    let entry = ABSOLUTE_POS;
    if entry < entries {
        let offset = offsets[entry];
        let (at, valid) = checked_index::<I>(offset, len);
        let next = offsets[min(entry + 1, entries - 1)];
        let is_last = entry + 1 == entries || next != offset;
        if valid && is_last {
            let mut mark = M::from_int(1);
            if comptime!(numbered) {
                mark = M::cast_from(entry);
            }
            marks[at] = mark;
        }
    }
}

/// Writes `len` marks: where an offset points, its number if marks are `numbered`, else 1. Elsewhere 0.
fn mark(
    client: &Client,
    offsets: &Typed,
    marks: Typed,
    len: usize,
    numbered: bool,
) -> Result<(), ScanError> {
    let entries = entries_of(offsets);
    let (marks, dtype) = marks;
    check_types(client, [offsets.1, dtype])?;
    let address_type = check_outputs(
        &[("offsets", &offsets.0, offsets.1.size(), entries)],
        &[("marks", &marks, dtype.size(), len)],
    )?;
    if len == 0 {
        return Ok(());
    }
    // SAFETY: `marks` holds `len` elements, as checked above.
    unsafe { clear(client, &(marks.clone(), dtype), len) };
    // SAFETY: no entry beyond the offsets is read, and an offset is checked before a mark is written there.
    unsafe {
        mark_kernel::launch_unchecked(
            client,
            cube_count(client, entries.div_ceil(ELEMENTWISE_UNITS)),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            offsets.0.clone().into_buffer_arg(),
            marks.into_buffer_arg(),
            entries,
            len,
            numbered,
            offsets.1,
            dtype,
        );
    }
    Ok(())
}

/// The segment of each of `len` elements. Segments begin at `offsets`; the last offset is the end of the last segment.
/// Elements after it get the number of segments.
///
/// Both tensors are contiguous and have the type of the offsets. If offsets decrease, or leave `0..=len`, the result is
/// unspecified, but nothing out of bounds is read or written. Nothing waits for the device.
///
/// # Errors
///
/// See [`ScanError`].
///
/// # Panics
///
/// If there are no offsets, or `ids` is too small.
pub fn segment_ids(
    client: &Client,
    offsets: (TensorBinding, ElemType),
    ids: TensorBinding,
    len: usize,
) -> Result<(), ScanError> {
    let dtype = offsets.1;
    check_outputs(
        &[("offsets", &offsets.0, dtype.size(), 1)],
        &[("ids", &ids, dtype.size(), len)],
    )?;
    let marks = temporary_tensor(client, [len], dtype);
    mark(client, &offsets, (marks.clone(), dtype), len, true)?;
    let flat = TensorBinding {
        strides: [1].into(),
        shape: [len].into(),
        ..ids
    };
    let options = ScanOptions::default();
    scan(client, marks, flat, 0, dtype, ScanOp::Max, options)
}

/// Writes 1 where a non-empty segment begins, and at the last offset if it is below `len`. Elsewhere 0. See
/// [`segment_ids`].
///
/// # Errors
///
/// See [`ScanError`].
///
/// # Panics
///
/// If there are no offsets, or `starts` is too small.
pub fn segment_starts(
    client: &Client,
    offsets: (TensorBinding, ElemType),
    starts: (TensorBinding, ElemType),
    len: usize,
) -> Result<(), ScanError> {
    mark(client, &offsets, starts, len, false)
}
