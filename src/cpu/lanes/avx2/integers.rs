//! Lanes of integers.

use core::arch::x86_64::*;

use super::super::super::processor::Widest;
use super::super::super::traits::Lanes;

/// Lanes of `i32`. Elements may be converted as they are loaded and stored.
macro_rules! i32_lanes {
    ($Name:ident: $elem:ty; load($from:ident) $load:expr; store($value:ident, $to:ident) $store:expr;) => {
        lanes! {
            $Name(__m256i): $elem as i32; 8 lanes;
            load($from) $load;
            store($value, $to) $store;
            splat(x) _mm256_set1_epi32(x);
            operators {
                add(l, r) _mm256_add_epi32(l, r);
                mul(l, r) _mm256_mullo_epi32(l, r);
                mul_or_zero(l, r) _mm256_mullo_epi32(l, r);
                max(l, r) _mm256_max_epi32(l, r);
                min(l, r) _mm256_min_epi32(l, r);
            }
            eight, to _mm256_castsi256_ps, from _mm256_castps_si256
        }
    };
}

i32_lanes! {
    I32x8: i32;
    load(from) _mm256_loadu_si256(from.cast());
    store(value, to) _mm256_storeu_si256(to.cast(), value);
}

// The highest bits are flipped.
i32_lanes! {
    U32x8: u32;
    load(from) _mm256_xor_si256(_mm256_loadu_si256(from.cast()), _mm256_set1_epi32(i32::MIN));
    store(value, to) _mm256_storeu_si256(to.cast(), _mm256_xor_si256(value, _mm256_set1_epi32(i32::MIN)));
}

i32_lanes! {
    U8x8: u8;
    load(from) _mm256_cvtepu8_epi32(_mm_loadl_epi64(from.cast()));
    store(value, to) {
        let words = unsigned_words(_mm256_and_si256(value, _mm256_set1_epi32(0xFF)));
        _mm_storel_epi64(to.cast(), _mm_packus_epi16(words, words));
    };
}

i32_lanes! {
    U16x8: u16;
    load(from) _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
    store(value, to) {
        let words = unsigned_words(_mm256_and_si256(value, _mm256_set1_epi32(0xFFFF)));
        _mm_storeu_si128(to.cast(), words);
    };
}

// The instructions that pack signed numbers turn those out of range into the nearest.
i32_lanes! {
    I8x8: i8;
    load(from) _mm256_cvtepi8_epi32(_mm_loadl_epi64(from.cast()));
    store(value, to) {
        let words = signed_words(value);
        _mm_storel_epi64(to.cast(), _mm_packs_epi16(words, words));
    };
}

i32_lanes! {
    I16x8: i16;
    load(from) _mm256_cvtepi16_epi32(_mm_loadu_si128(from.cast()));
    store(value, to) _mm_storeu_si128(to.cast(), signed_words(value));
}

/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn unsigned_words(value: __m256i) -> __m128i {
    // SAFETY: the caller answers for AVX2.
    unsafe {
        _mm_packus_epi32(
            _mm256_castsi256_si128(value),
            _mm256_extracti128_si256::<1>(value),
        )
    }
}

/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn signed_words(value: __m256i) -> __m128i {
    // SAFETY: the caller answers for AVX2.
    unsafe {
        _mm_packs_epi32(
            _mm256_castsi256_si128(value),
            _mm256_extracti128_si256::<1>(value),
        )
    }
}

/// Lanes of `i64`. The highest bits of the elements may be flipped as they are loaded and stored.
macro_rules! i64_lanes {
    ($Name:ident: $elem:ty, $flip:expr) => {
        lanes! {
            $Name(__m256i): $elem as i64; 4 lanes;
            load(from) _mm256_xor_si256(_mm256_loadu_si256(from.cast()), _mm256_set1_epi64x($flip));
            store(value, to) _mm256_storeu_si256(to.cast(), _mm256_xor_si256(value, _mm256_set1_epi64x($flip)));
            splat(x) _mm256_set1_epi64x(x);
            operators {
                add(l, r) _mm256_add_epi64(l, r);
                mul(l, r) mul_64(l, r);
                mul_or_zero(l, r) mul_64(l, r);
                max(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(r, l));
                min(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(l, r));
            }
            four, to _mm256_castsi256_pd, from _mm256_castpd_si256
        }
    };
}

i64_lanes!(I64x4: i64, 0);
i64_lanes!(U64x4: u64, i64::MIN);

/// The low halves of the products, for which AVX2 has no instruction: three products of halves.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn mul_64(left: __m256i, right: __m256i) -> __m256i {
    // SAFETY: the caller answers for AVX2.
    unsafe {
        let swapped = _mm256_shuffle_epi32::<0b1011_0001>(right);
        let crossed = _mm256_mullo_epi32(left, swapped);
        let high = _mm256_add_epi32(crossed, _mm256_srli_epi64::<32>(crossed));
        _mm256_add_epi64(_mm256_mul_epu32(left, right), _mm256_slli_epi64::<32>(high))
    }
}
