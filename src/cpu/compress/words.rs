//! The instructions that move elements, for each size: one shuffle of eight, or two of four where elements have 64 bits,
//! and with AVX-512 a compression.

use core::arch::x86_64::*;

use super::{BITS, GROUP, Word};

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

/// Where each element of a group comes from.
#[inline]
#[target_feature(enable = "avx2")]
fn order<const EXPANDS: bool>(bits: u8) -> __m128i {
    row(if EXPANDS { &RANKS } else { &POSITIONS }, bits)
}

/// All ones in the bytes of elements that are kept: those whose bit is one if it `EXPANDS`, and all otherwise.
#[inline]
#[target_feature(enable = "avx2")]
fn kept<const EXPANDS: bool>(bits: u8) -> __m128i {
    if !EXPANDS {
        return _mm_set1_epi8(-1);
    }
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

/// The instruction that compresses a register. Its mask has a bit for each element.
macro_rules! compress_word {
    ($compress:ident($Mask:ty)) => {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
        unsafe fn compress_word(from: *const Self, bits: u64, mut to: *mut Self) {
            let lanes = 64 / size_of::<Self>();
            for part in 0..BITS / lanes {
                let bits = (bits >> (part * lanes)) as $Mask;
                // SAFETY: the caller has 64 elements at each; each part is written at most as far on as it is read.
                unsafe {
                    let elements = _mm512_loadu_si512(from.add(part * lanes).cast());
                    _mm512_storeu_si512(to.cast(), $compress(bits, elements));
                    to = to.add(bits.count_ones() as usize);
                }
            }
        }
    };
}

impl Word for u8 {
    compress_word!(_mm512_maskz_compress_epi8(u64));

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn move_group<const EXPANDS: bool>(from: *const Self, bits: u8, to: *mut Self) {
        let (order, kept) = (order::<EXPANDS>(bits), kept::<EXPANDS>(bits));
        // SAFETY: the caller has eight bytes at each.
        unsafe {
            let moved = _mm_shuffle_epi8(_mm_loadl_epi64(from.cast()), order);
            _mm_storel_epi64(to.cast(), _mm_and_si128(moved, kept));
        }
    }
}

impl Word for u16 {
    compress_word!(_mm512_maskz_compress_epi16(u32));

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn move_group<const EXPANDS: bool>(from: *const Self, bits: u8, to: *mut Self) {
        let (order, kept) = (byte_pairs(order::<EXPANDS>(bits)), kept::<EXPANDS>(bits));
        // SAFETY: the caller has 16 bytes at each.
        unsafe {
            let moved = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), order);
            let kept = _mm_unpacklo_epi8(kept, kept);
            _mm_storeu_si128(to.cast(), _mm_and_si128(moved, kept));
        }
    }
}

impl Word for u32 {
    compress_word!(_mm512_maskz_compress_epi32(u16));

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn move_group<const EXPANDS: bool>(from: *const Self, bits: u8, to: *mut Self) {
        let order = _mm256_cvtepu8_epi32(order::<EXPANDS>(bits));
        let kept = _mm256_cvtepi8_epi32(kept::<EXPANDS>(bits));
        // SAFETY: the caller has 32 bytes at each.
        unsafe {
            let moved = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(from.cast()), order);
            _mm256_storeu_si256(to.cast(), _mm256_and_si256(moved, kept));
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

impl Word for u64 {
    compress_word!(_mm512_maskz_compress_epi64(u8));

    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    unsafe fn move_group<const EXPANDS: bool>(from: *const Self, bits: u8, to: *mut Self) {
        let low = bits & 0xF;
        let (mut read, mut written) = (GROUP / 2, low.count_ones() as usize);
        if EXPANDS {
            (read, written) = (written, read);
        }
        for (half, bits) in [low, bits >> 4].into_iter().enumerate() {
            let order = word_pairs(order::<EXPANDS>(bits));
            let kept = _mm256_cvtepi8_epi64(kept::<EXPANDS>(bits));
            // SAFETY: the caller has 64 bytes at each; the second half begins at most 32 bytes further on.
            unsafe {
                let four = _mm256_loadu_si256(from.add(half * read).cast());
                let moved = _mm256_permutevar8x32_epi32(four, order);
                _mm256_storeu_si256(to.add(half * written).cast(), _mm256_and_si256(moved, kept));
            }
        }
    }
}
