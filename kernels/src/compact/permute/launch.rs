//! Gathers and scatters: what both check before the launch, and the launch.

use super::kernels::{
    gather_elements_kernel, gather_kernel, scatter_elements_kernel, scatter_kernel,
};
use super::shape::PermutationShape;
use crate::ScanError;
use crate::compact::plan::bindable;
use crate::error::{Operand, Typed, check_outputs, check_types};
use crate::scan::problem::lanes_of;
use crate::scan::{ELEMENTWISE_UNITS, cube_count};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

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
    permute(
        client,
        from_destinations,
        destination_list,
        slices,
        dtype,
        shape,
        Output::Slices,
    )
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
    permute(
        client,
        slices,
        destination_list,
        to_destinations,
        dtype,
        shape,
        Output::Destinations,
    )
}

/// The side that a permutation writes.
enum Output {
    Slices,
    Destinations,
}

/// Checks the tensors, and panics if one is too small. Then moves the slices, if there are any.
#[track_caller]
fn permute(
    client: &Client,
    from: TensorBinding,
    (list, index): Typed,
    to: TensorBinding,
    dtype: ElemType,
    shape: PermutationShape,
    written: Output,
) -> Result<(), ScanError> {
    let elements = shape.elements();
    if elements == 0 {
        return Ok(());
    }
    let (slices, destinations) = match written {
        Output::Slices => (&to, &from),
        Output::Destinations => (&from, &to),
    };
    let all_destinations = shape.outer * shape.destinations * shape.inner;
    check_types(client, [dtype, index])?;
    let list_operand: Operand = ("list of destinations", &list, index.size(), shape.slices);
    let slices: Operand = ("slices", slices, dtype.size(), elements);
    let destinations: Operand = ("destinations", destinations, dtype.size(), all_destinations);
    let address_type = match written {
        Output::Slices => check_outputs(&[destinations, list_operand], &[slices]),
        Output::Destinations => check_outputs(&[slices, list_operand], &[destinations]),
    }?
    // The last cube's units are counted beyond the last slice.
    .max(slices.1.required_address_type(1));
    // If slices are single elements, in one group, a unit moves a vector of slices. Otherwise it moves a vector of a
    // slice.
    let of_elements = shape.outer == 1 && shape.inner == 1;
    let (len, other) = if of_elements {
        (shape.slices, list_operand)
    } else {
        (shape.inner, destinations)
    };
    let lanes = lanes_of(client, len, &[(slices.1, slices.2), (other.1, other.2)]);
    let cubes = cube_count(client, (elements / lanes).div_ceil(ELEMENTWISE_UNITS));
    let kernel = match (written, of_elements) {
        (Output::Slices, true) => gather_elements_kernel::launch_unchecked,
        (Output::Slices, false) => gather_kernel::launch_unchecked,
        (Output::Destinations, true) => scatter_elements_kernel::launch_unchecked,
        (Output::Destinations, false) => scatter_kernel::launch_unchecked,
    };
    // SAFETY: units beyond the slices do nothing, and a destination is checked before it is used.
    unsafe {
        kernel(
            client,
            cubes,
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            lanes,
            bindable(client, from).into_buffer_arg(),
            list.into_buffer_arg(),
            to.into_buffer_arg(),
            shape.arg(lanes),
            dtype,
            index,
        );
    }
    Ok(())
}
