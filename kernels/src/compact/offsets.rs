//! Where the groups of a grouping by key begin.

use crate::scan::{ELEMENTWISE_UNITS, cube_count};
use cubecl::client::Client;
use cubecl::ir::{AddressType, ElemType};
use cubecl::prelude::*;
use cubecl::server::Handle;

/// `entry_offsets` has `entries` entries for each key.
#[cube(launch_unchecked, address_type = "dynamic")]
fn copy_offsets_kernel<I: Numeric>(
    entry_offsets: &[u32],
    offsets: &mut [I],
    num_keys: usize,
    entries: usize,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS <= num_keys {
        offsets[ABSOLUTE_POS] = I::cast_from(entry_offsets[ABSOLUTE_POS * entries]);
    }
}

/// Copies the first of the `entries` entries of each key, and the entry behind all.
pub(super) fn copy_offsets(
    client: &Client,
    entry_offsets: &Handle,
    offsets: TensorBinding,
    (num_keys, entries): (usize, usize),
    index: ElemType,
    address_type: AddressType,
) {
    // SAFETY: `entry_offsets` was made with so many words, and `offsets` has room for one more than there are keys.
    unsafe {
        copy_offsets_kernel::launch_unchecked(
            client,
            cube_count(client, (num_keys + 1).div_ceil(ELEMENTWISE_UNITS)),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            BufferArg::from_raw_parts(entry_offsets.clone(), num_keys * entries + 1),
            offsets.into_buffer_arg(),
            num_keys,
            entries,
            index,
        );
    }
}

/// `offsets[k]` is the number of keys below `k`.
#[cube(launch_unchecked, address_type = "dynamic")]
fn find_offsets_kernel<I: Numeric>(
    sorted: &[u32],
    offsets: &mut [I],
    elements: usize,
    num_keys: usize,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS <= num_keys {
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

/// Finds the place of the first of each key by bisection in `n` sorted keys, and of the first that is out of range.
pub(super) fn find_offsets(
    client: &Client,
    (sorted, n): (&Handle, usize),
    offsets: TensorBinding,
    num_keys: usize,
    index: ElemType,
    address_type: AddressType,
) {
    // SAFETY: `sorted` was made with `n` words, in which bisection stays; `offsets` has room for one more than there
    // are keys.
    unsafe {
        find_offsets_kernel::launch_unchecked(
            client,
            cube_count(client, (num_keys + 1).div_ceil(ELEMENTWISE_UNITS)),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            BufferArg::from_raw_parts(sorted.clone(), n.max(1)),
            offsets.into_buffer_arg(),
            n,
            num_keys,
            index,
        );
    }
}
