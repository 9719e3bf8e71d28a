//! Planes of few columns: each survivor is written to its place at once.
//!
//! The caches hold the lines that some columns write to, so nothing has to wait. An element that does not survive is
//! written, too, where the next survivor of its column will be; that saves a branch that nobody can predict. What is after
//! the last survivor of a column becomes zero at the end.

use core::mem::MaybeUninit;

use super::super::compress::{Index, Word};

/// Most columns of a plane. With 16, by groups of eight of them, it took up to 1.25 times as long as the tiles.
pub(super) const WIDEST: usize = 8;

/// Compacts the columns of a plane, and counts the survivors of each.
pub(super) fn compact<T: Word, I: Index>(
    values: &[T],
    mask: &[u8],
    slots: &mut [MaybeUninit<T>],
    counts: &mut [MaybeUninit<I>],
) {
    // A constant number of columns keeps their counts in registers: a loop over them takes two to three times as long.
    let compact = match counts.len() {
        2 => compact_columns::<2, 8, T>,
        3 => compact_columns::<3, 9, T>,
        4 => compact_columns::<4, 8, T>,
        5 => compact_columns::<5, 5, T>,
        6 => compact_columns::<6, 6, T>,
        7 => compact_columns::<7, 7, T>,
        _ => compact_columns::<8, 8, T>,
    };
    let mut kept = [0; WIDEST];
    let kept = &mut kept[..counts.len()];
    compact(values, mask, slots, kept);
    for (count, kept) in counts.iter_mut().zip(kept) {
        count.write(I::from_usize(*kept));
    }
}

/// Compacts `INNER` columns by groups of whole lines, and says how many elements of each were kept.
fn compact_columns<const INNER: usize, const GROUP: usize, T: Word>(
    values: &[T],
    mask: &[u8],
    slots: &mut [MaybeUninit<T>],
    counts: &mut [usize],
) {
    let mut kept = [0; INNER];
    let mut put = |at: usize, value: T, byte: u8| {
        let column = at % INNER;
        slots[kept[column] * INNER + column].write(value);
        kept[column] += usize::from(byte != 0);
    };
    let (values, last_values) = values.as_chunks::<GROUP>();
    let (mask, last_mask) = mask.as_chunks::<GROUP>();
    for (values, mask) in values.iter().zip(mask) {
        if *mask != [0; GROUP] {
            for at in 0..GROUP {
                put(at, values[at], mask[at]);
            }
        }
    }
    for (at, (value, byte)) in last_values.iter().zip(last_mask).enumerate() {
        put(at, *value, *byte);
    }
    clear(slots.as_chunks_mut::<INNER>().0, &kept);
    counts.copy_from_slice(&kept);
}

/// Writes the zeros after the survivors.
fn clear<const INNER: usize, T: Word>(
    lines: &mut [[MaybeUninit<T>; INNER]],
    kept: &[usize; INNER],
) {
    let fewest = kept.iter().copied().fold(lines.len(), usize::min);
    let most = kept.iter().copied().fold(0, usize::max);
    let (partial, empty) = lines.split_at_mut(most);
    for (at, line) in partial.iter_mut().enumerate().skip(fewest) {
        for (slot, kept) in line.iter_mut().zip(kept) {
            if *kept <= at {
                slot.write(T::default());
            }
        }
    }
    empty
        .as_flattened_mut()
        .fill(MaybeUninit::new(T::default()));
}
