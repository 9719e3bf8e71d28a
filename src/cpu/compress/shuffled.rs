//! One shuffle of eight elements, for each size of element. Elements of 64 bits take two shuffles of four.

use core::arch::x86_64::*;

use super::GROUP;

/// In row `bits`: the positions of the ones, then zeros.
pub(super) static POSITIONS: [[u8; GROUP]; 256] = table(false);

/// In row `bits`: how many ones precede each position.
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

/// A row of a table, in the low half of the register.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn row(table: &[[u8; GROUP]; 256], bits: u8) -> __m128i {
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
    /// Writes the elements at `from` whose bit in `bits` is one to `to`, in order. The lowest bit belongs to the first
    /// element. Up to `GROUP` elements, the slots after the survivors get arbitrary values.
    ///
    /// # Safety
    ///
    /// The processor has AVX2 and POPCNT, and there are `GROUP` elements at `from` and room for as many at `to`.
    unsafe fn compress(from: *const Self, bits: u8, to: *mut Self);

    /// Writes, for each bit of `bits`, the next element of `from` if the bit is one, and zero otherwise.
    ///
    /// # Safety
    ///
    /// The processor has AVX2 and POPCNT, and there are `GROUP` elements at `from` and room for as many at `to`.
    unsafe fn expand(from: *const Self, bits: u8, to: *mut Self);

    /// Writes `GROUP` rows of `GROUP` elements as columns. The rows at `from` lie `apart` elements from each other, and
    /// the columns at `to`, `to_apart`.
    ///
    /// # Safety
    ///
    /// The processor has AVX2, and the rows are there.
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
            let expanded = _mm_shuffle_epi8(_mm_loadl_epi64(from.cast()), row(&RANKS, bits));
            _mm_storel_epi64(to.cast(), _mm_and_si128(expanded, bytes_of(bits)));
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
        let survives = bytes_of(bits);
        // SAFETY: the caller has 16 bytes at each.
        unsafe {
            let expanded = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), order);
            let survives = _mm_unpacklo_epi8(survives, survives);
            _mm_storeu_si128(to.cast(), _mm_and_si128(expanded, survives));
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
        let survives = _mm256_cvtepi8_epi32(bytes_of(bits));
        // SAFETY: the caller has 32 bytes at each.
        unsafe {
            let expanded = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(from.cast()), order);
            _mm256_storeu_si256(to.cast(), _mm256_and_si256(expanded, survives));
        }
    }

    /// Pairs of rows, then fours, then eights are taken together.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn transpose(from: *const Self, apart: usize, to: *mut Self, to_apart: usize) {
        // SAFETY: the caller has the rows.
        let row = |row: usize| unsafe { _mm256_loadu_ps(from.add(row * apart).cast()) };
        let mut pairs = [_mm256_setzero_ps(); GROUP];
        let mut fours = pairs;
        for two in 0..GROUP / 2 {
            let (a, b) = (row(2 * two), row(2 * two + 1));
            pairs[2 * two] = _mm256_unpacklo_ps(a, b);
            pairs[2 * two + 1] = _mm256_unpackhi_ps(a, b);
        }
        for four in [0, 4] {
            for half in 0..2 {
                let (a, b) = (pairs[four + half], pairs[four + 2 + half]);
                fours[four + 2 * half] = _mm256_shuffle_ps::<0b0100_0100>(a, b);
                fours[four + 2 * half + 1] = _mm256_shuffle_ps::<0b1110_1110>(a, b);
            }
        }
        for column in 0..4 {
            let (a, b) = (fours[column], fours[column + 4]);
            let low = _mm256_permute2f128_ps::<0x20>(a, b);
            let high = _mm256_permute2f128_ps::<0x31>(a, b);
            // SAFETY: the caller has room for the columns.
            unsafe {
                _mm256_storeu_ps(to.add(column * to_apart).cast(), low);
                _mm256_storeu_ps(to.add((column + 4) * to_apart).cast(), high);
            }
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
            // SAFETY: the caller has 64 bytes at each; the second half is written at most 32 bytes further on.
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
            let survives = _mm256_cvtepi8_epi64(bytes_of(bits));
            // SAFETY: the caller has 64 bytes at each; the second half is read at most 32 bytes further on.
            unsafe {
                let four = _mm256_loadu_si256(from.add(half * in_low).cast());
                let expanded = _mm256_permutevar8x32_epi32(four, order);
                let expanded = _mm256_and_si256(expanded, survives);
                _mm256_storeu_si256(to.add(half * GROUP / 2).cast(), expanded);
            }
        }
    }
}
