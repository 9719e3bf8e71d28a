//! Neighbouring elements under a mask: [`compress`] brings the survivors together, [`expand`] takes them apart again,
//! and [`positions`] finds their indices. A mask is words of 64 bits, which [`pack`] makes of its bytes: a byte other than
//! zero is true.
//!
//! ```text
//! mask          1 0 1 1 0 0 0 1
//! elements      a b c d e f g h
//! compressed    a c d h
//! expanded      a 0 c d 0 0 0 h
//! positions     0 2 3 7
//! ```
//!
//! No form branches on single bits of the mask: the processor would mispredict every other branch under a random mask.
//! On x86-64 with AVX-512, [`avx512`] has an instruction to compress; with AVX2, [`avx2`] moves eight elements by one
//! shuffle. Elsewhere [`portable`] writes every element at a cursor that moves on by the mask. Where few are true, they
//! are written [one by one](write_ones). For 2^20 `f32` under a random mask, half of it true, the shuffles compress in
//! 0.4 of the time and expand in a quarter. The instruction takes 0.6 to 0.9 of the time of shuffles where memory is not
//! the limit: 0.72 for 2^20 `f32` of which 20 % are true, and the same time where half of them are.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod index;
pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
mod words;

pub(crate) use index::{Index, Indices};

use core::mem::MaybeUninit;

use bytemuck::Zeroable;

use super::processor::vectorize;
#[cfg(target_arch = "x86_64")]
use super::processor::{HasAvx512, Widest};

/// Entries of the mask in a word.
pub(super) const BITS: usize = u64::BITS as usize;

/// Elements that one shuffle moves.
pub(super) const GROUP: usize = 8;

/// From this many entries per true on, trues are written one by one. With 1 % trues that takes nine tenths of the time.
const SPARSE: usize = 16;

/// Elements that can be moved: numbers of any kind, as integers of their size.
pub(crate) trait Word: Copy + Default + Send + Sync + Zeroable + 'static {
    /// Writes the elements at `from` whose bit in `bits` is one to `to`, in order. The lowest bit belongs to the first
    /// element. Up to `GROUP` elements, the slots after the survivors get arbitrary values.
    ///
    /// If it `EXPANDS`, writes for each bit the next element of `from` if the bit is one, and zero otherwise.
    ///
    /// # Safety
    ///
    /// The processor has AVX2 and POPCNT, and there are `GROUP` elements at `from` and room for as many at `to`.
    #[cfg(target_arch = "x86_64")]
    unsafe fn move_group<const EXPANDS: bool>(from: *const Self, bits: u8, to: *mut Self);

    /// Writes `GROUP` rows of `GROUP` elements as columns. The rows at `from` lie `apart` elements from each other, and
    /// the columns at `to`, `to_apart`.
    ///
    /// # Safety
    ///
    /// The processor has AVX2, and the rows are there.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn transpose(from: *const Self, apart: usize, to: *mut Self, to_apart: usize) {
        for row in 0..GROUP {
            for column in 0..GROUP {
                // SAFETY: the caller's promise.
                unsafe {
                    to.add(column * to_apart + row)
                        .write(from.add(row * apart + column).read());
                }
            }
        }
    }

    /// Writes the elements at `from` whose bit in `bits` is one to `to`, in order. The lowest bit belongs to the first
    /// element. Up to 64 elements, the slots after the survivors get arbitrary values.
    ///
    /// # Safety
    ///
    /// The processor has AVX-512 F, BW and VBMI2, and POPCNT. There are 64 elements at `from` and room for as many
    /// at `to`.
    #[cfg(target_arch = "x86_64")]
    unsafe fn compress_word(from: *const Self, bits: u64, to: *mut Self);
}

#[cfg(not(target_arch = "x86_64"))]
impl<T: Index> Word for T {}

/// Writes a bit for each byte of the mask, the first in the lowest bit of the first word, and returns how many are one.
pub(super) fn pack(mask: &[u8], words: &mut [MaybeUninit<u64>]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(_avx2) = Widest::test() {
        // SAFETY: `_avx2` proves AVX2 and POPCNT.
        return unsafe { avx2::pack(mask, words) };
    }
    portable::pack(mask, words)
}

/// As [`pack`], where `word` packs 64 bytes.
#[inline(always)]
fn pack_by(
    mask: &[u8],
    words: &mut [MaybeUninit<u64>],
    word: impl Fn(&[u8; BITS]) -> u64,
) -> usize {
    assert_eq!(words.len(), mask.len().div_ceil(BITS));
    let (whole, rest) = mask.as_chunks();
    let mut count = 0;
    for (slot, bytes) in words.iter_mut().zip(whole) {
        let bits = word(bytes);
        slot.write(bits);
        count += bits.count_ones() as usize;
    }
    if let Some(slot) = words.get_mut(whole.len()) {
        let bits = portable::bits_of(rest);
        slot.write(bits);
        count += bits.count_ones() as usize;
    }
    count
}

/// Writes the values whose bit is one to the first slots. There are `kept` of them.
///
/// Slots after the last survivor may be written, too.
pub(super) fn compress<T: Word>(
    values: &[T],
    words: &[u64],
    kept: usize,
    slots: &mut [MaybeUninit<T>],
) {
    assert_eq!(words.len(), values.len().div_ceil(BITS));
    if kept < values.len() / SPARSE {
        return write_sparse(words, &mut slots[..kept], |index| values[index]);
    }
    let written = compress_dense(values, words, slots);
    assert_eq!(written, kept);
}

/// As [`compress`], where many are true. Returns how many.
fn compress_dense<T: Word>(values: &[T], words: &[u64], slots: &mut [MaybeUninit<T>]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(_avx2) = Widest::test() {
        if values.len() >= BITS
            && let Some(_avx512) = HasAvx512::test()
        {
            // SAFETY: `_avx512` and `_avx2` prove the features.
            return unsafe { avx512::compress(values, words, slots) };
        }
        // SAFETY: `_avx2` proves AVX2 and POPCNT.
        return unsafe { avx2::compress(values, words, slots) };
    }
    portable::compress(values, words, slots)
}

/// Writes the indices of the ones, where the first bit has the index `first`. There is a slot for each.
pub(super) fn positions<I: Index>(words: &[u64], first: usize, slots: &mut [MaybeUninit<I>]) {
    let kept = slots.len();
    if kept < words.len() * BITS / SPARSE {
        return write_sparse(words, slots, |index| I::from_usize(first + index));
    }
    #[cfg(target_arch = "x86_64")]
    if [4, 8].contains(&size_of::<I>())
        && let Some(_avx2) = Widest::test()
    {
        // SAFETY: `_avx2` proves AVX2 and POPCNT.
        let written = unsafe { avx2::positions(words, first, slots) };
        return assert_eq!(written, kept);
    }
    assert_eq!(portable::positions(words, first, slots), kept);
}

/// Writes, for each slot, the next value if its bit is one and a value is left, and zero otherwise.
pub(super) fn expand<T: Word>(values: &[T], words: &[u64], slots: &mut [MaybeUninit<T>]) {
    assert_eq!(words.len(), slots.len().div_ceil(BITS));
    #[cfg(target_arch = "x86_64")]
    if let Some(_avx2) = Widest::test() {
        // SAFETY: `_avx2` proves AVX2 and POPCNT.
        return unsafe { avx2::expand(values, words, slots) };
    }
    portable::expand(values, words, slots);
}

/// [`write_ones`] to all slots: a group of neighbours would be read from other lines of the cache.
fn write_sparse<U>(words: &[u64], slots: &mut [MaybeUninit<U>], value: impl Fn(usize) -> U) {
    let kept = slots.len();
    let written = vectorize!(write_ones(words, slots, value));
    assert_eq!(written, kept);
}

/// Writes `value(index)` for each one, and returns how many there are. There is a slot for each.
#[inline(always)]
fn write_ones<U>(words: &[u64], slots: &mut [MaybeUninit<U>], value: impl Fn(usize) -> U) -> usize {
    let mut written = 0;
    for (word, &bits) in words.iter().enumerate() {
        let mut bits = bits;
        while bits != 0 {
            slots[written].write(value(word * BITS + bits.trailing_zeros() as usize));
            written += 1;
            bits &= bits - 1;
        }
    }
    written
}
