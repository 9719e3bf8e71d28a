//! Moving slices to and from destinations.
//!
//! A destination list has one entry per slice along an axis: where the slice goes, or anything out of range for nowhere. `scatter` moves
//! slices to their destinations and leaves zeros elsewhere; `gather` fetches them back and puts zeros where there is no destination. Each is the
//! adjoint of the other, so that one serves the gradient of the other. Destinations that are ranks leave a hole only at the end: `scatter_ranks` writes
//! the zeros there and nowhere else.

use super::plan::bindable;
use crate::ScanError;
use crate::error::{check_outputs, check_types, expect_room};
use crate::scan::cube_count;
use crate::scan::problem::{elements_before, widest_vector};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// Units of a cube. Each moves one vector; 128 is what element-wise kernels of CubeCL use by default on GPUs.
const UNITS: u32 = 128;

/// `[outer, slices, inner]` beside `[outer, destinations, inner]`, `inner` in vectors.
#[derive(CubeType, CubeLaunch)]
struct Moves {
    inner: FastDivmod<usize>,
    inner_len: usize,
    slices: FastDivmod<usize>,
    destinations: usize,
    /// Vectors on the side of the slices.
    vectors: usize,
}

/// Where vector `at` of the slices' side lies on the destinations' side, and whether it has a destination.
#[cube]
fn locate<I: Numeric>(destination_list: &[I], moves: &Moves, at: usize) -> (usize, bool) {
    let (rest, column) = moves.inner.div_mod(at);
    let (outer, slice) = moves.slices.div_mod(rest);
    let (destination, valid) = in_range::<I>(destination_list[slice], moves.destinations);
    (
        (outer * moves.destinations + destination) * moves.inner_len + column,
        valid,
    )
}

/// A destination, and whether it is one of `destinations`; else 0.
#[cube]
fn in_range<I: Numeric>(destination: I, destinations: usize) -> (usize, bool) {
    let narrow = usize::cast_from(destination);
    // The last test catches what the cast to the width of an address would fold into range.
    let valid = destination >= I::from_int(0)
        && narrow < destinations
        && I::cast_from(narrow) == destination;
    (select(valid, narrow, 0), valid)
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn gather_kernel<T: Numeric, I: Numeric, N: Size>(
    from_destinations: &[Vector<T, N>],
    destination_list: &[I],
    slices: &mut [Vector<T, N>],
    moves: &Moves,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < moves.vectors {
        let (at, valid) = locate::<I>(destination_list, moves, ABSOLUTE_POS);
        let mut value = Vector::<T, N>::new(T::from_int(0));
        if valid {
            value = from_destinations[at];
        }
        slices[ABSOLUTE_POS] = value;
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn scatter_kernel<T: Numeric, I: Numeric, N: Size>(
    slices: &[Vector<T, N>],
    destination_list: &[I],
    to_destinations: &mut [Vector<T, N>],
    moves: &Moves,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < moves.vectors {
        let (at, valid) = locate::<I>(destination_list, moves, ABSOLUTE_POS);
        if valid {
            to_destinations[at] = slices[ABSOLUTE_POS];
        }
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
            let (destination, valid) = in_range::<I>(own.extract(lane), destinations);
            if valid {
                values.insert(lane, from_destinations[destination]);
            }
        }
        slices[ABSOLUTE_POS] = values;
    }
}

/// Slices of one element: a unit reads a vector of them, and one of destinations.
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
            let (destination, valid) = in_range::<I>(own.extract(lane), destinations);
            if valid {
                to_destinations[destination] = values.extract(lane);
            }
        }
    }
}

/// Zeros behind the destinations that are taken, in vectors; the last of `taken` says how many are.
#[cube(launch_unchecked, address_type = "dynamic")]
fn zero_behind_kernel<T: Numeric, I: Numeric, N: Size>(
    to_destinations: &mut [Vector<T, N>],
    taken: &[I],
    last: usize,
    of_row: usize,
    inner: usize,
    units: usize,
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
        at += units;
    }
}

/// The most vectors that a unit fills with zeros.
const ZEROS: usize = 64;

/// The sizes of a move: `[outer, slices, inner]` to or from `[outer, destinations, inner]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermutationShape {
    /// The product of the dimensions before the axis.
    pub outer: usize,
    /// The length of the destination list.
    pub slices: usize,
    /// The number of destinations.
    pub destinations: usize,
    /// The product of the dimensions after the axis.
    pub inner: usize,
}

/// A tensor and its element type.
type Typed<'t> = (&'t TensorBinding, ElemType);

/// The element at which a tensor begins.
fn begin((tensor, dtype): Typed) -> usize {
    elements_before(tensor.handle.offset_start, dtype.size())
}

impl PermutationShape {
    fn elements(&self) -> usize {
        self.outer * self.slices * self.inner
    }

    /// Panics where a tensor is too small.
    #[track_caller]
    fn check(
        &self,
        slices: &TensorBinding,
        destination_list: &TensorBinding,
        destinations: &TensorBinding,
    ) {
        expect_room("slices", slices, self.elements());
        expect_room("list of destinations", destination_list, self.slices);
        expect_room(
            "destinations",
            destinations,
            self.outer * self.destinations * self.inner,
        );
    }

    /// Whether a list of destinations is one of single elements.
    fn moves_elements(&self) -> bool {
        self.outer == 1 && self.inner == 1
    }

    /// The widest vector that straddles no slice of either tensor.
    fn lanes(&self, client: &Client, slices: Typed, destinations: Typed) -> usize {
        let common_alignment = self.inner | begin(slices) | begin(destinations);
        widest_vector(
            client.io_optimized_vector_sizes(slices.1.size()),
            common_alignment,
        )
    }

    /// The widest vector of single elements, in the slices and the list of their destinations.
    fn element_lanes(&self, client: &Client, slices: Typed, destination_list: Typed) -> usize {
        let common_alignment = self.slices | begin(slices) | begin(destination_list);
        let size = slices.1.size().max(destination_list.1.size());
        widest_vector(client.io_optimized_vector_sizes(size), common_alignment)
    }

    fn arg(&self, lanes: usize) -> MovesLaunch {
        let inner = self.inner / lanes;
        MovesLaunch::new(
            inner,
            inner,
            self.slices,
            self.destinations,
            self.elements() / lanes,
        )
    }

    /// A unit for each vector.
    fn cubes(&self, client: &Client, lanes: usize) -> CubeCount {
        cube_count(client, (self.elements() / lanes).div_ceil(UNITS as usize))
    }
}

/// `slices[o, s, i] = from_destinations[o, destination_list[s], i]`, zero where slice `s` has no destination. All tensors are contiguous.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] where the device cannot hold a type, [`ScanError::InvalidOutput`] and [`ScanError::OverlappingMemory`] of
/// what is written.
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
    if shape.elements() == 0 {
        return Ok(());
    }
    shape.check(&slices, &destination_list.0, &from_destinations);
    check_types(client, [dtype, destination_list.1])?;
    check_outputs(
        &[
            ("destinations", &from_destinations, dtype.size()),
            (
                "list of destinations",
                &destination_list.0,
                destination_list.1.size(),
            ),
        ],
        &[("slices", &slices, dtype.size())],
    )?;
    let address_type = from_destinations
        .required_address_type(1)
        .max(slices.required_address_type(1));
    if shape.moves_elements() {
        let lanes = shape.element_lanes(
            client,
            (&slices, dtype),
            (&destination_list.0, destination_list.1),
        );
        // SAFETY: units beyond the slices do nothing, and a destination is checked against the number of destinations before it is read.
        unsafe {
            gather_elements_kernel::launch_unchecked(
                client,
                shape.cubes(client, lanes),
                CubeDim::new_1d(UNITS),
                address_type,
                lanes,
                bindable(client, from_destinations).into_buffer_arg(),
                destination_list.0.into_buffer_arg(),
                slices.into_buffer_arg(),
                shape.slices / lanes,
                shape.destinations,
                dtype,
                destination_list.1,
            );
        }
        return Ok(());
    }
    let lanes = shape.lanes(client, (&slices, dtype), (&from_destinations, dtype));
    // SAFETY: units beyond the slices do nothing, and a destination is checked against the number of destinations before it is read.
    unsafe {
        gather_kernel::launch_unchecked(
            client,
            shape.cubes(client, lanes),
            CubeDim::new_1d(UNITS),
            address_type,
            lanes,
            bindable(client, from_destinations).into_buffer_arg(),
            destination_list.0.into_buffer_arg(),
            slices.into_buffer_arg(),
            shape.arg(lanes),
            dtype,
            destination_list.1,
        );
    }
    Ok(())
}

/// [`scatter`] where the destinations are ranks: each from 0 on is taken once, and their number is the last entry of `taken`, of the type of the
/// list. [`partition_ranks`](super::partition_ranks()) leaves such destinations and such offsets, [`Emit::Destinations`](super::Emit::Destinations) such destinations and such a
/// count. `to_destinations` may hold anything before: what is behind the destinations taken is filled with zeros.
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
    let entries: usize = taken.shape.iter().product();
    assert!(entries > 0, "the number of destinations taken is missing");
    check_types(client, [dtype, index])?;
    check_outputs(
        &[("number of destinations taken", &taken, index.size())],
        &[("destinations", &to_destinations, dtype.size())],
    )?;
    scatter(
        client,
        slices,
        destination_list,
        to_destinations.clone(),
        dtype,
        shape,
    )?;
    let (outer, of_row) = (shape.outer, shape.destinations * shape.inner);
    if outer * of_row == 0 {
        return Ok(());
    }
    let common_alignment = shape.inner | begin((&to_destinations, dtype));
    let lanes = widest_vector(
        client.io_optimized_vector_sizes(dtype.size()),
        common_alignment,
    );
    let vectors = outer * of_row / lanes;
    let units = vectors.div_ceil(ZEROS).next_multiple_of(UNITS as usize);
    let cubes = cube_count(client, units / UNITS as usize);
    let address_type = to_destinations.required_address_type(1);
    // SAFETY: the tensor has so many vectors, which `scatter` has checked, and none beyond is written.
    unsafe {
        zero_behind_kernel::launch_unchecked(
            client,
            cubes,
            CubeDim::new_1d(UNITS),
            address_type,
            lanes,
            to_destinations.into_buffer_arg(),
            taken.into_buffer_arg(),
            entries - 1,
            of_row / lanes,
            shape.inner / lanes,
            units,
            outer,
            dtype,
            index,
        );
    }
    Ok(())
}

/// `to_destinations[o, destination_list[s], i] = slices[o, s, i]` for every slice that has a destination. `to_destinations` holds zeros before
/// the call, and no destination occurs twice. All tensors are contiguous.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] where the device cannot hold a type, [`ScanError::InvalidOutput`] and [`ScanError::OverlappingMemory`] of
/// what is written.
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
    if shape.elements() == 0 {
        return Ok(());
    }
    shape.check(&slices, &destination_list.0, &to_destinations);
    check_types(client, [dtype, destination_list.1])?;
    check_outputs(
        &[
            ("slices", &slices, dtype.size()),
            (
                "list of destinations",
                &destination_list.0,
                destination_list.1.size(),
            ),
        ],
        &[("destinations", &to_destinations, dtype.size())],
    )?;
    let address_type = slices
        .required_address_type(1)
        .max(to_destinations.required_address_type(1));
    if shape.moves_elements() {
        let lanes = shape.element_lanes(
            client,
            (&slices, dtype),
            (&destination_list.0, destination_list.1),
        );
        // SAFETY: units beyond the slices do nothing, and a destination is checked against the number of destinations before it is written.
        unsafe {
            scatter_elements_kernel::launch_unchecked(
                client,
                shape.cubes(client, lanes),
                CubeDim::new_1d(UNITS),
                address_type,
                lanes,
                slices.into_buffer_arg(),
                destination_list.0.into_buffer_arg(),
                to_destinations.into_buffer_arg(),
                shape.slices / lanes,
                shape.destinations,
                dtype,
                destination_list.1,
            );
        }
        return Ok(());
    }
    let lanes = shape.lanes(client, (&slices, dtype), (&to_destinations, dtype));
    // SAFETY: units beyond the slices do nothing, and a destination is checked against the number of destinations before it is written.
    unsafe {
        scatter_kernel::launch_unchecked(
            client,
            shape.cubes(client, lanes),
            CubeDim::new_1d(UNITS),
            address_type,
            lanes,
            slices.into_buffer_arg(),
            destination_list.0.into_buffer_arg(),
            to_destinations.into_buffer_arg(),
            shape.arg(lanes),
            dtype,
            destination_list.1,
        );
    }
    Ok(())
}
