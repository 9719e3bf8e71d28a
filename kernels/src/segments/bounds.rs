//! Offsets on the device, none of which is trusted.

use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// A tensor and its element type.
pub(super) type Typed = (TensorBinding, ElemType);

/// The message of the panic without offsets.
pub(super) const NO_OFFSETS: &str = "segments have one offset more than there are segments";

/// Units of a cube, as in CubeCL's element-wise kernels on GPUs.
pub(super) const UNITS: usize = 128;

/// An offset, and whether it points to an element. If not, 0.
#[cube]
pub(super) fn within<I: Numeric>(offset: I, len: usize) -> (usize, bool) {
    let narrow = usize::cast_from(offset);
    // The last test catches what the cast to the width of an address would fold into range.
    let valid = offset >= I::from_int(0) && narrow < len && I::cast_from(narrow) == offset;
    (select(valid, narrow, 0), valid)
}

/// An offset; `len` if it is not in `0..len`.
#[cube]
pub(super) fn bounded<I: Numeric>(offset: I, len: usize) -> usize {
    let narrow = usize::cast_from(offset);
    let valid = offset >= I::from_int(0) && narrow < len && I::cast_from(narrow) == offset;
    select(valid, narrow, len)
}
