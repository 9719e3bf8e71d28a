//! Stream compaction: the elements under a mask, in order.
//!
//! The mask is split into blocks of fixed size. The trues of each block are counted, the output is allocated and split
//! by the counts, and every block then fills its own part, see [`compress`]. A mask byte other than zero is true.

use core::mem::MaybeUninit;

use super::buffer::Output;
use super::compress::{self, Index, Word};
use super::parallel;

/// Mask bytes in a block: a task of some 10 µs, a hundred times the cost of handing it out.
pub(super) const BLOCK: usize = 1 << 14;

/// The number of trues.
pub(crate) fn count_true(mask: &[u8]) -> usize {
    block_counts(mask).into_iter().sum()
}

/// Whether every entry is true. The first block with a false ends the search.
pub(crate) fn all_true(mask: &[u8]) -> bool {
    mask.chunks(BLOCK)
        .all(|mask| compress::count(mask) == mask.len())
}

/// The values under `true`.
pub(crate) fn compact<T: Word>(values: &[T], mask: &[u8]) -> Vec<T> {
    let trues = Trues::count(mask);
    let mut output = Output::new(trues.count);
    compact_into(values, mask, &trues, output.slots());
    // SAFETY: there are as many slots as survivors.
    unsafe { output.finish() }
}

/// The values under `true`, followed by zeros up to the length of the input, and their number.
pub(crate) fn compact_padded<T: Word>(values: &[T], mask: &[u8]) -> (Vec<T>, usize) {
    let trues = Trues::count(mask);
    let mut output = Output::new(values.len());
    let (survivors, tail) = output.slots().split_at_mut(trues.count);
    compact_into(values, mask, &trues, survivors);
    fill_default(tail);
    // SAFETY: the survivors and the tail are the whole output.
    (unsafe { output.finish() }, trues.count)
}

/// The positions of the trues.
pub(crate) fn compact_indices<I: Index>(mask: &[u8]) -> Vec<I> {
    let counts = block_counts(mask);
    let mut output = Output::new(counts.iter().sum());
    for_each_block(mask, &counts, 1, output.slots(), |first, mask, part| {
        compress::positions(mask, first, part);
    });
    // SAFETY: there are as many slots as trues.
    unsafe { output.finish() }
}

/// The coordinates of the trues in a row-major mask of `shape`: for each true a row of `shape.len()` numbers.
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
            compress::positions::<usize>(mask, first, indices.slots());
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
    // SAFETY: all coordinates of each true have been written.
    unsafe { output.finish() }
}

/// Writes zeros.
pub(super) fn fill_default<T: Copy + Default + Send>(slots: &mut [MaybeUninit<T>]) {
    parallel::for_each_part_of(slots.len(), slots, BLOCK, &|_, slots| {
        slots.fill(MaybeUninit::new(T::default()));
    });
}

/// The number of trues in each block.
pub(super) fn block_counts(mask: &[u8]) -> Vec<usize> {
    let mut counts = vec![0; mask.len().div_ceil(BLOCK)];
    parallel::for_each_part_of(mask.len(), &mut counts, 1, &|block, counts| {
        let mask = &mask[block * BLOCK..];
        counts[0] = compress::count(&mask[..mask.len().min(BLOCK)]);
    });
    counts
}

/// The trues of a mask.
struct Trues {
    count: usize,
    /// Those of each block, if several threads have use for them.
    of_blocks: Option<Vec<usize>>,
}

impl Trues {
    fn count(mask: &[u8]) -> Self {
        if mask.len() < parallel::PARALLEL {
            return Self {
                count: compress::count(mask),
                of_blocks: None,
            };
        }
        let of_blocks = block_counts(mask);
        Self {
            count: of_blocks.iter().sum(),
            of_blocks: Some(of_blocks),
        }
    }
}

fn compact_into<T: Word>(values: &[T], mask: &[u8], trues: &Trues, output: &mut [MaybeUninit<T>]) {
    assert_eq!(values.len(), mask.len(), "one mask entry for each value");
    let Some(counts) = &trues.of_blocks else {
        let written = compress::compress(values, mask, output);
        return assert_eq!(written, output.len());
    };
    for_each_block(mask, counts, 1, output, |first, mask, part| {
        let written = compress::compress(&values[first..][..mask.len()], mask, part);
        assert_eq!(written, part.len());
    });
}

/// Calls `fill(first, mask, part)` for each block of the mask, with the index of its first byte and its part of the
/// output: `width` slots for each true.
fn for_each_block<U: Send>(
    mask: &[u8],
    counts: &[usize],
    width: usize,
    mut output: &mut [MaybeUninit<U>],
    fill: impl Fn(usize, &[u8], &mut [MaybeUninit<U>]) + Sync,
) {
    let mut parts: Vec<_> = mask
        .chunks(BLOCK)
        .zip(counts)
        .enumerate()
        .map(|(block, (mask, &count))| {
            let (part, rest) = core::mem::take(&mut output).split_at_mut(count * width);
            output = rest;
            (block * BLOCK, mask, part)
        })
        .collect();
    parallel::for_each_part_of(mask.len(), &mut parts, 1, &|_, parts| {
        for (first, mask, part) in parts {
            fill(*first, mask, part);
        }
    });
}
