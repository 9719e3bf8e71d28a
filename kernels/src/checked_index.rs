//! Untrusted indices that a tensor holds.

use cubecl::prelude::*;

/// Whether an index is below `len`, and not negative. `narrow` is the index, cast to the type of `len`.
#[cube]
pub(crate) fn is_below<I: Numeric, U: Numeric>(index: I, narrow: U, len: U) -> bool {
    // The last test catches what the cast would fold into range.
    index >= I::from_int(0) && narrow < len && I::cast_from(narrow) == index
}

/// An index, and whether it is below `len`. If not, 0.
#[cube]
pub(crate) fn checked_index<I: Numeric>(index: I, len: usize) -> (usize, bool) {
    let narrow = usize::cast_from(index);
    let valid = is_below::<I, usize>(index, narrow, len);
    (select(valid, narrow, 0), valid)
}
