//! Indices that a tensor holds, none of which is trusted.

use cubecl::prelude::*;

/// An index, and whether it is below `len`. If not, 0.
#[cube]
pub(crate) fn checked_index<I: Numeric>(index: I, len: usize) -> (usize, bool) {
    let narrow = usize::cast_from(index);
    // The last test catches what the cast to the width of an address would fold into range.
    let valid = index >= I::from_int(0) && narrow < len && I::cast_from(narrow) == index;
    (select(valid, narrow, 0), valid)
}
