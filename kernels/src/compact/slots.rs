//! Moving slices to and from slots.
//!
//! A slot list has one entry per slice along an axis: where the slice goes, or anything out of range for nowhere. `scatter_slots` moves
//! slices to their slots and leaves zeros elsewhere; `gather_slots` fetches them back and puts zeros where there is no slot. Each is the
//! adjoint of the other, so that one serves the gradient of the other. Slots that are ranks leave a hole only at the end: `scatter_ranks` writes
//! the zeros there and nowhere else.

use super::plan::bindable;
use crate::ScanError;
use crate::error::{check_outputs, check_types, expect_room};
use crate::scan::cube_count;
use crate::scan::problem::{elements_before, widest};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// Units of a cube. Each moves one vector; 128 is what element-wise kernels of CubeCL use by default on GPUs.
const UNITS: u32 = 128;

/// `[outer, slices, inner]` beside `[outer, slots, inner]`, `inner` in vectors.
#[derive(CubeType, CubeLaunch)]
struct Moves {
    inner: FastDivmod<usize>,
    inner_len: usize,
    slices: FastDivmod<usize>,
    slots: usize,
    /// Vectors on the side of the slices.
    vectors: usize,
}

/// Where vector `at` of the slices' side lies on the slots' side, and whether it has a slot.
#[cube]
fn locate<I: Numeric>(slot_list: &[I], moves: &Moves, at: usize) -> (usize, bool) {
    let (rest, column) = moves.inner.div_mod(at);
    let (outer, slice) = moves.slices.div_mod(rest);
    let (slot, valid) = in_range::<I>(slot_list[slice], moves.slots);
    (
        (outer * moves.slots + slot) * moves.inner_len + column,
        valid,
    )
}

/// A slot, and whether it is one of `slots`; else 0.
#[cube]
fn in_range<I: Numeric>(slot: I, slots: usize) -> (usize, bool) {
    let narrow = usize::cast_from(slot);
    // The last test catches what the cast to the width of an address would fold into range.
    let valid = slot >= I::from_int(0) && narrow < slots && I::cast_from(narrow) == slot;
    (select(valid, narrow, 0), valid)
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn gather_kernel<T: Numeric, I: Numeric, N: Size>(
    from_slots: &[Vector<T, N>],
    slot_list: &[I],
    slices: &mut [Vector<T, N>],
    moves: &Moves,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < moves.vectors {
        let (at, valid) = locate::<I>(slot_list, moves, ABSOLUTE_POS);
        let mut value = Vector::<T, N>::new(T::from_int(0));
        if valid {
            value = from_slots[at];
        }
        slices[ABSOLUTE_POS] = value;
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn scatter_kernel<T: Numeric, I: Numeric, N: Size>(
    slices: &[Vector<T, N>],
    slot_list: &[I],
    to_slots: &mut [Vector<T, N>],
    moves: &Moves,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < moves.vectors {
        let (at, valid) = locate::<I>(slot_list, moves, ABSOLUTE_POS);
        if valid {
            to_slots[at] = slices[ABSOLUTE_POS];
        }
    }
}

/// Slices of one element: a unit reads a vector of slots.
#[cube(launch_unchecked, address_type = "dynamic")]
fn gather_elements_kernel<T: Numeric, I: Numeric, N: Size>(
    from_slots: &[T],
    slot_list: &[Vector<I, N>],
    slices: &mut [Vector<T, N>],
    vectors: usize,
    slots: usize,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < vectors {
        let own = slot_list[ABSOLUTE_POS];
        let mut values = Vector::<T, N>::new(T::from_int(0));
        #[unroll]
        for lane in 0..N::value().comptime() {
            let (slot, valid) = in_range::<I>(own.extract(lane), slots);
            if valid {
                values.insert(lane, from_slots[slot]);
            }
        }
        slices[ABSOLUTE_POS] = values;
    }
}

/// Slices of one element: a unit reads a vector of them, and one of slots.
#[cube(launch_unchecked, address_type = "dynamic")]
fn scatter_elements_kernel<T: Numeric, I: Numeric, N: Size>(
    slices: &[Vector<T, N>],
    slot_list: &[Vector<I, N>],
    to_slots: &mut [T],
    vectors: usize,
    slots: usize,
    #[define(T)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < vectors {
        let own = slot_list[ABSOLUTE_POS];
        let values = slices[ABSOLUTE_POS];
        #[unroll]
        for lane in 0..N::value().comptime() {
            let (slot, valid) = in_range::<I>(own.extract(lane), slots);
            if valid {
                to_slots[slot] = values.extract(lane);
            }
        }
    }
}

/// Zeros behind the slots that are taken, in vectors; the last of `taken` says how many are.
#[cube(launch_unchecked, address_type = "dynamic")]
fn zero_behind_kernel<T: Numeric, I: Numeric, N: Size>(
    to_slots: &mut [Vector<T, N>],
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
        to_slots[row * of_row + first + at % of_tail] = Vector::new(T::from_int(0));
        at += units;
    }
}

/// The most vectors that a unit fills with zeros.
const ZEROS: usize = 64;

/// The sizes of a move: `[outer, slices, inner]` to or from `[outer, slots, inner]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveShape {
    /// The product of the dimensions before the axis.
    pub outer: usize,
    /// The length of the slot list.
    pub slices: usize,
    /// The number of slots.
    pub slots: usize,
    /// The product of the dimensions after the axis.
    pub inner: usize,
}

/// A tensor and its element type.
type Typed<'t> = (&'t TensorBinding, ElemType);

/// The element at which a tensor begins.
fn begin((tensor, dtype): Typed) -> usize {
    elements_before(tensor.handle.offset_start, dtype.size())
}

impl MoveShape {
    fn elements(&self) -> usize {
        self.outer * self.slices * self.inner
    }

    /// Panics where a tensor is too small.
    #[track_caller]
    fn check(&self, slices: &TensorBinding, slot_list: &TensorBinding, slots: &TensorBinding) {
        expect_room("slices", slices, self.elements());
        expect_room("list of slots", slot_list, self.slices);
        expect_room("slots", slots, self.outer * self.slots * self.inner);
    }

    /// Whether a list of slots is one of single elements.
    fn moves_elements(&self) -> bool {
        self.outer == 1 && self.inner == 1
    }

    /// The widest vector that straddles no slice of either tensor.
    fn lanes(&self, client: &Client, slices: Typed, slots: Typed) -> usize {
        let granule = self.inner | begin(slices) | begin(slots);
        widest(client.io_optimized_vector_sizes(slices.1.size()), granule)
    }

    /// The widest vector of single elements, in the slices and the list of their slots.
    fn element_lanes(&self, client: &Client, slices: Typed, slot_list: Typed) -> usize {
        let granule = self.slices | begin(slices) | begin(slot_list);
        let size = slices.1.size().max(slot_list.1.size());
        widest(client.io_optimized_vector_sizes(size), granule)
    }

    fn arg(&self, lanes: usize) -> MovesLaunch {
        let inner = self.inner / lanes;
        MovesLaunch::new(
            inner,
            inner,
            self.slices,
            self.slots,
            self.elements() / lanes,
        )
    }

    /// A unit for each vector.
    fn cubes(&self, client: &Client, lanes: usize) -> CubeCount {
        cube_count(client, (self.elements() / lanes).div_ceil(UNITS as usize))
    }
}

/// `slices[o, s, i] = from_slots[o, slot_list[s], i]`, zero where slice `s` has no slot. All tensors are contiguous.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] where the device cannot hold a type, [`ScanError::InvalidOutput`] and [`ScanError::OverlappingMemory`] of
/// what is written.
///
/// # Panics
///
/// If a tensor is smaller than `shape` says.
pub fn gather_slots(
    client: &Client,
    from_slots: TensorBinding,
    slot_list: (TensorBinding, ElemType),
    slices: TensorBinding,
    dtype: ElemType,
    shape: MoveShape,
) -> Result<(), ScanError> {
    if shape.elements() == 0 {
        return Ok(());
    }
    shape.check(&slices, &slot_list.0, &from_slots);
    check_types(client, [dtype, slot_list.1])?;
    check_outputs(
        &[
            ("slots", &from_slots, dtype.size()),
            ("list of slots", &slot_list.0, slot_list.1.size()),
        ],
        &[("slices", &slices, dtype.size())],
    )?;
    let address_type = from_slots
        .required_address_type(1)
        .max(slices.required_address_type(1));
    if shape.moves_elements() {
        let lanes = shape.element_lanes(client, (&slices, dtype), (&slot_list.0, slot_list.1));
        // SAFETY: units beyond the slices do nothing, and a slot is checked against the number of slots before it is read.
        unsafe {
            gather_elements_kernel::launch_unchecked(
                client,
                shape.cubes(client, lanes),
                CubeDim::new_1d(UNITS),
                address_type,
                lanes,
                bindable(client, from_slots).into_buffer_arg(),
                slot_list.0.into_buffer_arg(),
                slices.into_buffer_arg(),
                shape.slices / lanes,
                shape.slots,
                dtype,
                slot_list.1,
            );
        }
        return Ok(());
    }
    let lanes = shape.lanes(client, (&slices, dtype), (&from_slots, dtype));
    // SAFETY: units beyond the slices do nothing, and a slot is checked against the number of slots before it is read.
    unsafe {
        gather_kernel::launch_unchecked(
            client,
            shape.cubes(client, lanes),
            CubeDim::new_1d(UNITS),
            address_type,
            lanes,
            bindable(client, from_slots).into_buffer_arg(),
            slot_list.0.into_buffer_arg(),
            slices.into_buffer_arg(),
            shape.arg(lanes),
            dtype,
            slot_list.1,
        );
    }
    Ok(())
}

/// [`scatter_slots`] where the slots are ranks: each from 0 on is taken once, and their number is the last entry of `taken`, of the type of the
/// list. [`key_slots`](super::key_slots()) leaves such slots and such offsets, [`Emit::Slots`](super::Emit::Slots) such slots and such a
/// count. `to_slots` may hold anything before: what is behind the slots taken is filled with zeros.
///
/// # Errors
///
/// As [`scatter_slots`].
///
/// # Panics
///
/// If a tensor is smaller than `shape` says, or `taken` is empty.
pub fn scatter_ranks(
    client: &Client,
    slices: TensorBinding,
    slot_list: (TensorBinding, ElemType),
    taken: TensorBinding,
    to_slots: TensorBinding,
    dtype: ElemType,
    shape: MoveShape,
) -> Result<(), ScanError> {
    let index = slot_list.1;
    let entries: usize = taken.shape.iter().product();
    assert!(entries > 0, "the number of slots taken is missing");
    check_types(client, [dtype, index])?;
    check_outputs(
        &[("number of slots taken", &taken, index.size())],
        &[("slots", &to_slots, dtype.size())],
    )?;
    scatter_slots(client, slices, slot_list, to_slots.clone(), dtype, shape)?;
    let (outer, of_row) = (shape.outer, shape.slots * shape.inner);
    if outer * of_row == 0 {
        return Ok(());
    }
    let granule = shape.inner | begin((&to_slots, dtype));
    let lanes = widest(client.io_optimized_vector_sizes(dtype.size()), granule);
    let vectors = outer * of_row / lanes;
    let units = vectors.div_ceil(ZEROS).next_multiple_of(UNITS as usize);
    let cubes = cube_count(client, units / UNITS as usize);
    let address_type = to_slots.required_address_type(1);
    // SAFETY: the tensor has so many vectors, which `scatter_slots` has checked, and none beyond is written.
    unsafe {
        zero_behind_kernel::launch_unchecked(
            client,
            cubes,
            CubeDim::new_1d(UNITS),
            address_type,
            lanes,
            to_slots.into_buffer_arg(),
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

/// `to_slots[o, slot_list[s], i] = slices[o, s, i]` for every slice that has a slot. `to_slots` holds zeros before
/// the call, and no slot occurs twice. All tensors are contiguous.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] where the device cannot hold a type, [`ScanError::InvalidOutput`] and [`ScanError::OverlappingMemory`] of
/// what is written.
///
/// # Panics
///
/// If a tensor is smaller than `shape` says.
pub fn scatter_slots(
    client: &Client,
    slices: TensorBinding,
    slot_list: (TensorBinding, ElemType),
    to_slots: TensorBinding,
    dtype: ElemType,
    shape: MoveShape,
) -> Result<(), ScanError> {
    if shape.elements() == 0 {
        return Ok(());
    }
    shape.check(&slices, &slot_list.0, &to_slots);
    check_types(client, [dtype, slot_list.1])?;
    check_outputs(
        &[
            ("slices", &slices, dtype.size()),
            ("list of slots", &slot_list.0, slot_list.1.size()),
        ],
        &[("slots", &to_slots, dtype.size())],
    )?;
    let address_type = slices
        .required_address_type(1)
        .max(to_slots.required_address_type(1));
    if shape.moves_elements() {
        let lanes = shape.element_lanes(client, (&slices, dtype), (&slot_list.0, slot_list.1));
        // SAFETY: units beyond the slices do nothing, and a slot is checked against the number of slots before it is written.
        unsafe {
            scatter_elements_kernel::launch_unchecked(
                client,
                shape.cubes(client, lanes),
                CubeDim::new_1d(UNITS),
                address_type,
                lanes,
                slices.into_buffer_arg(),
                slot_list.0.into_buffer_arg(),
                to_slots.into_buffer_arg(),
                shape.slices / lanes,
                shape.slots,
                dtype,
                slot_list.1,
            );
        }
        return Ok(());
    }
    let lanes = shape.lanes(client, (&slices, dtype), (&to_slots, dtype));
    // SAFETY: units beyond the slices do nothing, and a slot is checked against the number of slots before it is written.
    unsafe {
        scatter_kernel::launch_unchecked(
            client,
            shape.cubes(client, lanes),
            CubeDim::new_1d(UNITS),
            address_type,
            lanes,
            slices.into_buffer_arg(),
            slot_list.0.into_buffer_arg(),
            to_slots.into_buffer_arg(),
            shape.arg(lanes),
            dtype,
            slot_list.1,
        );
    }
    Ok(())
}
