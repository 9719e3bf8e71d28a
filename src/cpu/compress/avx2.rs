//! The moves by shuffles: eight mask bytes become eight bits, and the bits choose a row of a table that says where
//! each lane comes from.
//!
//! ```text
//! bits, lowest first         1 0 1 1 0 0 0 1
//! positions of the ones      0 2 3 7 . . . .      compressed[i] = elements[positions[i]]
//! ones before each           0 1 1 2 3 3 3 3      expand[i] = compressed[ranks[i]], where the bit is one
//! ```
//!
//! Lanes of 64 bits are moved in two halves of four. Every step writes eight elements, of which the next step overwrites
//! those that were not kept; where fewer than eight slots are left, the forms of [`portable`] take over.
//! The method is that of Lemire, Boytsov and Kurz, "SIMD compression and the intersection of sorted integers", 2016.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::portable::{expand_last, write_last};
use super::{GROUP, Index, Word};

/// In row `bits`: the positions of the ones, then zeros.
static POSITIONS: [[u8; GROUP]; 256] = table(false);

/// In row `bits`: how many ones stand before each position.
static RANKS: [[u8; GROUP]; 256] = table(true);

const fn table(of_ranks: bool) -> [[u8; GROUP]; 256] {
    let mut table = [[0; GROUP]; 256];
    let mut bits = 0;
    while bits < table.len() {
        let (mut position, mut rank) = (0, 0);
        while position < GROUP {
            let is_one = bits >> position & 1 == 1;
            if of_ranks {
                table[bits][position] = rank as u8;
            } else if is_one {
                table[bits][rank] = position as u8;
            }
            rank += is_one as usize;
            position += 1;
        }
        bits += 1;
    }
    table
}

/// Whether the processor has what this module is compiled for.
#[inline(always)]
pub(in crate::cpu) fn is_here() -> bool {
    std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("popcnt")
}

/// As [`super::compress`].
#[target_feature(enable = "avx2,popcnt")]
pub(in crate::cpu) fn compress<T: Word>(
    values: &[T],
    mask: &[u8],
    slots: &mut [MaybeUninit<T>],
) -> usize {
    assert_eq!(values.len(), mask.len());
    for_each_true_group(
        mask,
        slots,
        // SAFETY: there is a value for each byte of the mask, and there are `GROUP` slots at `to`.
        |first, bits, to| unsafe { T::compress(values.as_ptr().add(first), bits, to) },
        |index| values[index],
    )
}

/// As [`super::positions`], of numbers of 32 or 64 bits.
#[target_feature(enable = "avx2,popcnt")]
pub(in crate::cpu) fn positions<I: Index>(mask: &[u8], first: usize, slots: &mut [MaybeUninit<I>]) {
    let is_wide = size_of::<I>() == size_of::<u64>();
    assert!(is_wide || size_of::<I>() == size_of::<u32>());
    let written = for_each_true_group(
        mask,
        slots,
        |group, bits, to| {
            let start = first + group;
            let positions = row(&POSITIONS, bits);
            // SAFETY: there are `GROUP` slots at `to`, and every index is one of its type.
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
pub(in crate::cpu) fn expand<T: Word>(mut values: &[T], mask: &[u8], slots: &mut [MaybeUninit<T>]) {
    let (groups, rest) = mask.as_chunks::<GROUP>();
    let (slot_groups, rest_slots) = slots.as_chunks_mut::<GROUP>();
    for (bytes, slots) in groups.iter().zip(slot_groups) {
        if values.len() < GROUP {
            values = expand_last(values, bytes, slots);
            continue;
        }
        let bits = bits_of(bytes);
        // SAFETY: there are `GROUP` values and `GROUP` slots.
        unsafe { T::expand(values.as_ptr(), bits, slots.as_mut_ptr().cast()) };
        values = &values[bits.count_ones() as usize..];
    }
    expand_last(values, rest, rest_slots);
}

/// Calls `write(first, bits, to)` for the groups of the mask that have trues, with the index of their first byte and
/// a place for `GROUP` elements, of which the next call takes back those that were not kept. Where there
/// is no such place any more, `value(index)` is written for each true. Returns how many trues there are.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn for_each_true_group<U>(
    mask: &[u8],
    slots: &mut [MaybeUninit<U>],
    write: impl Fn(usize, u8, *mut U),
    value: impl Fn(usize) -> U,
) -> usize {
    let mut cursor = 0;
    let (groups, rest) = mask.as_chunks::<GROUP>();
    for (group, bytes) in groups.iter().enumerate() {
        let first = group * GROUP;
        let bits = bits_of(bytes);
        if bits == 0 {
            continue;
        }
        if let Some(place) = slots[cursor..].first_chunk_mut::<GROUP>() {
            write(first, bits, place.as_mut_ptr().cast());
            cursor += bits.count_ones() as usize;
        } else {
            cursor = write_last(bytes, slots, cursor, |offset| value(first + offset));
        }
    }
    let first = groups.len() * GROUP;
    write_last(rest, slots, cursor, |offset| value(first + offset))
}

/// A bit for each byte that is not zero, that of the first byte lowest.
#[inline]
#[target_feature(enable = "avx2")]
fn bits_of(bytes: &[u8; GROUP]) -> u8 {
    let bytes = _mm_cvtsi64_si128(i64::from_le_bytes(*bytes));
    !_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) as u8
}

/// A row of a table, in the low half of the register.
#[inline]
#[target_feature(enable = "avx2")]
fn row(table: &[[u8; GROUP]; 256], bits: u8) -> __m128i {
    _mm_cvtsi64_si128(i64::from_le_bytes(table[usize::from(bits)]))
}

/// All ones in the bytes whose bit is one.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of(bits: u8) -> __m128i {
    let each = _mm_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    _mm_cmpeq_epi8(_mm_and_si128(_mm_set1_epi8(bits as i8), each), each)
}

/// The two bytes of each element, where a row numbers elements.
#[inline]
#[target_feature(enable = "avx2")]
fn byte_pairs(row: __m128i) -> __m128i {
    let twice = _mm_add_epi8(row, row);
    _mm_add_epi8(_mm_unpacklo_epi8(twice, twice), _mm_set1_epi16(0x0100))
}

/// The two words of each of four elements, where a row numbers elements.
#[inline]
#[target_feature(enable = "avx2")]
fn word_pairs(row: __m128i) -> __m256i {
    let twice = _mm_add_epi8(row, row);
    _mm256_add_epi32(
        _mm256_cvtepu8_epi32(_mm_unpacklo_epi8(twice, twice)),
        _mm256_set1_epi64x(1 << 32),
    )
}

/// Numbers that a shuffle can move.
pub(crate) trait Shuffled: Sized {
    /// Moves the elements at `from` whose bit in `bits` is one, lowest first, to `to`, in order.
    ///
    /// # Safety
    ///
    /// The processor has AVX2, `GROUP` elements can be read at `from`, and as many written at `to`: all are, and those
    /// behind the ones that were kept are anything.
    unsafe fn compress(from: *const Self, bits: u8, to: *mut Self);

    /// Writes, for each bit of `bits`, the next element of `from` if it is one and else zero.
    ///
    /// # Safety
    ///
    /// The processor has AVX2, `GROUP` elements can be read at `from`, and as many written at `to`.
    unsafe fn expand(from: *const Self, bits: u8, to: *mut Self);
}

impl Shuffled for u8 {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn compress(from: *const Self, bits: u8, to: *mut Self) {
        // SAFETY: the caller has eight bytes at each.
        unsafe {
            let compressed = _mm_shuffle_epi8(_mm_loadl_epi64(from.cast()), row(&POSITIONS, bits));
            _mm_storel_epi64(to.cast(), compressed);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn expand(from: *const Self, bits: u8, to: *mut Self) {
        // SAFETY: the caller has eight bytes at each.
        unsafe {
            let expand = _mm_shuffle_epi8(_mm_loadl_epi64(from.cast()), row(&RANKS, bits));
            _mm_storel_epi64(to.cast(), _mm_and_si128(expand, bytes_of(bits)));
        }
    }
}

impl Shuffled for u16 {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn compress(from: *const Self, bits: u8, to: *mut Self) {
        let order = byte_pairs(row(&POSITIONS, bits));
        // SAFETY: the caller has 16 bytes at each.
        unsafe {
            let compressed = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), order);
            _mm_storeu_si128(to.cast(), compressed);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn expand(from: *const Self, bits: u8, to: *mut Self) {
        let order = byte_pairs(row(&RANKS, bits));
        let kept = bytes_of(bits);
        // SAFETY: the caller has 16 bytes at each.
        unsafe {
            let expand = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), order);
            let kept = _mm_unpacklo_epi8(kept, kept);
            _mm_storeu_si128(to.cast(), _mm_and_si128(expand, kept));
        }
    }
}

impl Shuffled for u32 {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn compress(from: *const Self, bits: u8, to: *mut Self) {
        let order = _mm256_cvtepu8_epi32(row(&POSITIONS, bits));
        // SAFETY: the caller has 32 bytes at each.
        unsafe {
            let compressed = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(from.cast()), order);
            _mm256_storeu_si256(to.cast(), compressed);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn expand(from: *const Self, bits: u8, to: *mut Self) {
        let order = _mm256_cvtepu8_epi32(row(&RANKS, bits));
        let kept = _mm256_cvtepi8_epi32(bytes_of(bits));
        // SAFETY: the caller has 32 bytes at each.
        unsafe {
            let expand = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(from.cast()), order);
            _mm256_storeu_si256(to.cast(), _mm256_and_si256(expand, kept));
        }
    }
}

/// The bits of either half, and how many of the lower ones are set.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn halves(bits: u8) -> ([u8; 2], usize) {
    let low = bits & 0xF;
    ([low, bits >> 4], low.count_ones() as usize)
}

impl Shuffled for u64 {
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    unsafe fn compress(from: *const Self, bits: u8, to: *mut Self) {
        let (halves, in_low) = halves(bits);
        for (half, bits) in halves.into_iter().enumerate() {
            let order = word_pairs(row(&POSITIONS, bits));
            // SAFETY: the caller has 64 bytes at each; the second half is written at most 32 bytes on.
            unsafe {
                let four = _mm256_loadu_si256(from.add(half * GROUP / 2).cast());
                let compressed = _mm256_permutevar8x32_epi32(four, order);
                _mm256_storeu_si256(to.add(half * in_low).cast(), compressed);
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    unsafe fn expand(from: *const Self, bits: u8, to: *mut Self) {
        let (halves, in_low) = halves(bits);
        for (half, bits) in halves.into_iter().enumerate() {
            let order = word_pairs(row(&RANKS, bits));
            let kept = _mm256_cvtepi8_epi64(bytes_of(bits));
            // SAFETY: the caller has 64 bytes at each; the second half is read at most 32 bytes on.
            unsafe {
                let four = _mm256_loadu_si256(from.add(half * in_low).cast());
                let expand = _mm256_permutevar8x32_epi32(four, order);
                let expand = _mm256_and_si256(expand, kept);
                _mm256_storeu_si256(to.add(half * GROUP / 2).cast(), expand);
            }
        }
    }
}
