//! From offsets to what each element belongs to: marks are scattered, and spread by a running maximum.
//!
//! ```text
//! offsets   0 2 2 5            three segments, the second empty
//! marks     0 · 2 · · 3 ·      of equal offsets the last counts
//! ids       0 0 2 2 2 3 3      their running maximum
//! starts    1 · 1 · · 1 ·      the same places
//! ```
//!
//! On devices whose units best walk parts of their own, ids come [another way](super::per_unit).

use super::per_unit;
use crate::error::{check_outputs, check_types, expect_room};
use crate::scan::problem::{elements_before, widest_vector};
use crate::scan::{ScanOptions, cube_count, scan, scans_per_unit, scratch};
use crate::{ScanError, ScanOp};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// What is wrong where there are none.
pub(super) const NO_OFFSETS: &str = "segments have one offset more than there are segments";

/// Units of a cube; as of CubeCL's element-wise kernels on GPUs.
pub(super) const UNITS: usize = 128;

/// An offset, and whether it is that of an element; else 0.
#[cube]
fn within<I: Numeric>(offset: I, len: usize) -> (usize, bool) {
    let narrow = usize::cast_from(offset);
    // The last test catches what the cast to the width of an address would fold into range.
    let valid = offset >= I::from_int(0) && narrow < len && I::cast_from(narrow) == offset;
    (select(valid, narrow, 0), valid)
}

/// An offset, cut to what lies in `0..=len`.
#[cube]
pub(super) fn bounded<I: Numeric>(offset: I, len: usize) -> usize {
    let narrow = usize::cast_from(offset);
    let valid = offset >= I::from_int(0) && narrow < len && I::cast_from(narrow) == offset;
    select(valid, narrow, len)
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn clear_kernel<M: Numeric, N: Size>(
    marks: &mut [Vector<M, N>],
    vectors: usize,
    #[define(M)] _mark: ElemType,
) {
    if ABSOLUTE_POS < vectors {
        marks[ABSOLUTE_POS] = Vector::new(M::from_int(0));
    }
}

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
        let (at, valid) = within::<I>(offset, len);
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

/// A tensor and its element type.
pub(super) type Typed = (TensorBinding, ElemType);

/// Into each of the `len` marks 0, or where an offset points its number if they are `numbered`, else 1.
fn mark(
    client: &Client,
    offsets: &Typed,
    marks: Typed,
    len: usize,
    numbered: bool,
) -> Result<(), ScanError> {
    let entries: usize = offsets.0.shape.iter().product();
    assert!(entries > 0, "{NO_OFFSETS}");
    let (marks, dtype) = marks;
    check_types(client, [offsets.1, dtype])?;
    expect_room("marks", &marks, len);
    check_outputs(
        &[("offsets", &offsets.0, offsets.1.size())],
        &[("marks", &marks, dtype.size())],
    )?;
    if len == 0 {
        return Ok(());
    }
    let common_alignment = len | elements_before(marks.handle.offset_start, dtype.size());
    let lanes = widest_vector(
        client.io_optimized_vector_sizes(dtype.size()),
        common_alignment,
    );
    let address_type = marks
        .required_address_type(dtype.size())
        .max(offsets.0.required_address_type(offsets.1.size()));
    // SAFETY: the marks have so many vectors, and none beyond is written.
    unsafe {
        clear_kernel::launch_unchecked(
            client,
            cube_count(client, (len / lanes).div_ceil(UNITS)),
            CubeDim::new_1d(UNITS as u32),
            address_type,
            lanes,
            marks.clone().into_buffer_arg(),
            len / lanes,
            dtype,
        );
    }
    // SAFETY: no entry beyond the offsets is read, and an offset is checked before a mark is written there.
    unsafe {
        mark_kernel::launch_unchecked(
            client,
            cube_count(client, entries.div_ceil(UNITS)),
            CubeDim::new_1d(UNITS as u32),
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

/// Contiguous room for `len` elements of the launch's own.
pub(super) fn room(client: &Client, len: usize, dtype: ElemType) -> TensorBinding {
    TensorBinding {
        handle: scratch::temporary(client, (len * dtype.size()).max(64)).binding(),
        strides: [1].into(),
        shape: [len].into(),
        tiling: Default::default(),
    }
}

/// The segment of each of `len` elements, from the `offsets` at which segments begin and the last one ends; the number of segments behind it.
///
/// Both are contiguous and have the type of the offsets. What offsets that decrease, or leave `0..=len`, lead to is not specified; nothing out of
/// bounds is read or written. Nothing waits for the device.
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
    expect_room("ids", &ids, len);
    if scans_per_unit(client) {
        let entries: usize = offsets.0.shape.iter().product();
        assert!(entries > 0, "{NO_OFFSETS}");
        check_types(client, [dtype])?;
        check_outputs(
            &[("offsets", &offsets.0, dtype.size())],
            &[("ids", &ids, dtype.size())],
        )?;
        if len > 0 {
            per_unit::ids(client, offsets, ids, len);
        }
        return Ok(());
    }
    let marks = room(client, len, dtype);
    mark(client, &offsets, (marks.clone(), dtype), len, true)?;
    let flat = TensorBinding {
        strides: [1].into(),
        shape: [len].into(),
        ..ids
    };
    let options = ScanOptions::default();
    scan(client, marks, flat, 0, dtype, ScanOp::Max, options)
}

/// 1 where a segment begins, and at the last offset if it lies below `len`; 0 elsewhere. See [`segment_ids`].
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
