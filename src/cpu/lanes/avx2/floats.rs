//! Lanes of floats.

use core::arch::x86_64::*;

use half::{bf16, f16};

use super::super::super::processor::Widest;
use super::super::super::traits::Lanes;
use super::shuffles::same;

/// Lanes of `f32`. Elements may be converted as they are loaded and stored.
macro_rules! f32_lanes {
    ($(#[$doc:meta])* $Name:ident: $elem:ty; load($from:ident) $load:expr; store($value:ident, $to:ident) $store:expr;) => {
        lanes! {
            $(#[$doc])*
            $Name(__m256): $elem as f32; 8 lanes;
            load($from) $load;
            store($value, $to) $store;
            splat(x) _mm256_set1_ps(x);
            operators {
                add(l, r) _mm256_add_ps(l, r);
                mul(l, r) _mm256_mul_ps(l, r);
                mul_or_zero(l, r) {
                    let product = _mm256_mul_ps(l, r);
                    let size = _mm256_andnot_ps(_mm256_set1_ps(-0.0), product);
                    let smallest = _mm256_set1_ps(f32::MIN_POSITIVE);
                    _mm256_andnot_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(size, smallest), product)
                };
                // The instruction takes its second operand if the two are equal or one is NaN, which leaves a NaN in
                // the first.
                max(l, r) _mm256_or_ps(_mm256_max_ps(r, l), _mm256_cmp_ps::<_CMP_UNORD_Q>(r, r));
                min(l, r) _mm256_or_ps(_mm256_min_ps(r, l), _mm256_cmp_ps::<_CMP_UNORD_Q>(r, r));
            }
            eight, to same, from same
        }
    };
}

f32_lanes! {
    F32x8: f32;
    load(from) _mm256_loadu_ps(from);
    store(value, to) _mm256_storeu_ps(to, value);
}

f32_lanes! {
    /// Widened as they are loaded, and rounded to nearest, ties to even, as they are stored.
    F16x8: f16;
    load(from) _mm256_cvtph_ps(_mm_loadu_si128(from.cast()));
    store(value, to) _mm_storeu_si128(to.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(value));
}

f32_lanes! {
    /// Widened as they are loaded, and rounded to nearest, ties to even, as they are stored.
    Bf16x8: bf16;
    load(from) _mm256_castsi256_ps(
        _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast())))
    );
    store(value, to) _mm_storeu_si128(to.cast(), round_bf16(value));
}

/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn round_bf16(value: __m256) -> __m128i {
    // SAFETY: the caller answers for AVX2.
    unsafe {
        let bits = _mm256_castps_si256(value);
        let high = _mm256_srli_epi32::<16>(bits);
        let odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
        let half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
        let rounded = _mm256_srli_epi32::<16>(_mm256_add_epi32(bits, half));
        let quiet_nan = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
        let is_nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(value, value));
        let chosen = _mm256_blendv_epi8(rounded, quiet_nan, is_nan);
        _mm_packus_epi32(
            _mm256_castsi256_si128(chosen),
            _mm256_extracti128_si256::<1>(chosen),
        )
    }
}

lanes! {
    F64x4(__m256d): f64 as f64; 4 lanes;
    load(from) _mm256_loadu_pd(from);
    store(value, to) _mm256_storeu_pd(to, value);
    splat(x) _mm256_set1_pd(x);
    operators {
        add(l, r) _mm256_add_pd(l, r);
        mul(l, r) _mm256_mul_pd(l, r);
        mul_or_zero(l, r) {
            let product = _mm256_mul_pd(l, r);
            let size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), product);
            let smallest = _mm256_set1_pd(f64::MIN_POSITIVE);
            _mm256_andnot_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(size, smallest), product)
        };
        max(l, r) _mm256_or_pd(_mm256_max_pd(r, l), _mm256_cmp_pd::<_CMP_UNORD_Q>(r, r));
        min(l, r) _mm256_or_pd(_mm256_min_pd(r, l), _mm256_cmp_pd::<_CMP_UNORD_Q>(r, r));
    }
    four, to same, from same
}

impl From<F16x8> for F32x8 {
    #[inline(always)]
    fn from(lanes: F16x8) -> Self {
        Self(lanes.0, lanes.1)
    }
}

impl From<F32x8> for F16x8 {
    #[inline(always)]
    fn from(lanes: F32x8) -> Self {
        Self(lanes.0, lanes.1)
    }
}
