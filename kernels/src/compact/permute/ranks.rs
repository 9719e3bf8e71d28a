//! From slices to destinations that are ranks, with zeros after the last.

use super::launch::scatter;
use super::shape::PermutationShape;
use crate::ScanError;
use crate::error::{address_type, check_outputs, check_types};
use crate::scan::problem::lanes_of;
use crate::scan::{ELEMENTWISE_UNITS, cube_count};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Writes zeros after the destinations that are taken, in vectors. The last entry of `taken` says how many are taken.
#[cube(launch_unchecked, address_type = "dynamic")]
fn zero_after_kernel<T: Numeric, I: Numeric, N: Size>(
    to_destinations: &mut [Vector<T, N>],
    taken: &[I],
    last: usize,
    of_row: usize,
    inner: usize,
    outer: usize,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let first = min(usize::cast_from(taken[last]) * inner, of_row);
    let of_tail = of_row - first;
    let mut at = ABSOLUTE_POS;
    while at < outer * of_tail {
        let row = at / of_tail;
        to_destinations[row * of_row + first + at % of_tail] = Vector::new(T::from_int(0));
        at += CUBE_COUNT * CUBE_DIM as usize;
    }
}

/// The most vectors that a unit fills with zeros.
const ZEROS: usize = 64;

/// [`scatter`] for destinations that are ranks: each from 0 on occurs once. Their number is the last entry of `taken`,
/// which has the type of the list. [`partition_ranks`](crate::compact::partition_ranks()) writes such destinations and
/// such offsets; [`Emit::Destinations`](crate::compact::Emit::Destinations) such destinations and such a count.
/// `to_destinations` may hold anything before the call: zeros are written after the taken destinations.
///
/// # Errors
///
/// As [`scatter`].
///
/// # Panics
///
/// If a tensor is smaller than `shape` says, or `taken` is empty.
pub fn scatter_ranks(
    client: &Client,
    slices: TensorBinding,
    destination_list: (TensorBinding, ElemType),
    taken: TensorBinding,
    to_destinations: TensorBinding,
    dtype: ElemType,
    shape: PermutationShape,
) -> Result<(), ScanError> {
    let index = destination_list.1;
    check_types(client, [dtype, index])?;
    check_outputs(
        &[("number of destinations taken", &taken, index.size(), 1)],
        &[("destinations", &to_destinations, dtype.size(), 0)],
    )?;
    scatter(
        client,
        slices,
        destination_list,
        to_destinations.clone(),
        dtype,
        shape,
    )?;
    zero_after(client, (taken, index), to_destinations, dtype, shape);
    Ok(())
}

/// Writes zeros after the destinations that are taken: as many as the last entry of `taken` says.
pub(in crate::compact) fn zero_after(
    client: &Client,
    (taken, index): (TensorBinding, ElemType),
    to_destinations: TensorBinding,
    dtype: ElemType,
    shape: PermutationShape,
) {
    let entries: usize = taken.shape.iter().product();
    let (outer, of_row) = (shape.outer, shape.destinations * shape.inner);
    if outer * of_row == 0 {
        return;
    }
    let lanes = lanes_of(client, shape.inner, &[(&to_destinations, dtype.size())]);
    let vectors = outer * of_row / lanes;
    let cubes = cube_count(client, vectors.div_ceil(ZEROS * ELEMENTWISE_UNITS));
    let address_type =
        address_type(&to_destinations, dtype.size()).max(to_destinations.required_address_type(1));
    // SAFETY: the caller has checked that the tensor holds these vectors; the kernel writes none past the end.
    unsafe {
        zero_after_kernel::launch_unchecked(
            client,
            cubes,
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            lanes,
            to_destinations.into_buffer_arg(),
            taken.into_buffer_arg(),
            entries - 1,
            of_row / lanes,
            shape.inner / lanes,
            outer,
            dtype,
            index,
        );
    }
}
