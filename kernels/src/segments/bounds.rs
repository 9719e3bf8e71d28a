//! Offsets on the device, none of which is trusted.

use crate::checked_index::checked_index;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// A tensor and its element type.
pub(super) type Typed = (TensorBinding, ElemType);

/// The message of the panic without offsets.
pub(super) const NO_OFFSETS: &str = "segments have one offset more than there are segments";

/// An offset; `len` if it is not in `0..len`.
#[cube]
pub(super) fn bounded<I: Numeric>(offset: I, len: usize) -> usize {
    let (at, valid) = checked_index::<I>(offset, len);
    select(valid, at, len)
}
