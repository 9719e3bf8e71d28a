//! Stream compaction: the elements under a mask, in order.
//!
//! The mask is cut into blocks of fixed size. The trues of each block are counted, the output is allocated and split
//! by the counts, and every block then fills its own part. A mask byte other than zero is true.
//!
//! Inside a block there is no branch on the mask, which a random mask would mispredict every other time: each
//! element is written at the cursor, and the cursor moves on by the mask, so that the next element overwrites one
//! that was not to be kept. Near the end of the part, where such a write could fall outside, the last survivors are
//! written one by one.

use core::mem::MaybeUninit;

use rayon::prelude::*;

use super::buffer::Output;
use super::rows::PARALLEL;

/// Mask bytes in a block: a task of some 10 µs, a hundred times what it costs to hand it out.
pub(super) const BLOCK: usize = 1 << 14;

/// Mask bytes that are looked at together, so that a stretch of falses is skipped.
pub(super) const GROUP: usize = 8;

/// Integers that index tensors.
pub(crate) trait Index: Copy + Default + Send + Sync + 'static {
    /// The index as this type; it wraps where the type cannot hold it.
    fn from_usize(index: usize) -> Self;

    /// The index, or `usize::MAX` where it is negative or too large.
    fn to_usize(self) -> usize;
}

macro_rules! index {
    ($($ty:ty),*) => {$(
        impl Index for $ty {
            #[inline(always)]
            fn from_usize(index: usize) -> Self {
                index as $ty
            }

            #[inline(always)]
            fn to_usize(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }
        }
    )*};
}

index!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

/// The number of trues.
pub(crate) fn count_true(mask: &[u8]) -> usize {
    if mask.len() < PARALLEL {
        count_block(mask)
    } else {
        mask.par_chunks(BLOCK).map(count_block).sum()
    }
}

/// The values under `true`.
pub(crate) fn compact<T: Copy + Send + Sync>(values: &[T], mask: &[u8]) -> Vec<T> {
    assert_eq!(values.len(), mask.len(), "one mask entry for each value");
    let counts = block_counts(mask);
    let mut output = Output::new(counts.iter().sum());
    compact_into(values, mask, &counts, output.slots());
    // SAFETY: there are as many slots as survivors.
    unsafe { output.finish() }
}

/// The values under `true`, followed by zeros up to the length of the input, and how many they are.
pub(crate) fn compact_padded<T: Copy + Default + Send + Sync>(
    values: &[T],
    mask: &[u8],
) -> (Vec<T>, usize) {
    assert_eq!(values.len(), mask.len(), "one mask entry for each value");
    let counts = block_counts(mask);
    let count = counts.iter().sum();
    let mut output = Output::new(values.len());
    let (survivors, tail) = output.slots().split_at_mut(count);
    compact_into(values, mask, &counts, survivors);
    fill_default(tail);
    // SAFETY: the survivors and the tail are the whole output.
    (unsafe { output.finish() }, count)
}

/// The positions of the trues.
pub(crate) fn compact_indices<I: Index>(mask: &[u8]) -> Vec<I> {
    let counts = block_counts(mask);
    let mut output = Output::new(counts.iter().sum());
    for_each_block(mask, &counts, 1, output.slots(), |first, mask, part| {
        write_survivors(mask, part, |index| I::from_usize(first + index));
    });
    // SAFETY: there are as many slots as trues.
    unsafe { output.finish() }
}

/// The coordinates of the trues in a row-major mask of `shape`: as many rows of `shape.len()` numbers.
pub(crate) fn argwhere<I: Index>(mask: &[u8], shape: &[usize]) -> Vec<I> {
    assert_eq!(
        mask.len(),
        shape.iter().product::<usize>(),
        "the mask does not have the shape {shape:?}"
    );
    let Some((&row, outer)) = shape.split_last() else {
        return Vec::new();
    };
    let counts = block_counts(mask);
    let mut output = Output::new(counts.iter().sum::<usize>() * shape.len());
    for_each_block(
        mask,
        &counts,
        shape.len(),
        output.slots(),
        |first, mask, part| {
            let mut indices = Output::new(part.len() / shape.len());
            write_survivors(mask, indices.slots(), |index| first + index);
            // SAFETY: there are as many slots as trues in the block.
            let indices = unsafe { indices.finish() };

            // Only the last coordinate changes within a row.
            let mut coordinates = vec![I::default(); outer.len()];
            let (mut row_start, mut row_end) = (0, 0);
            for (&index, place) in indices.iter().zip(part.chunks_exact_mut(shape.len())) {
                if index >= row_end {
                    let mut rest = index / row;
                    (row_start, row_end) = (rest * row, (rest + 1) * row);
                    for (coordinate, &size) in coordinates.iter_mut().zip(outer).rev() {
                        *coordinate = I::from_usize(rest % size);
                        rest /= size;
                    }
                }
                for (slot, &coordinate) in place.iter_mut().zip(&coordinates) {
                    slot.write(coordinate);
                }
                place[outer.len()].write(I::from_usize(index - row_start));
            }
        },
    );
    // SAFETY: each true has had all its coordinates written.
    unsafe { output.finish() }
}

/// The slices along the middle dimension of a `[outer, mask.len(), inner]` that are under `true`.
pub(crate) fn compact_rows<T: Copy + Default + Send + Sync>(
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

/// As [`compact_rows`], followed by slices of zeros up to the shape of the input, and how many slices were kept.
pub(crate) fn compact_rows_padded<T: Copy + Default + Send + Sync>(
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

/// In the plan of [`pick_rows`]: a slice of zeros.
pub(super) const NOTHING: usize = usize::MAX;

/// Takes slices of a `[outer, len, inner]` along the middle dimension: slice `i` of the `[outer, new_len, inner]`
/// that is returned is slice `plan[i]` of `values`, or zero where the plan says [`NOTHING`] or has ended.
pub(super) fn pick_rows<T: Copy + Default + Send + Sync>(
    values: &[T],
    len: usize,
    outer: usize,
    inner: usize,
    plan: &[usize],
    new_len: usize,
) -> Vec<T> {
    let mut output = Output::new(outer * new_len * inner);
    let pick = |first: usize, part: &mut [MaybeUninit<T>]| {
        let (mut plane, mut index) = (first / new_len, first % new_len);
        for slots in part.chunks_exact_mut(inner) {
            match plan.get(index) {
                Some(&source) if source != NOTHING => {
                    let source = &values[(plane * len + source) * inner..][..inner];
                    // A call to `memcpy` costs more than copying one element.
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
    if slots.len() < PARALLEL {
        if !slots.is_empty() {
            pick(0, slots);
        }
    } else {
        let rows = BLOCK.div_ceil(inner);
        slots
            .par_chunks_mut(rows * inner)
            .enumerate()
            .for_each(|(task, part)| pick(task * rows, part));
    }
    // SAFETY: every slot lies in one slice, which was copied or filled.
    unsafe { output.finish() }
}

/// Writes zeros.
pub(super) fn fill_default<T: Copy + Default + Send>(slots: &mut [MaybeUninit<T>]) {
    if slots.len() < PARALLEL {
        slots.fill(MaybeUninit::new(T::default()));
    } else {
        slots.par_chunks_mut(BLOCK).for_each(|slots| {
            slots.fill(MaybeUninit::new(T::default()));
        });
    }
}

/// The number of trues in each block.
pub(super) fn block_counts(mask: &[u8]) -> Vec<usize> {
    if mask.len() < PARALLEL {
        mask.chunks(BLOCK).map(count_block).collect()
    } else {
        mask.par_chunks(BLOCK).map(count_block).collect()
    }
}

/// Counts eight bytes at a time, each in a byte of its own.
fn count_block(mask: &[u8]) -> usize {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LANES: usize = 4;

    let mut count = 0;
    let (vectors, rest) = mask.as_chunks::<{ 8 * LANES }>();
    // A byte holds 255 trues.
    for vectors in vectors.chunks(255) {
        let mut lanes = [0u64; LANES];
        for vector in vectors {
            let (words, _) = vector.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                let word = u64::from_ne_bytes(*word);
                // The high bit of a byte is set if it was, or if the sum of its other bits and 127 carried into it.
                *lane += ((((word & LOW) + LOW) | word) >> 7) & ONES;
            }
        }
        count += lanes
            .iter()
            .flat_map(|lane| lane.to_ne_bytes())
            .map(usize::from)
            .sum::<usize>();
    }
    count + rest.iter().filter(|&&byte| byte != 0).count()
}

fn compact_into<T: Copy + Send + Sync>(
    values: &[T],
    mask: &[u8],
    counts: &[usize],
    output: &mut [MaybeUninit<T>],
) {
    for_each_block(mask, counts, 1, output, |first, mask, part| {
        let values = &values[first..][..mask.len()];
        // SAFETY: `write_survivors` asks for indices of the mask, and there are as many values.
        write_survivors(mask, part, |index| unsafe { *values.get_unchecked(index) });
    });
}

/// Calls `fill(first, mask, part)` for each block of the mask, which begins at `first`, with its part of the output:
/// `width` slots for each true.
fn for_each_block<U: Send>(
    mask: &[u8],
    counts: &[usize],
    width: usize,
    mut output: &mut [MaybeUninit<U>],
    fill: impl Fn(usize, &[u8], &mut [MaybeUninit<U>]) + Sync,
) {
    let parts = mask
        .chunks(BLOCK)
        .zip(counts)
        .enumerate()
        .map(|(block, (mask, &count))| {
            let (part, rest) = core::mem::take(&mut output).split_at_mut(count * width);
            output = rest;
            (block * BLOCK, mask, part)
        });
    if mask.len() < PARALLEL {
        parts.for_each(|(first, mask, part)| fill(first, mask, part));
    } else {
        let parts: Vec<_> = parts.collect();
        parts
            .into_par_iter()
            .for_each(|(first, mask, part)| fill(first, mask, part));
    }
}

/// Writes `value(index)` for each true of the mask. `part` has one slot for each of them.
#[inline(always)]
fn write_survivors<U>(mask: &[u8], part: &mut [MaybeUninit<U>], value: impl Fn(usize) -> U) {
    let mut cursor = 0;
    let (groups, rest) = mask.as_chunks::<GROUP>();
    for (group, bytes) in groups.iter().enumerate() {
        if u64::from_ne_bytes(*bytes) == 0 {
            continue;
        }
        let first = group * GROUP;
        if part.len() - cursor >= GROUP {
            for (offset, &byte) in bytes.iter().enumerate() {
                // SAFETY: the cursor has moved on by less than `GROUP` since there were `GROUP` slots behind it.
                unsafe { part.get_unchecked_mut(cursor) }.write(value(first + offset));
                cursor += usize::from(byte != 0);
            }
        } else {
            cursor = write_last(bytes, part, cursor, |offset| value(first + offset));
        }
    }
    let first = groups.len() * GROUP;
    cursor = write_last(rest, part, cursor, |offset| value(first + offset));
    assert_eq!(cursor, part.len());
}

/// As the loop of [`write_survivors`], with a branch and without a write that is not kept.
#[inline(always)]
fn write_last<U>(
    mask: &[u8],
    part: &mut [MaybeUninit<U>],
    mut cursor: usize,
    value: impl Fn(usize) -> U,
) -> usize {
    for (offset, &byte) in mask.iter().enumerate() {
        if byte != 0 {
            part[cursor].write(value(offset));
            cursor += 1;
        }
    }
    cursor
}
