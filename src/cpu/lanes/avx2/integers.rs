//! Lanes of integers.

use core::arch::x86_64::*;

use super::super::super::processor::HasAvx2;
use super::super::super::traits::Lanes;

lanes! {
    I32x8(__m256i): i32 as i32; 8 lanes;
    load(from) _mm256_loadu_si256(from.cast());
    store(value, to) _mm256_storeu_si256(to.cast(), value);
    splat(x) _mm256_set1_epi32(x);
    add(l, r) _mm256_add_epi32(l, r);
    mul(l, r) _mm256_mullo_epi32(l, r);
    max(l, r) _mm256_max_epi32(l, r);
    min(l, r) _mm256_min_epi32(l, r);
    eight, to _mm256_castsi256_ps, from _mm256_castps_si256
}

lanes! {
    U32x8(__m256i): u32 as u32; 8 lanes;
    load(from) _mm256_loadu_si256(from.cast());
    store(value, to) _mm256_storeu_si256(to.cast(), value);
    splat(x) _mm256_set1_epi32(x.cast_signed());
    add(l, r) _mm256_add_epi32(l, r);
    mul(l, r) _mm256_mullo_epi32(l, r);
    max(l, r) _mm256_max_epu32(l, r);
    min(l, r) _mm256_min_epu32(l, r);
    eight, to _mm256_castsi256_ps, from _mm256_castps_si256
}

lanes! {
    I64x4(__m256i): i64 as i64; 4 lanes;
    load(from) _mm256_loadu_si256(from.cast());
    store(value, to) _mm256_storeu_si256(to.cast(), value);
    splat(x) _mm256_set1_epi64x(x);
    add(l, r) _mm256_add_epi64(l, r);
    mul(l, r) mul_64(l, r);
    max(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(r, l));
    min(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(l, r));
    four, to _mm256_castsi256_pd, from _mm256_castpd_si256
}

lanes! {
    U64x4(__m256i): u64 as u64; 4 lanes;
    load(from) _mm256_loadu_si256(from.cast());
    store(value, to) _mm256_storeu_si256(to.cast(), value);
    splat(x) _mm256_set1_epi64x(x.cast_signed());
    add(l, r) _mm256_add_epi64(l, r);
    mul(l, r) mul_64(l, r);
    max(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(signed(r), signed(l)));
    min(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(signed(l), signed(r)));
    four, to _mm256_castsi256_pd, from _mm256_castpd_si256
}

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

/// Unsigned numbers as signed ones in the same order.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn signed(value: __m256i) -> __m256i {
    // SAFETY: the caller answers for AVX2.
    unsafe { _mm256_xor_si256(value, _mm256_set1_epi64x(i64::MIN)) }
}
