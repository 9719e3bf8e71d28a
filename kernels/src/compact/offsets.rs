//! Where the groups of a grouping by key begin. Both kernels write an offset for each key, and the end of the last.

use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Copies the first of the `entries` entries of each key, and the entry after all of them.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn copy_offsets_kernel<I: Numeric>(
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

/// `offsets[k]` is the number of keys below `k`, found by bisection.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn find_offsets_kernel<I: Numeric>(
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
