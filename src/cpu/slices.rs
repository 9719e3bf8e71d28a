//! Selections of whole slices along a dimension, under a mask.
//!
//! A plan says for each slice of the output which slice of the input it is. If all slices are single elements of one
//! row, `compact` and `expand` do the work.

use core::mem::MaybeUninit;

use super::buffer::Output;
use super::compact::{BLOCK, compact, compact_indices, compact_padded};
use super::compress::Word;
use super::expand::expand;
use super::parallel;

/// The slices along the middle dimension of a `[outer, mask.len(), inner]` that are under `true`.
pub(crate) fn compact_rows<T: Word>(
    values: &[T],
    mask: &[u8],
    outer: usize,
    inner: usize,
) -> Vec<T> {
    assert_eq!(
        values.len(),
        outer * mask.len() * inner,
        "the values are not [{outer}, {}, {inner}]",
        mask.len()
    );
    if outer * inner == 1 {
        return compact(values, mask);
    }
    let kept = compact_indices(mask);
    pick_rows(values, mask.len(), outer, inner, &kept, kept.len())
}

/// [`compact_rows`], followed by slices of zeros up to the shape of the input; and how many slices survive.
pub(crate) fn compact_rows_padded<T: Word>(
    values: &[T],
    mask: &[u8],
    outer: usize,
    inner: usize,
) -> (Vec<T>, usize) {
    assert_eq!(
        values.len(),
        outer * mask.len() * inner,
        "the values are not [{outer}, {}, {inner}]",
        mask.len()
    );
    if outer * inner == 1 {
        return compact_padded(values, mask);
    }
    let kept = compact_indices(mask);
    (
        pick_rows(values, mask.len(), outer, inner, &kept, mask.len()),
        kept.len(),
    )
}

/// The inverse of [`compact_rows`]: the slices of a `[outer, k, inner]` go back to the trues of the mask. The result is
/// `[outer, mask.len(), inner]`; slices without values are zero.
pub(crate) fn expand_rows<T: Word>(
    values: &[T],
    mask: &[u8],
    outer: usize,
    inner: usize,
) -> Vec<T> {
    if outer * inner == 1 {
        return expand(values, mask);
    }
    let len = values.len().checked_div(outer * inner).unwrap_or(0);
    assert_eq!(
        values.len(),
        outer * len * inner,
        "the values are not [{outer}, k, {inner}]"
    );
    let mut cursor = 0;
    let plan: Vec<usize> = mask
        .iter()
        .map(|&byte| {
            let source = if byte != 0 && cursor < len {
                cursor
            } else {
                NOTHING
            };
            cursor += usize::from(byte != 0);
            source
        })
        .collect();
    pick_rows(values, len, outer, inner, &plan, mask.len())
}

/// In the plan of [`pick_rows`]: a slice of zeros.
const NOTHING: usize = usize::MAX;

/// Takes slices of a `[outer, len, inner]` along the middle dimension. The result is `[outer, new_len, inner]`. Its
/// slice `i` is slice `plan[i]` of `values`, or zero where the plan says [`NOTHING`] or has ended.
fn pick_rows<T: Word>(
    values: &[T],
    len: usize,
    outer: usize,
    inner: usize,
    plan: &[usize],
    new_len: usize,
) -> Vec<T> {
    let mut output = Output::new(outer * new_len * inner);
    let pick = |at: usize, part: &mut [MaybeUninit<T>]| {
        let (mut plane, mut index) = (at / inner / new_len, at / inner % new_len);
        for slots in part.chunks_exact_mut(inner) {
            match plan.get(index) {
                Some(&source) if source != NOTHING => {
                    let source = &values[(plane * len + source) * inner..][..inner];
                    // A call to `memcpy` costs more than the copy of one element.
                    if let ([slot], [value]) = (&mut *slots, source) {
                        slot.write(*value);
                    } else {
                        slots.write_copy_of_slice(source);
                    }
                }
                _ => {
                    slots.fill(MaybeUninit::new(T::default()));
                }
            }
            index += 1;
            if index == new_len {
                (plane, index) = (plane + 1, 0);
            }
        }
    };
    let slots = output.slots();
    if !slots.is_empty() {
        let part = BLOCK.div_ceil(inner) * inner;
        parallel::for_each_part_of(slots.len(), slots, part, &pick);
    }
    // SAFETY: every slot lies in one slice, and each slice was copied or filled.
    unsafe { output.finish() }
}
