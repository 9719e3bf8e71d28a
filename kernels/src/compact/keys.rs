//! The slots of a stable grouping by key: a least-significant-digit radix sort that moves positions only, by [`digits`](super::digits) of 4 bits;
//! on devices that are no card, a counting sort by [`key_runs`].
//!
//! Keys out of range are given the key `num_keys`, so that they gather behind all groups. After the last digit, an element's place is its
//! slot, and the offsets of the groups are found in the sorted keys by bisection.

use super::digits::{self, DIGIT_BITS, DIGITS, TILE, count_digits_kernel, move_digits_kernel};
use super::key_runs;
use super::plan::begins_of;
use crate::ScanError;
use crate::error::{check_outputs, check_types, expect_room};
use crate::scan::{LaunchOptions, cube_count, scratch};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::server::Handle;

/// Units of a cube of the element-wise kernels.
const UNITS: usize = 128;

/// Brings keys into `0..=num_keys`, out of range being `num_keys`.
#[cube(launch_unchecked, address_type = "dynamic")]
fn clamp_keys_kernel<K: Numeric>(
    keys: &[K],
    clamped: &mut [u32],
    elements: usize,
    num_keys: u32,
    #[define(K)] _dtype: ElemType,
) {
    if ABSOLUTE_POS < elements {
        clamped[ABSOLUTE_POS] = key_runs::clamped::<K>(keys[ABSOLUTE_POS], num_keys);
    }
}

/// `offsets[k]` is the number of keys below `k`.
#[cube(launch_unchecked, address_type = "dynamic")]
fn offsets_kernel<I: Numeric>(
    sorted: &[u32],
    offsets: &mut [I],
    elements: usize,
    groups: usize,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < groups {
        let key = ABSOLUTE_POS as u32;
        let mut low = 0usize;
        let mut high = elements;
        while low < high {
            let middle = low + (high - low) / 2;
            if sorted[middle] < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        offsets[ABSOLUTE_POS] = I::cast_from(low);
    }
}

/// For each key its slot in a stable grouping by keys `0..num_keys`, or −1 for a key out of range, into `slots` (as long as the keys); and
/// where each group begins into `offsets` (`num_keys + 1` entries, the last being the number of keys in range). All tensors are
/// contiguous; `slots` and `offsets` have the integer type `index`. Nothing waits for the device. Options other than the default choose the
/// radix sort on every device.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] where the device cannot hold a type, [`ScanError::InvalidOutput`] and [`ScanError::OverlappingMemory`] of
/// outputs.
///
/// # Panics
///
/// If a tensor is too small.
pub fn key_slots(
    client: &Client,
    keys: (TensorBinding, ElemType),
    slots: TensorBinding,
    offsets: TensorBinding,
    num_keys: usize,
    index: ElemType,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let (keys, dtype) = keys;
    check_types(client, [dtype, index])?;
    let n: usize = keys.shape.iter().product();
    expect_room("keys", &keys, n);
    expect_room("slots", &slots, n);
    expect_room("offsets", &offsets, num_keys + 1);
    check_outputs(
        &[("keys", &keys, dtype.size())],
        &[
            ("slots", &slots, index.size()),
            ("offsets", &offsets, index.size()),
        ],
    )?;
    let address_type = keys
        .required_address_type(1)
        .max(offsets.required_address_type(1));
    if key_runs::serves(client, n, num_keys, launch) {
        let keys = (keys, dtype);
        return key_runs::key_slots(client, keys, slots, offsets, num_keys, index, address_type);
    }
    let tiles = n.div_ceil(TILE).max(1);
    let words = |len: usize| scratch::temporary(client, len.max(1) * size_of::<u32>());
    // SAFETY: every handle passed here was made with `len` words.
    let arg = |handle: &Handle, len: usize| unsafe {
        BufferArg::from_raw_parts(handle.clone(), len.max(1))
    };
    let cube_dim = CubeDim::new_1d(UNITS as u32);
    let cubes = |units: usize| cube_count(client, units.div_ceil(UNITS).max(1));

    let mut sorted = words(n);
    // SAFETY: units beyond `n` do nothing; both buffers hold `n` elements.
    unsafe {
        clamp_keys_kernel::launch_unchecked(
            client,
            cubes(n),
            cube_dim,
            address_type,
            keys.into_buffer_arg(),
            arg(&sorted, n),
            n,
            num_keys as u32,
            dtype,
        );
    }
    let passes = (usize::BITS - num_keys.leading_zeros())
        .div_ceil(DIGIT_BITS)
        .max(1);
    let digits_dim = CubeDim::new_1d(digits::UNITS as u32);
    // What the first pass does not read and the last does not write is never accessed.
    let mut positions = words(1);
    let mut positions_len = 1;
    for pass in 0..passes {
        let last = pass + 1 == passes;
        let shift = pass * DIGIT_BITS;
        let counts = words(DIGITS * tiles);
        let begins = words(DIGITS * tiles);
        // SAFETY: one count per digit and tile; units beyond `n` and cubes beyond `tiles` do nothing.
        unsafe {
            count_digits_kernel::launch_unchecked(
                client,
                cube_count(client, tiles),
                digits_dim,
                address_type,
                arg(&sorted, n),
                arg(&counts, DIGITS * tiles),
                n,
                tiles,
                shift,
            );
        }
        begins_of(client, &counts, &begins, DIGITS * tiles)?;
        let positions_out_len = if last { 1 } else { n };
        let (keys_out, positions_out) = (words(n), words(positions_out_len));
        // SAFETY: a digit's begin plus a rank below its count is below `n`; positions are a permutation of `0..n`.
        unsafe {
            move_digits_kernel::launch_unchecked(
                client,
                cube_count(client, tiles),
                digits_dim,
                address_type,
                arg(&sorted, n),
                arg(&positions, positions_len),
                arg(&begins, DIGITS * tiles),
                arg(&keys_out, n),
                arg(&positions_out, positions_out_len),
                slots.clone().into_buffer_arg(),
                n,
                tiles,
                shift,
                num_keys as u32,
                pass == 0,
                last,
                index,
            );
        }
        (sorted, positions, positions_len) = (keys_out, positions_out, positions_out_len);
    }
    // SAFETY: units beyond the groups do nothing; bisection stays within the `n` sorted keys.
    unsafe {
        offsets_kernel::launch_unchecked(
            client,
            cubes(num_keys + 1),
            cube_dim,
            address_type,
            arg(&sorted, n),
            offsets.into_buffer_arg(),
            n,
            num_keys + 1,
            index,
        );
    }
    Ok(())
}
