//! Selections of whole slices along a dimension, under a mask.
//!
//! A plan says for each slice of the output which slice of the input it is. It is made for a stretch of the mask at a
//! time: a plan for the whole mask would be larger than the slices, where these have few bytes. If all slices are
//! single elements of one row, `compact` and `expand` do the work.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::buffer::{Output, Shared};
use super::compact::{compact, compact_indices};
use super::compress::Word;
use super::expand::expand;
use super::parallel;
use super::row_major::BLOCK;
use super::trues::count_true;

/// Mask bytes of a stretch. Its plan is half a megabyte.
const STRETCH: usize = 1 << 17;

/// The slices along the middle dimension of a `[outer, mask.len(), inner]` that are under `true`, if `padded` with
/// slices of zeros after them up to the shape of the input; and how many slices survive.
pub(crate) fn compact_rows<T: Word>(
    values: &[T],
    mask: &[u8],
    [outer, inner]: [usize; 2],
    padded: bool,
) -> (Vec<T>, usize) {
    if outer * inner == 1 {
        return compact(&values.into(), &mask.into(), padded);
    }
    let len = if padded {
        mask.len()
    } else {
        count_true(&mask.into())
    };
    assert_eq!(
        values.len(),
        outer * mask.len() * inner,
        "the values are not [{outer}, {}, {inner}]",
        mask.len()
    );
    let mut output = Output::new(outer * len * inner);
    let rows = Rows::new(values, mask.len(), output.slots(), len, [outer, inner]);
    let mut written = 0;
    for (stretch, mask) in mask.chunks(STRETCH).enumerate() {
        let kept = compact_indices::<u32>(&mask.into());
        rows.write(written..written + kept.len(), stretch * STRETCH, &kept);
        written += kept.len();
    }
    rows.write(written..len, 0, &[]);
    // SAFETY: the survivors of all stretches and the rest are the whole output.
    (unsafe { output.finish() }, written)
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
        return expand(values, &mask.into());
    }
    let len = values.len().checked_div(outer * inner).unwrap_or(0);
    assert_eq!(
        values.len(),
        outer * len * inner,
        "the values are not [{outer}, k, {inner}]"
    );
    let mut output = Output::new(outer * mask.len() * inner);
    let rows = Rows::new(values, len, output.slots(), mask.len(), [outer, inner]);
    let (mut taken, mut plan) = (0, Vec::new());
    for (stretch, mask) in mask.chunks(STRETCH).enumerate() {
        let first = taken;
        plan.clear();
        plan.extend(mask.iter().map(|&byte| {
            let is_taken = byte != 0 && taken < len;
            taken += usize::from(is_taken);
            if is_taken {
                (taken - 1 - first) as u32
            } else {
                NOTHING
            }
        }));
        let start = stretch * STRETCH;
        rows.write(start..start + mask.len(), first, &plan);
    }
    // SAFETY: the stretches are the whole output.
    unsafe { output.finish() }
}

/// In a plan: a slice of zeros.
const NOTHING: u32 = u32::MAX;

/// Slices of a `[outer, len, inner]` that become slices of a `[outer, new_len, inner]`.
struct Rows<'a, T> {
    values: &'a [T],
    len: usize,
    output: Shared<'a, T>,
    new_len: usize,
    outer: usize,
    inner: usize,
}

impl<'a, T: Word> Rows<'a, T> {
    fn new(
        values: &'a [T],
        len: usize,
        output: &'a mut [MaybeUninit<T>],
        new_len: usize,
        [outer, inner]: [usize; 2],
    ) -> Self {
        Self {
            values,
            len,
            output: Shared::new(output),
            new_len,
            outer,
            inner,
        }
    }

    /// Writes some slices of each plane. The `i`-th of them is slice `first + plan[i]` of the values, or zero where the
    /// plan says [`NOTHING`] or has ended.
    fn write(&self, slices: Range<usize>, first: usize, plan: &[u32]) {
        let (all, inner) = (self.outer * slices.len(), self.inner);
        if all * inner == 0 {
            return;
        }
        let part = BLOCK.div_ceil(inner);
        let one = |task: usize| {
            let at = task * part;
            let (mut plane, mut index) = (at / slices.len(), at % slices.len());
            for _ in at..all.min(at + part) {
                let place = (plane * self.new_len + slices.start + index) * inner;
                // SAFETY: each slice is in one task of one call.
                let slots = unsafe { self.output.slice(place..place + inner) };
                match plan.get(index) {
                    Some(&source) if source != NOTHING => {
                        let source = plane * self.len + first + source as usize;
                        let source = &self.values[source * inner..][..inner];
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
                if index == slices.len() {
                    (plane, index) = (plane + 1, 0);
                }
            }
        };
        parallel::for_each_of(all * inner, all.div_ceil(part), 1, &one);
    }
}
