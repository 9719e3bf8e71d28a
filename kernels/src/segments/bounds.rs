//! Untrusted offsets on the device.

use crate::checked_index::checked_index;
use crate::error::Typed;
use cubecl::prelude::*;

/// The number of offsets.
///
/// # Panics
///
/// If there are none.
#[track_caller]
pub(super) fn entries_of(offsets: &Typed) -> usize {
    let entries: usize = offsets.0.shape.iter().product();
    assert!(
        entries > 0,
        "segments have one offset more than there are segments"
    );
    entries
}

/// An offset; `len` if it is not in `0..len`.
#[cube]
pub(super) fn bounded<I: Numeric>(offset: I, len: usize) -> usize {
    let (at, valid) = checked_index::<I>(offset, len);
    select(valid, at, len)
}
