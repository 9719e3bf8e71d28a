//! Reductions of segments: a segmented scan, whose last element in each segment is the total.
//!
//! ```text
//! values   1 2 3 4 5        offsets  0 2 2 5
//! scanned  1 3 3 7 12       totals   3 0 12        0: the identity, of an empty segment
//! ```
//!
//! The work is balanced by elements, as in the scan: it depends on the number of bytes, not on the lengths of segments.
//! No atomics, and the same bits each time.

use super::entries_of;
use super::offsets::segment_starts;
use crate::ScanError;
use crate::checked_index::checked_index;
use crate::error::check_outputs;
use crate::monoid::{Fold, LogSumExp, Operator, Segmented};
use crate::operator::accumulator_of;
use crate::scan::scratch::temporary_tensor;
use crate::scan::{
    BuiltIn, ELEMENTWISE_UNITS, LaunchOptions, ScanOptions, ScanTensors, cube_count, scan_operator,
};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// An offset; `len` if it is not in `0..len`.
#[cube]
fn bounded<I: Numeric>(offset: I, len: usize) -> usize {
    let (at, valid) = checked_index::<I>(offset, len);
    select(valid, at, len)
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn totals_kernel<T: Numeric, A: Numeric, I: Numeric>(
    scanned: &[T],
    offsets: &[I],
    totals: &mut [T],
    width: FastDivmod<usize>,
    width_len: usize,
    elements: usize,
    len: usize,
    identity: InputScalar,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < elements {
        let (segment, column) = width.div_mod(ABSOLUTE_POS);
        let begin = bounded::<I>(offsets[segment], len);
        let end = bounded::<I>(offsets[segment + 1], len);
        let mut total = T::cast_from(identity.get::<A>());
        if begin < end {
            total = scanned[(end - 1) * width_len + column];
        }
        totals[ABSOLUTE_POS] = total;
    }
}

/// [`segment_reduce`] by [`Fold`] or [`LogSumExp`], compiled in this crate: `segment_reduce` is compiled in the crate
/// that names the operator.
///
/// # Errors
///
/// See [`ScanError`]; another operator takes more tensors.
///
/// # Panics
///
/// As [`segment_reduce`].
pub fn segment_reduce_built_in(
    client: &Client,
    values: TensorBinding,
    offsets: (TensorBinding, ElemType),
    totals: TensorBinding,
    sizes: [usize; 2],
    dtype: ElemType,
    op: BuiltIn,
) -> Result<(), ScanError> {
    match op {
        BuiltIn::Fold(op) => {
            segment_reduce::<Fold>(client, values, offsets, totals, sizes, dtype, op)
        }
        BuiltIn::LogSumExp => {
            segment_reduce::<LogSumExp>(client, values, offsets, totals, sizes, dtype, ())
        }
        _ => Err(ScanError::TensorCount {
            operand: "tensors",
            expected: 2,
            found: 1,
        }),
    }
}

/// The total of each segment of `values`, `[len, width]` and contiguous, by an operator of one input. Segment `j` has
/// the rows `offsets[j]..offsets[j + 1]`. The total of an empty segment is the identity.
///
/// `totals` is contiguous and has a row for each segment. Half-precision floats are accumulated in f32. If offsets
/// decrease, or leave `0..=len`, the result is unspecified, but nothing out of bounds is read or written. Nothing waits
/// for the device.
///
/// # Errors
///
/// See [`ScanError`].
///
/// # Panics
///
/// If there are no offsets, or `totals` is too small.
pub fn segment_reduce<O: Operator>(
    client: &Client,
    values: TensorBinding,
    offsets: (TensorBinding, ElemType),
    totals: TensorBinding,
    [len, width]: [usize; 2],
    dtype: ElemType,
    op: O::Config,
) -> Result<(), ScanError> {
    let elements = (entries_of(&offsets) - 1) * width;
    let address_type = check_outputs(
        &[
            ("values", &values, dtype.size(), len * width),
            ("offsets", &offsets.0, offsets.1.size(), 1),
        ],
        &[("totals", &totals, dtype.size(), elements)],
    )?;
    if elements == 0 {
        return Ok(());
    }
    let word = u32::elem_type_native();
    let starts = temporary_tensor(client, [len], word);
    segment_starts(client, offsets.clone(), (starts.clone(), word), len)?;
    let rows = |tensor: TensorBinding, strides: [usize; 2]| TensorBinding {
        strides: strides.into(),
        shape: [len, width].into(),
        ..tensor
    };
    let scanned = temporary_tensor(client, [len * width], dtype);
    if len > 0 {
        let output = rows(scanned.clone(), [width, 1]);
        let tensors = ScanTensors::new(vec![rows(values, [width, 1])], vec![output], 0, dtype)
            .segmented(rows(starts, [1, 0]), word, false);
        let (options, launch) = (ScanOptions::default(), LaunchOptions::default());
        scan_operator::<Segmented<O>>(client, tensors, op, options, launch)?;
    }
    let accumulator = accumulator_of(dtype);
    // SAFETY: units beyond the totals do nothing, and offsets are bounded by the number of rows.
    unsafe {
        totals_kernel::launch_unchecked(
            client,
            cube_count(client, elements.div_ceil(ELEMENTWISE_UNITS)),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            scanned.into_buffer_arg(),
            offsets.0.into_buffer_arg(),
            totals.into_buffer_arg(),
            width,
            width,
            elements,
            len,
            O::seed(op, dtype, accumulator),
            dtype,
            accumulator,
            offsets.1,
        );
    }
    Ok(())
}
