//! The kernels of both directions. Each unit moves one vector.

use super::shape::{Permutation, locate};
use crate::checked_index::checked_index;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn gather_kernel<T: Numeric, I: Numeric, N: Size>(
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
pub(super) fn gather_elements_kernel<T: Numeric, I: Numeric, N: Size>(
    from_destinations: &[T],
    destination_list: &[Vector<I, N>],
    slices: &mut [Vector<T, N>],
    permutation: &Permutation,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < permutation.vectors {
        let own = destination_list[ABSOLUTE_POS];
        let mut values = Vector::<T, N>::new(T::from_int(0));
        #[unroll]
        for lane in 0..N::value().comptime() {
            let (destination, valid) =
                checked_index::<I>(own.extract(lane), permutation.destinations);
            if valid {
                values.insert(lane, from_destinations[destination]);
            }
        }
        slices[ABSOLUTE_POS] = values;
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn scatter_kernel<T: Numeric, I: Numeric, N: Size>(
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
pub(super) fn scatter_elements_kernel<T: Numeric, I: Numeric, N: Size>(
    slices: &[Vector<T, N>],
    destination_list: &[Vector<I, N>],
    to_destinations: &mut [T],
    permutation: &Permutation,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < permutation.vectors {
        let own = destination_list[ABSOLUTE_POS];
        let values = slices[ABSOLUTE_POS];
        #[unroll]
        for lane in 0..N::value().comptime() {
            let (destination, valid) =
                checked_index::<I>(own.extract(lane), permutation.destinations);
            if valid {
                to_destinations[destination] = values.extract(lane);
            }
        }
    }
}
