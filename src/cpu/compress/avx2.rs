//! Compression and expansion by shuffles: eight bits choose a row of a table that says where each lane comes from.
//!
//! ```text
//! bits, lowest first         1 0 1 1 0 0 0 1
//! positions of the ones      0 2 3 7 . . . .      compressed[i] = elements[positions[i]]
//! ones before each           0 1 1 2 3 3 3 3      expanded[i] = compressed[ranks[i]], where the bit is one
//! ```
//!
//! Every step writes eight elements, and the next step overwrites those that do not survive. Where fewer than eight
//! elements or slots are left, they are written one by one. The method is from Lemire, Boytsov and Kurz, "SIMD compression
//! and the intersection of sorted integers", 2016.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::portable::expand_last;
use super::words::{POSITIONS, row};
use super::{BITS, GROUP, Index, Word, pack_by, write_ones};

/// As [`super::pack`].
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn pack(mask: &[u8], words: &mut [MaybeUninit<u64>]) -> usize {
    pack_by(mask, words, |bytes| bits_of(bytes))
}

/// One bit for each byte, set if the byte is not zero. The first byte has the lowest bit.
#[inline]
#[target_feature(enable = "avx2")]
fn bits_of(bytes: &[u8; BITS]) -> u64 {
    let mut bits = 0;
    for (half, bytes) in bytes.as_chunks::<{ BITS / 2 }>().0.iter().enumerate() {
        // SAFETY: there are as many bytes.
        let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
        let zeros = _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256()));
        bits |= u64::from(!zeros as u32) << (half * BITS / 2);
    }
    bits
}

/// As [`super::compress_dense`].
#[target_feature(enable = "avx2,popcnt")]
pub(in super::super) fn compress<T: Word>(
    values: &[T],
    words: &[u64],
    slots: &mut [MaybeUninit<T>],
) -> usize {
    for_each_group(
        values.len(),
        words,
        slots,
        // SAFETY: this function is compiled for AVX2. There are `GROUP` values, and `to` has as many slots.
        |first, bits, to| unsafe { T::move_group::<false>(values.as_ptr().add(first), bits, to) },
        |index| values[index],
    )
}

/// As [`super::positions`], for numbers of 32 or 64 bits. Returns how many there are.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn positions<I: Index>(
    words: &[u64],
    first: usize,
    slots: &mut [MaybeUninit<I>],
) -> usize {
    let is_wide = size_of::<I>() == size_of::<u64>();
    assert!(is_wide || size_of::<I>() == size_of::<u32>());
    for_each_group(
        words.len() * BITS,
        words,
        slots,
        |group, bits, to| {
            let start = first + group;
            let positions = row(&POSITIONS, bits);
            // SAFETY: `to` has `GROUP` slots, and integers of its type have any bits.
            unsafe {
                if is_wide {
                    let start = _mm256_set1_epi64x(start as i64);
                    let high = _mm_srli_si128::<{ GROUP as i32 / 2 }>(positions);
                    let low = _mm256_add_epi64(_mm256_cvtepu8_epi64(positions), start);
                    let high = _mm256_add_epi64(_mm256_cvtepu8_epi64(high), start);
                    _mm256_storeu_si256(to.cast(), low);
                    _mm256_storeu_si256(to.add(GROUP / 2).cast(), high);
                } else {
                    let start = _mm256_set1_epi32(start as i32);
                    let all = _mm256_add_epi32(_mm256_cvtepu8_epi32(positions), start);
                    _mm256_storeu_si256(to.cast(), all);
                }
            }
        },
        |index| I::from_usize(first + index),
    )
}

/// As [`super::expand`].
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn expand<T: Word>(mut values: &[T], words: &[u64], slots: &mut [MaybeUninit<T>]) {
    for (slots, &bits) in slots.chunks_mut(BITS).zip(words) {
        if values.len() < BITS || slots.len() < BITS {
            values = expand_last(values, bits, slots);
            continue;
        }
        let (mut from, mut to) = (values.as_ptr(), slots.as_mut_ptr().cast());
        for bits in bits.to_le_bytes() {
            // SAFETY: this function is compiled for AVX2. Up to this group, fewer values are taken than entries passed.
            unsafe { T::move_group::<true>(from, bits, to) };
            from = from.wrapping_add(bits.count_ones() as usize);
            to = to.wrapping_add(GROUP);
        }
        values = &values[bits.count_ones() as usize..];
    }
}

/// Calls `write(first, bits, to)` for the groups of `len` elements that have ones, with the index of their first element
/// and room for `GROUP` elements at `to`. The next call overwrites those that do not survive. Where no such room is
/// left, or no such group, `value(index)` is written for each one. Returns how many ones there are.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn for_each_group<U>(
    len: usize,
    words: &[u64],
    slots: &mut [MaybeUninit<U>],
    write: impl Fn(usize, u8, *mut U),
    value: impl Fn(usize) -> U,
) -> usize {
    let mut cursor = 0;
    for (word, &bits) in words.iter().enumerate() {
        if bits == 0 {
            continue;
        }
        let first = word * BITS;
        let room = slots[cursor..].first_chunk_mut::<BITS>();
        if let Some(room) = room.filter(|_| len - first >= BITS) {
            let mut to: *mut U = room.as_mut_ptr().cast();
            for (group, bits) in bits.to_le_bytes().into_iter().enumerate() {
                write(first + group * GROUP, bits, to);
                to = to.wrapping_add(bits.count_ones() as usize);
            }
            cursor += bits.count_ones() as usize;
            continue;
        }
        for (group, bits) in bits.to_le_bytes().into_iter().enumerate() {
            let first = first + group * GROUP;
            let room = slots[cursor..].first_chunk_mut::<GROUP>();
            if let Some(room) = room.filter(|_| first + GROUP <= len) {
                write(first, bits, room.as_mut_ptr().cast());
            } else {
                let rest = &mut slots[cursor..];
                write_ones(&[bits.into()], rest, |bit| value(first + bit));
            }
            cursor += bits.count_ones() as usize;
        }
    }
    cursor
}
