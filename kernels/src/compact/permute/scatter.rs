//! From slices to destinations.

use super::launch::{Output, PermutationTensors};
use super::shape::{Permutation, PermutationShape, locate};
use crate::ScanError;
use crate::checked_index::checked_index;
use crate::scan::ELEMENTWISE_UNITS;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
fn scatter_kernel<T: Numeric, I: Numeric, N: Size>(
    slices: &[Vector<T, N>],
    destination_list: &[I],
    to_destinations: &mut [Vector<T, N>],
    permutation: &Permutation,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < permutation.vectors {
        let (at, valid) = locate::<I>(destination_list, permutation, ABSOLUTE_POS);
        if valid {
            to_destinations[at] = slices[ABSOLUTE_POS];
        }
    }
}

/// Slices of one element: a unit reads a vector of them, and a vector of destinations.
#[cube(launch_unchecked, address_type = "dynamic")]
fn scatter_elements_kernel<T: Numeric, I: Numeric, N: Size>(
    slices: &[Vector<T, N>],
    destination_list: &[Vector<I, N>],
    to_destinations: &mut [T],
    vectors: usize,
    destinations: usize,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < vectors {
        let own = destination_list[ABSOLUTE_POS];
        let values = slices[ABSOLUTE_POS];
        #[unroll]
        for lane in 0..N::value().comptime() {
            let (destination, valid) = checked_index::<I>(own.extract(lane), destinations);
            if valid {
                to_destinations[destination] = values.extract(lane);
            }
        }
    }
}

/// `to_destinations[o, destination_list[s], i] = slices[o, s, i]` for every slice that has a destination. Before the
/// call `to_destinations` holds zeros. No destination occurs twice. All tensors are contiguous. Nothing waits for the
/// device.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] if the device cannot hold a type, [`ScanError::InvalidOutput`] and
/// [`ScanError::OverlappingMemory`] for the output.
///
/// # Panics
///
/// If a tensor is smaller than `shape` says.
pub fn scatter(
    client: &Client,
    slices: TensorBinding,
    destination_list: (TensorBinding, ElemType),
    to_destinations: TensorBinding,
    dtype: ElemType,
    shape: PermutationShape,
) -> Result<(), ScanError> {
    let (list, index) = destination_list;
    let tensors = PermutationTensors {
        slices: (&slices, dtype),
        destination_list: (&list, index),
        destinations: (&to_destinations, dtype),
    };
    let Some(launch) = tensors.launch(client, Output::Destinations, &shape)? else {
        return Ok(());
    };
    if launch.of_elements {
        // SAFETY: units beyond the slices do nothing, and a destination is checked before it is written.
        unsafe {
            scatter_elements_kernel::launch_unchecked(
                client,
                launch.cubes,
                CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
                launch.address_type,
                launch.lanes,
                slices.into_buffer_arg(),
                list.into_buffer_arg(),
                to_destinations.into_buffer_arg(),
                shape.slices / launch.lanes,
                shape.destinations,
                dtype,
                index,
            );
        }
    } else {
        // SAFETY: as above.
        unsafe {
            scatter_kernel::launch_unchecked(
                client,
                launch.cubes,
                CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
                launch.address_type,
                launch.lanes,
                slices.into_buffer_arg(),
                list.into_buffer_arg(),
                to_destinations.into_buffer_arg(),
                shape.arg(launch.lanes),
                dtype,
                index,
            );
        }
    }
    Ok(())
}
