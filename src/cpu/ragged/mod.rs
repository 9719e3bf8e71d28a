//! Rows of any length, one after the other, and their offsets: row `j` is `offsets[j]..offsets[j + 1]`.
//!
//! ```text
//! offsets      0 2 2 5          three rows, the second empty
//! segment ids  0 0 2 2 2 3 …    3 after the last row
//! starts       1 0 1 0 0 1 …
//! repeated     a a c c c 0 …    of the values a b c
//! ```

mod bounds;
mod reduce;
mod run_lengths;

pub(crate) use bounds::Bounds;
pub(crate) use reduce::segment_reduce;
pub(crate) use run_lengths::run_lengths;

use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::Output;
use super::compress::{Index, Word};
use super::parallel;
use super::row_major::BLOCK;

/// The row of each element. After the last row it is the number of rows.
pub(crate) fn segment_ids<I: Index>(bounds: &Bounds) -> Vec<I> {
    filled(bounds, 1, |row, slots| {
        slots.fill(MaybeUninit::new(I::from_usize(row)));
    })
}

/// 1 at every offset below `len`, 0 elsewhere.
pub(crate) fn segment_starts<I: Index>(offsets: &[I], len: usize) -> Vec<u8> {
    let mut starts = vec![0; len];
    for offset in offsets {
        if let Some(start) = starts.get_mut(offset.to_usize()) {
            *start = 1;
        }
    }
    starts
}

/// Row `j` of the values, which has `width` elements, at each place from offset `j` up to the next offset; zeros after
/// the last offset.
///
/// # Panics
///
/// If there is not one offset more than rows.
pub(crate) fn repeat_rows<T: Word>(values: &[T], bounds: &Bounds, width: usize) -> Vec<T> {
    assert_eq!(
        values.len(),
        bounds.rows() * width,
        "one row for each length"
    );
    filled(bounds, width, |row, slots| {
        let value = values.get(row * width..(row + 1) * width);
        match (value, width) {
            (None, _) => slots.fill(MaybeUninit::new(T::default())),
            (Some(&[value]), 1) => slots.fill(MaybeUninit::new(value)),
            (Some(value), _) => {
                for slots in slots.chunks_exact_mut(width) {
                    slots.write_copy_of_slice(value);
                }
            }
        }
    })
}

/// `width` elements for each position in the rows and after them. `fill(row, slots)` writes the elements of a row.
fn filled<T: Copy + Send>(
    bounds: &Bounds,
    width: usize,
    fill: impl Fn(usize, &mut [MaybeUninit<T>]) + Sync,
) -> Vec<T> {
    let mut output = Output::new(bounds.len() * width);
    let part = |first: usize, slots: &mut [MaybeUninit<T>]| {
        let (first, positions) = (first / width, slots.len() / width);
        let mut slots = slots;
        bounds.each_piece(first..first + positions, |row, piece: Range<usize>| {
            let (own, rest) = core::mem::take(&mut slots).split_at_mut(piece.len() * width);
            slots = rest;
            fill(row, own);
        });
    };
    let slots = output.slots();
    if !slots.is_empty() {
        parallel::for_each_part_of(slots.len(), slots, BLOCK.div_ceil(width) * width, &part);
    }
    // SAFETY: the pieces of each part make up the part, and each piece was filled.
    unsafe { output.finish() }
}
