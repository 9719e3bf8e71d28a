//! From destinations back to slices.

use super::launch::{Output, PermutationTensors};
use super::shape::{Permutation, PermutationShape, locate};
use crate::ScanError;
use crate::checked_index::checked_index;
use crate::compact::plan::bindable;
use crate::scan::ELEMENTWISE_UNITS;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
fn gather_kernel<T: Numeric, I: Numeric, N: Size>(
    from_destinations: &[Vector<T, N>],
    destination_list: &[I],
    slices: &mut [Vector<T, N>],
    permutation: &Permutation,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < permutation.vectors {
        let (at, valid) = locate::<I>(destination_list, permutation, ABSOLUTE_POS);
        let mut value = Vector::<T, N>::new(T::from_int(0));
        if valid {
            value = from_destinations[at];
        }
        slices[ABSOLUTE_POS] = value;
    }
}

/// Slices of one element: a unit reads a vector of destinations.
#[cube(launch_unchecked, address_type = "dynamic")]
fn gather_elements_kernel<T: Numeric, I: Numeric, N: Size>(
    from_destinations: &[T],
    destination_list: &[Vector<I, N>],
    slices: &mut [Vector<T, N>],
    vectors: usize,
    destinations: usize,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < vectors {
        let own = destination_list[ABSOLUTE_POS];
        let mut values = Vector::<T, N>::new(T::from_int(0));
        #[unroll]
        for lane in 0..N::value().comptime() {
            let (destination, valid) = checked_index::<I>(own.extract(lane), destinations);
            if valid {
                values.insert(lane, from_destinations[destination]);
            }
        }
        slices[ABSOLUTE_POS] = values;
    }
}

/// `slices[o, s, i] = from_destinations[o, destination_list[s], i]`, zero if slice `s` has no destination. All tensors
/// are contiguous. Nothing waits for the device.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] if the device cannot hold a type, [`ScanError::InvalidOutput`] and
/// [`ScanError::OverlappingMemory`] for the output.
///
/// # Panics
///
/// If a tensor is smaller than `shape` says.
pub fn gather(
    client: &Client,
    from_destinations: TensorBinding,
    destination_list: (TensorBinding, ElemType),
    slices: TensorBinding,
    dtype: ElemType,
    shape: PermutationShape,
) -> Result<(), ScanError> {
    let (list, index) = destination_list;
    let tensors = PermutationTensors {
        slices: (&slices, dtype),
        destination_list: (&list, index),
        destinations: (&from_destinations, dtype),
    };
    let Some(launch) = tensors.launch(client, Output::Slices, &shape)? else {
        return Ok(());
    };
    let from_destinations = bindable(client, from_destinations);
    if launch.of_elements {
        // SAFETY: units beyond the slices do nothing, and a destination is checked before it is read.
        unsafe {
            gather_elements_kernel::launch_unchecked(
                client,
                launch.cubes,
                CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
                launch.address_type,
                launch.lanes,
                from_destinations.into_buffer_arg(),
                list.into_buffer_arg(),
                slices.into_buffer_arg(),
                shape.slices / launch.lanes,
                shape.destinations,
                dtype,
                index,
            );
        }
    } else {
        // SAFETY: as above.
        unsafe {
            gather_kernel::launch_unchecked(
                client,
                launch.cubes,
                CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
                launch.address_type,
                launch.lanes,
                from_destinations.into_buffer_arg(),
                list.into_buffer_arg(),
                slices.into_buffer_arg(),
                shape.arg(launch.lanes),
                dtype,
                index,
            );
        }
    }
    Ok(())
}
