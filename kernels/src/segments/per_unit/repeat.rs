//! The value of its segment at each element.

use super::parts::{Parts, end_of, locate, parts_of};
use crate::scan::problem::elements_before;
use crate::scan::{ELEMENTWISE_UNITS, cube_count};
use crate::segments::bounds::Typed;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The value of a segment; 0 behind the last one.
#[cube]
fn value_at<T: Numeric>(values: &[T], segment: usize, segments: usize) -> T {
    // It is read whether it is used or not: without a branch there is no misprediction.
    let value = values[min(segment, max(segments, 1usize) - 1)];
    select(segment < segments, value, T::from_int(0))
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn repeat_kernel<T: Numeric, I: Numeric, N: Size>(
    values: &[T],
    offsets: &[I],
    output: &mut [Vector<T, N>],
    parts: Parts,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let part = ABSOLUTE_POS;
    if part < parts.count {
        let lanes = N::value().comptime();
        let len = parts.vectors * lanes;
        let first = part * parts.len;
        let mut segment = locate::<I>(offsets, parts.segments, first * lanes, 0usize, len);
        let mut until = end_of::<I>(offsets, parts.segments, segment, len);
        let mut value = value_at::<T>(values, segment, parts.segments);
        for vector in first..min(first + parts.len, parts.vectors) {
            let mut result = Vector::<T, N>::new(T::from_int(0));
            #[unroll]
            for lane in 0..lanes {
                let at = vector * lanes + lane;
                if at >= until {
                    segment = locate::<I>(offsets, parts.segments, at, segment + 1, len);
                    until = end_of::<I>(offsets, parts.segments, segment, len);
                    value = value_at::<T>(values, segment, parts.segments);
                }
                result.insert(lane, value);
            }
            output[vector] = result;
        }
    }
}

/// [`repeat`](crate::segments::repeat()) of single elements, after all checks. There are values, and `total` is not 0.
pub(in crate::segments) fn repeat(
    client: &Client,
    values: TensorBinding,
    offsets: Typed,
    output: TensorBinding,
    total: usize,
    dtype: ElemType,
) {
    let (offsets, index) = offsets;
    let segments = offsets.shape.iter().product::<usize>() - 1;
    let begin = elements_before(output.handle.offset_start, dtype.size());
    let (parts, lanes, part) = parts_of(client, total, (begin, dtype.size()), segments);
    let address_type = output
        .required_address_type(dtype.size())
        .max(offsets.required_address_type(index.size()))
        .max(values.required_address_type(dtype.size()));
    // SAFETY: parts end with the output, offsets are read up to the last, and values up to the one before.
    unsafe {
        repeat_kernel::launch_unchecked(
            client,
            cube_count(client, total.div_ceil(part).div_ceil(ELEMENTWISE_UNITS)),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            lanes,
            values.into_buffer_arg(),
            offsets.into_buffer_arg(),
            output.into_buffer_arg(),
            parts,
            dtype,
            index,
        );
    }
}
