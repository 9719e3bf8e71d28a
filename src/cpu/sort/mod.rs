//! Stable sorts of lines, and the first elements of their order.
//!
//! | file | what |
//! |---|---|
//! | [`keys`] | bits of elements as keys without a sign, whose order is that of the elements |
//! | [`radix`] | the sort of one line, digit by digit |
//! | [`combining`] | moves items to the places of their digits, a cache line at a time |
//! | [`item`] | what is sorted: keys, alone or with their positions |
//! | [`network`] | the sort of several short lines side by side |
//! | [`lines`] | moves the lines of a tensor to where they are sorted, and back |
//! | [`first`] | the first few elements of a line, without a sort of the line |
//!
//! Only keys are sorted. Afterwards each key becomes its element again. Zeros share a key, and so do NaN: these are
//! taken from the line, in the order that they have there. Positions are 32 bits wide unless a line is longer than
//! that.

mod combining;
mod first;
mod item;
mod keys;
mod lines;
mod network;
mod radix;

pub(crate) use keys::{Bits, Floats, Integers, Order};

use super::compress::Index;
use lines::SortInput;

/// Sorts each line of `[outer, len, inner]` along its middle dimension. Planes have no gaps, and begin `apart` from each
/// other.
///
/// # Panics
///
/// If there are more or fewer values.
pub(crate) fn sort<B: Bits, O: Order<B>>(
    values: &[B],
    shape: [usize; 3],
    apart: usize,
    order: O,
) -> Vec<B> {
    SortInput::new(values, shape, apart).sort(order)
}

/// The positions, within their line, of the elements of each line in order.
///
/// # Panics
///
/// As [`sort`].
pub(crate) fn argsort<B: Bits, O: Order<B>, I: Index>(
    values: &[B],
    shape: [usize; 3],
    apart: usize,
    order: O,
) -> Vec<I> {
    let lines = SortInput::new(values, shape, apart);
    if const { has_wide::<I>() } && is_long(shape) {
        lines.argsort::<O, usize, I>(order)
    } else {
        lines.argsort::<O, u32, I>(order)
    }
}

/// The first `k` elements of each line in order, and their positions, as `[outer, k, inner]`. Of equal elements, those
/// at the lowest positions are first.
///
/// # Panics
///
/// As [`sort`], and if a line has fewer than `k` elements.
pub(crate) fn first<B: Bits, O: Order<B>, I: Index>(
    values: &[B],
    shape: [usize; 3],
    apart: usize,
    k: usize,
    order: O,
) -> (Vec<B>, Vec<I>) {
    assert!(k <= shape[1], "the first {k} of {}", shape[1]);
    let lines = SortInput::new(values, shape, apart);
    if first::is_few(k, shape[1]) {
        lines.first::<O, I>(k, order)
    } else if const { has_wide::<I>() } && is_long(shape) {
        lines.sort_with_positions::<O, usize, I>(k, order)
    } else {
        lines.sort_with_positions::<O, u32, I>(k, order)
    }
}

/// All of each line, with positions as wide as those of lines that are longer than any in a test.
#[cfg(test)]
pub(super) fn sort_with_wide_positions<B: Bits, O: Order<B>>(
    values: &[B],
    shape: [usize; 3],
    order: O,
) -> (Vec<B>, Vec<usize>) {
    SortInput::new(values, shape, shape[1] * shape[2])
        .sort_with_positions::<O, usize, usize>(shape[1], order)
}

/// Whether the type has positions that do not fit 32 bits. If not, callers refuse lines with such positions.
const fn has_wide<I>() -> bool {
    size_of::<I>() > size_of::<u32>()
}

/// Whether positions do not fit 32 bits.
fn is_long([_, len, _]: [usize; 3]) -> bool {
    u32::try_from(len).is_err()
}
