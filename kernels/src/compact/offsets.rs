//! Where the groups of a grouping by key begin, if keys have several digits.

use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// `offsets[k]` is the number of keys below `k`, found by bisection, up to `k = num_keys`.
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
