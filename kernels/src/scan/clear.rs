//! Writes zeros on the device: nothing is uploaded.

use super::grid::{ELEMENTWISE_UNITS, cube_count};
use super::problem::lanes_of;
use crate::error::Typed;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
fn clear_kernel<T: Numeric, N: Size>(
    output: &mut [Vector<T, N>],
    vectors: usize,
    #[define(T)] _dtype: ElemType,
) {
    if ABSOLUTE_POS < vectors {
        output[ABSOLUTE_POS] = Vector::new(T::from_int(0));
    }
}

/// Makes the first `len` elements of a contiguous tensor zeros.
///
/// # Safety
///
/// The tensor has as many elements.
pub(crate) unsafe fn clear(client: &Client, (output, dtype): &Typed, len: usize) {
    let lanes = lanes_of(client, len, &[(output, dtype.size())]);
    // SAFETY: the tensor holds this many vectors, and the kernel writes none past them.
    unsafe {
        clear_kernel::launch_unchecked(
            client,
            cube_count(client, (len / lanes).div_ceil(ELEMENTWISE_UNITS)),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            output.required_address_type(dtype.size()),
            lanes,
            output.clone().into_buffer_arg(),
            len / lanes,
            *dtype,
        );
    }
}
