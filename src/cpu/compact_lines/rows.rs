//! Rows, one after the other.
//!
//! The mask of many rows is packed at once, and each row takes its bits from the words. Elements of a short row are
//! compressed in groups of eight, which may end in the next row: that row is written later.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::Shared;
#[cfg(target_arch = "x86_64")]
use super::super::compress::GROUP;
use super::super::compress::{self, BITS, Index, Word};
use super::super::parallel;
#[cfg(target_arch = "x86_64")]
use super::super::processor::Widest;
use super::super::processor::vectorize;
use super::super::row_major::{BLOCK, RowMajor};
use super::fill_zero;

/// Words of a block.
type BlockWords = [MaybeUninit<u64>; BLOCK / BITS];

/// Compacts rows of `len` elements, and counts the survivors of each.
pub(super) fn compact<T: Word, I: Index>(
    values: &RowMajor<'_, T>,
    mask: &RowMajor<'_, u8>,
    len: usize,
    slots: &mut [MaybeUninit<T>],
    counts: &mut [MaybeUninit<I>],
) {
    if slots.is_empty() {
        return;
    }
    let slots = Shared::new(slots);
    let at_once = values.blocks_at_once().max(mask.blocks_at_once());
    let rows = (at_once * BLOCK / len).max(1);
    parallel::for_each_part_of(values.len(), counts, rows, &|first, counts| {
        let place = first * len..(first + counts.len()) * len;
        // SAFETY: no other task has these rows.
        let slots = unsafe { slots.slice(place.clone()) };
        if len > BLOCK {
            let starts = place.step_by(len);
            for ((start, slots), count) in starts.zip(slots.chunks_mut(len)).zip(counts) {
                let kept = by_blocks(values, mask, start..start + len, slots);
                count.write(I::from_usize(kept));
            }
            return;
        }
        let (values, mask) = (&values.read(place.clone()), &mask.read(place));
        // Those whose mask is packed at once.
        let rows = BLOCK / len;
        let parts = slots.chunks_mut(rows * len).zip(counts.chunks_mut(rows));
        let inputs = values.chunks(rows * len).zip(mask.chunks(rows * len));
        for ((values, mask), (slots, counts)) in inputs.zip(parts) {
            of_block(values, mask, len, slots, counts);
        }
    });
}

/// Compacts the rows of a block.
fn of_block<T: Word, I: Index>(
    values: &[T],
    mask: &[u8],
    len: usize,
    slots: &mut [MaybeUninit<T>],
    counts: &mut [MaybeUninit<I>],
) {
    let (room, row_room) = (
        &mut [MaybeUninit::uninit(); _],
        &mut [MaybeUninit::uninit(); _],
    );
    let words = packed(mask, room).0;
    if len <= BITS {
        return short(values, words, len, slots, counts);
    }
    for (row, count) in counts.iter_mut().enumerate() {
        let place = row * len..(row + 1) * len;
        let (words, kept) = words_of_row(words, row * len, len, row_room);
        let (values, slots) = (&values[place.clone()], &mut slots[place]);
        compress::compress(values, words, kept, slots);
        fill_zero(&mut slots[kept..]);
        count.write(I::from_usize(kept));
    }
}

/// The words of a part of the mask, and how many are true.
fn packed<'r>(mask: &[u8], room: &'r mut BlockWords) -> (&'r [u64], usize) {
    let words = &mut room[..mask.len().div_ceil(BITS)];
    let kept = compress::pack(mask, words);
    // SAFETY: they have been packed.
    (unsafe { words.assume_init_ref() }, kept)
}

/// Compacts a row by blocks. Returns how many elements survive.
fn by_blocks<T: Word>(
    values: &RowMajor<'_, T>,
    mask: &RowMajor<'_, u8>,
    row: Range<usize>,
    slots: &mut [MaybeUninit<T>],
) -> usize {
    let room = &mut [MaybeUninit::uninit(); _];
    let mut written = 0;
    for first in row.clone().step_by(BLOCK) {
        let block = first..row.end.min(first + BLOCK);
        let (words, kept) = packed(&mask.read(block.clone()), room);
        compress::compress(&values.read(block), words, kept, &mut slots[written..]);
        written += kept;
    }
    fill_zero(&mut slots[written..]);
    written
}

/// The bits from `first` on in words of their own, and how many are one.
fn words_of_row<'r>(
    words: &[u64],
    first: usize,
    len: usize,
    room: &'r mut BlockWords,
) -> (&'r [u64], usize) {
    let of_row = &mut room[..len.div_ceil(BITS)];
    let kept = vectorize!({
        let mut kept = 0;
        for (at, word) in of_row.iter_mut().enumerate() {
            let bits = bits_of_row(words, first + at * BITS, BITS.min(len - at * BITS));
            kept += bits.count_ones() as usize;
            word.write(bits);
        }
        kept
    });
    // SAFETY: each has been written.
    (unsafe { of_row.assume_init_ref() }, kept)
}

/// Compacts rows of at most 64 elements.
fn short<T: Word, I: Index>(
    values: &[T],
    words: &[u64],
    len: usize,
    slots: &mut [MaybeUninit<T>],
    counts: &mut [MaybeUninit<I>],
) {
    #[cfg(target_arch = "x86_64")]
    let done = Widest::test().map_or(0, |_avx2| {
        // SAFETY: `_avx2` proves AVX2 and POPCNT.
        unsafe { short_by_groups(values, words, len, slots, counts) }
    });
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    for (row, count) in counts.iter_mut().enumerate().skip(done) {
        let bits = bits_of_row(words, row * len, len);
        let place = row * len..(row + 1) * len;
        let (values, slots) = (&values[place.clone()], &mut slots[place]);
        let mut kept = 0;
        for (at, &value) in values.iter().enumerate() {
            slots[kept].write(value);
            kept += (bits >> at & 1) as usize;
        }
        fill_zero(&mut slots[kept..]);
        count.write(I::from_usize(kept));
    }
}

/// As [`short`], as long as 64 elements follow that a group may touch. Returns the number of rows.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn short_by_groups<T: Word, I: Index>(
    values: &[T],
    words: &[u64],
    len: usize,
    slots: &mut [MaybeUninit<T>],
    counts: &mut [MaybeUninit<I>],
) -> usize {
    for (row, count) in counts.iter_mut().enumerate() {
        let first = row * len;
        let Some(room) = slots[first..].get_mut(..len + BITS) else {
            return row;
        };
        let mut bits = bits_of_row(words, first, len);
        let kept = bits.count_ones() as usize;
        let (mut from, mut to) = (values[first..].as_ptr(), room.as_mut_ptr().cast());
        for _ in 0..len.div_ceil(GROUP) {
            // SAFETY: this function is compiled for AVX2. The group begins in the row, which 64 more elements follow.
            unsafe { T::move_group::<false>(from, bits as u8, to) };
            from = from.wrapping_add(GROUP);
            to = to.wrapping_add((bits as u8).count_ones() as usize);
            bits >>= GROUP;
        }
        fill_zero(&mut room[kept..len]);
        count.write(I::from_usize(kept));
    }
    counts.len()
}

/// The bits from `first` on, of which there are at most 64.
#[inline(always)]
fn bits_of_row(words: &[u64], first: usize, len: usize) -> u64 {
    let (word, bit) = (first / BITS, first % BITS);
    let mut bits = words[word] >> bit;
    if bit + len > BITS {
        bits |= words[word + 1] << (BITS - bit);
    }
    bits & (u64::MAX >> (BITS - len))
}
