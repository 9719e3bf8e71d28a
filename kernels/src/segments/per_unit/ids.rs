//! The segment of each element.

use super::parts::{Parts, end_of, locate, parts_of};
use crate::scan::problem::elements_before;
use crate::scan::{ELEMENTWISE_UNITS, cube_count};
use crate::segments::bounds::Typed;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
fn ids_kernel<I: Numeric, N: Size>(
    offsets: &[I],
    ids: &mut [Vector<I, N>],
    parts: Parts,
    #[define(I)] _index: ElemType,
) {
    let part = ABSOLUTE_POS;
    if part < parts.count {
        let lanes = N::value().comptime();
        let len = parts.vectors * lanes;
        let first = part * parts.len;
        let mut segment = locate::<I>(offsets, parts.segments, first * lanes, 0usize, len);
        let mut until = end_of::<I>(offsets, parts.segments, segment, len);
        for vector in first..min(first + parts.len, parts.vectors) {
            let mut of_vector = Vector::<I, N>::new(I::from_int(0));
            #[unroll]
            for lane in 0..lanes {
                let at = vector * lanes + lane;
                if at >= until {
                    segment = locate::<I>(offsets, parts.segments, at, segment + 1, len);
                    until = end_of::<I>(offsets, parts.segments, segment, len);
                }
                of_vector.insert(lane, I::cast_from(segment));
            }
            ids[vector] = of_vector;
        }
    }
}

/// [`segment_ids`](crate::segments::segment_ids), after all checks. `len` is not 0.
pub(in crate::segments) fn ids(client: &Client, offsets: Typed, ids: TensorBinding, len: usize) {
    let (offsets, index) = offsets;
    let segments = offsets.shape.iter().product::<usize>() - 1;
    let begin = elements_before(ids.handle.offset_start, index.size());
    let (parts, lanes, part) = parts_of(client, len, (begin, index.size()), segments);
    let address_type = ids
        .required_address_type(index.size())
        .max(offsets.required_address_type(index.size()));
    // SAFETY: parts end with the ids, and offsets are read up to the last.
    unsafe {
        ids_kernel::launch_unchecked(
            client,
            cube_count(client, len.div_ceil(part).div_ceil(ELEMENTWISE_UNITS)),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            lanes,
            offsets.into_buffer_arg(),
            ids.into_buffer_arg(),
            parts,
            index,
        );
    }
}
