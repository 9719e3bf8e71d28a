//! Stream compaction: the elements under a mask, in order.
//!
//! The [trues](super::trues) of each block of the mask are counted, the output is allocated and split by the counts, and
//! every block then fills its own part, see [`compress`].

use core::mem::MaybeUninit;

use bytemuck::Zeroable;

use super::buffer::{Output, Shared};
use super::compress::{self, Index, Word};
use super::row_major::{BLOCK, RowMajor};
use super::trues::Trues;
use super::{huge_pages, parallel};

/// The values under `true`, if `padded` with zeros after them up to the length of the input; and their number.
pub(crate) fn compact<T: Word>(
    values: &RowMajor<'_, T>,
    mask: &RowMajor<'_, u8>,
    padded: bool,
) -> (Vec<T>, usize) {
    assert_eq!(values.len(), mask.len(), "one mask entry for each value");
    Trues::of(mask, |trues| {
        let count = trues.count();
        let mut output = Output::new(if padded { values.len() } else { count });
        let (survivors, tail) = output.slots().split_at_mut(count);
        let survivors = Shared::new(survivors);
        trues.for_each_block(values.blocks_at_once(), &|block| {
            let kept = block.trues.len();
            // SAFETY: no other block has these trues.
            let part = unsafe { survivors.slice(block.trues) };
            compress::compress(&values.read(block.entries), block.words, kept, part);
        });
        clear(tail);
        // SAFETY: the survivors and the tail are the whole output.
        (unsafe { output.finish() }, count)
    })
}

/// The positions of the trues.
pub(crate) fn compact_indices<I: Index>(mask: &RowMajor<'_, u8>) -> Vec<I> {
    Trues::of(mask, |trues| {
        let mut output = Output::new(trues.count());
        let shared = Shared::new(output.slots());
        trues.for_each_block(1, &|block| {
            // SAFETY: no other block has these trues.
            let part = unsafe { shared.slice(block.trues) };
            compress::positions(block.words, block.entries.start, part);
        });
        // SAFETY: there are as many slots as trues.
        unsafe { output.finish() }
    })
}

/// The coordinates of the trues in a row-major mask of `shape`: for each true a row of `shape.len()` numbers.
pub(crate) fn argwhere<I: Index>(mask: &RowMajor<'_, u8>, shape: &[usize]) -> Vec<I> {
    assert_eq!(
        mask.len(),
        shape.iter().product::<usize>(),
        "the mask does not have the shape {shape:?}"
    );
    let Some((&row, outer)) = shape.split_last() else {
        return Vec::new();
    };
    Trues::of(mask, |trues| {
        let mut output = Output::new(trues.count() * shape.len());
        let shared = Shared::new(output.slots());
        trues.for_each_block(1, &|block| {
            let mut indices = Output::new(block.trues.len());
            compress::positions::<usize>(block.words, block.entries.start, indices.slots());
            // SAFETY: there are as many slots as trues in the block.
            let indices = unsafe { indices.finish() };
            let coordinates = block.trues.start * shape.len()..block.trues.end * shape.len();
            // SAFETY: no other block has these trues.
            let part = unsafe { shared.slice(coordinates) };

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
        });
        // SAFETY: all coordinates of each true have been written.
        unsafe { output.finish() }
    })
}

/// Writes zeros.
pub(super) fn fill_default<T: Copy + Default + Send>(slots: &mut [MaybeUninit<T>]) {
    parallel::for_each_part_of(slots.len(), slots, BLOCK, &|_, slots| {
        slots.fill(MaybeUninit::new(T::default()));
    });
}

/// Makes slots zero that nobody is about to write: the system gives zeroed pages to whoever reads them.
pub(super) fn clear<T: Copy + Default + Send + Zeroable>(slots: &mut [MaybeUninit<T>]) {
    let (before, after) = huge_pages::clear(slots);
    fill_default(before);
    fill_default(after);
}
