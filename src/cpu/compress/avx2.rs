//! Compression and expansion by shuffles: eight mask bytes become eight bits, and the bits choose a row of a table that
//! says where each lane comes from.
//!
//! ```text
//! bits, lowest first         1 0 1 1 0 0 0 1
//! positions of the ones      0 2 3 7 . . . .      compressed[i] = elements[positions[i]]
//! ones before each           0 1 1 2 3 3 3 3      expanded[i] = compressed[ranks[i]], where the bit is one
//! ```
//!
//! Every step writes eight elements, and the next step overwrites those that do not survive. Where fewer than eight
//! slots are left, the loops of [`portable`](super::portable) take over. Where the mask has 32 falses in a row, they are
//! skipped. The method is from Lemire, Boytsov and Kurz, "SIMD compression and the intersection of sorted integers", 2016.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::portable::{expand_last, write_last};
use super::shuffled::{POSITIONS, row};
use super::{GROUP, Index, Word};

/// As [`super::count`].
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn count(mask: &[u8]) -> usize {
    let (vectors, rest) = mask.as_chunks::<VECTOR>();
    let in_vectors = vectors
        .iter()
        .map(|bytes| bits_of_vector(bytes).count_ones() as usize);
    in_vectors.sum::<usize>() + rest.iter().filter(|&&byte| byte != 0).count()
}

/// As [`super::compress`].
#[target_feature(enable = "avx2,popcnt")]
pub(in super::super) fn compress<T: Word>(
    values: &[T],
    mask: &[u8],
    slots: &mut [MaybeUninit<T>],
) -> usize {
    assert_eq!(values.len(), mask.len());
    for_each_true_group(
        mask,
        slots,
        // SAFETY: this function is compiled for AVX2. There is a value for each byte of the mask, and `to` has `GROUP`
        // slots.
        |first, bits, to| unsafe { T::compress(values.as_ptr().add(first), bits, to) },
        |index| values[index],
    )
}

/// As [`super::positions`], for numbers of 32 or 64 bits.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn positions<I: Index>(mask: &[u8], first: usize, slots: &mut [MaybeUninit<I>]) {
    let is_wide = size_of::<I>() == size_of::<u64>();
    assert!(is_wide || size_of::<I>() == size_of::<u32>());
    let written = for_each_true_group(
        mask,
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
    );
    assert_eq!(written, slots.len());
}

/// As [`super::expand`].
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn expand<T: Word>(mut values: &[T], mask: &[u8], slots: &mut [MaybeUninit<T>]) {
    let (groups, rest) = mask.as_chunks::<GROUP>();
    let (slot_groups, rest_slots) = slots.as_chunks_mut::<GROUP>();
    for (bytes, slots) in groups.iter().zip(slot_groups) {
        if values.len() < GROUP {
            values = expand_last(values, bytes, slots);
            continue;
        }
        let bits = bits_of(bytes);
        // SAFETY: this function is compiled for AVX2. There are `GROUP` values and `GROUP` slots.
        unsafe { T::expand(values.as_ptr(), bits, slots.as_mut_ptr().cast()) };
        values = &values[bits.count_ones() as usize..];
    }
    expand_last(values, rest, rest_slots);
}

/// Calls `write(first, bits, to)` for the groups of the mask that have trues, with the index of their first byte and
/// room for `GROUP` elements at `to`. The next call overwrites those that do not survive. Where no such room is left,
/// `value(index)` is written for each true. Returns how many trues there are.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn for_each_true_group<U>(
    mask: &[u8],
    slots: &mut [MaybeUninit<U>],
    write: impl Fn(usize, u8, *mut U),
    value: impl Fn(usize) -> U,
) -> usize {
    let slots_are_few = slots.len() < mask.len() / SPARSE;
    let mut cursor = 0;
    let (vectors, _) = mask.as_chunks::<VECTOR>();
    for (vector, bytes) in vectors.iter().enumerate() {
        let mut bits = bits_of_vector(bytes);
        if bits == 0 {
            continue;
        }
        let first = vector * VECTOR;
        let Some(room) = slots[cursor..].first_chunk_mut::<VECTOR>() else {
            cursor = write_groups(bytes, first, slots, cursor, &write, &value);
            continue;
        };
        cursor += bits.count_ones() as usize;
        if slots_are_few {
            // One by one: a group would read neighbours from other lines of the cache.
            for slot in room {
                if bits == 0 {
                    break;
                }
                slot.write(value(first + bits.trailing_zeros() as usize));
                bits &= bits - 1;
            }
        } else {
            let mut to: *mut U = room.as_mut_ptr().cast();
            for (group, bits) in bits.to_le_bytes().into_iter().enumerate() {
                write(first + group * GROUP, bits, to);
                to = to.wrapping_add(bits.count_ones() as usize);
            }
        }
    }
    let done = vectors.len() * VECTOR;
    write_groups(&mask[done..], done, slots, cursor, &write, &value)
}

/// As [`for_each_true_group`], from the slot at `cursor` on, group by group. The mask's first byte has the index
/// `first`.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn write_groups<U>(
    mask: &[u8],
    first: usize,
    slots: &mut [MaybeUninit<U>],
    mut cursor: usize,
    write: &impl Fn(usize, u8, *mut U),
    value: &impl Fn(usize) -> U,
) -> usize {
    let (groups, rest) = mask.as_chunks::<GROUP>();
    for (group, bytes) in groups.iter().enumerate() {
        let (first, bits) = (first + group * GROUP, bits_of(bytes));
        if bits == 0 {
            continue;
        }
        if let Some(room) = slots[cursor..].first_chunk_mut::<GROUP>() {
            write(first, bits, room.as_mut_ptr().cast());
            cursor += bits.count_ones() as usize;
        } else {
            cursor = write_last(bytes, slots, cursor, |offset| value(first + offset));
        }
    }
    let done = first + groups.len() * GROUP;
    write_last(rest, slots, cursor, |offset| value(done + offset))
}

/// From this many bytes per true on, trues are written one by one. With 1 % trues that takes nine tenths of the time.
pub(super) const SPARSE: usize = 16;

/// Bytes of a vector.
const VECTOR: usize = 4 * GROUP;

/// As [`bits_of`].
#[inline]
#[target_feature(enable = "avx2")]
fn bits_of_vector(bytes: &[u8; VECTOR]) -> u32 {
    // SAFETY: there are as many bytes.
    let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    !_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())) as u32
}

/// One bit for each byte, set if the byte is not zero. The first byte has the lowest bit.
#[inline]
#[target_feature(enable = "avx2")]
fn bits_of(bytes: &[u8; GROUP]) -> u8 {
    let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(*bytes));
    !_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) as u8
}
