//! Vector code for the processor at hand.
//!
//! The crate is built for the baseline of its target: on x86-64 that is SSE2, without the blends that maxima want,
//! the conversions of `f16`, and half of the width. The loops over columns and short rows are written over arrays that
//! the compiler turns into vector instructions; [`vectorize`] has it do so a second time for AVX2, which is used where
//! the processor has it. Both versions do the same operations in the same order and give the same bits.

use half::f16;
use half::slice::HalfFloatSliceExt;

/// Calls `kernel`, compiled for AVX2 where there is AVX2.
///
/// What `kernel` calls must be inlined into it to be compiled anew. The test for the processor is a load and a
/// branch.
#[inline(always)]
pub(super) fn vectorize<R>(kernel: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,f16c,bmi1,bmi2")]
        fn with_avx2<R>(kernel: impl FnOnce() -> R) -> R {
            kernel()
        }

        if has_avx2() {
            // SAFETY: the processor has these features.
            return unsafe { with_avx2(kernel) };
        }
    }
    kernel()
}

/// Whether the processor has all that the AVX2 versions are compiled for.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("f16c")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("bmi2")
}

/// Widens `f16`, by the hardware's conversion where there is one.
pub(super) fn widen_f16(src: &[f16], dst: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx") && std::is_x86_feature_detected!("f16c") {
        // SAFETY: the processor has these features.
        return unsafe { f16c::widen(src, dst) };
    }
    src.convert_to_f32_slice(dst);
}

/// Rounds to `f16`, to nearest with ties to even, by the hardware's conversion where there is one.
pub(super) fn round_f16(src: &[f32], dst: &mut [f16]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx") && std::is_x86_feature_detected!("f16c") {
        // SAFETY: the processor has these features.
        return unsafe { f16c::round(src, dst) };
    }
    dst.convert_from_f32_slice(src);
}

/// The slice conversions of `half` use the same instructions behind a call for every eight elements; with them, a
/// scan took 1.5 times as long.
#[cfg(target_arch = "x86_64")]
mod f16c {
    use core::arch::x86_64::*;

    use half::f16;
    use half::slice::HalfFloatSliceExt;

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn widen(src: &[f16], dst: &mut [f32]) {
        let (src, src_rest) = src.as_chunks::<8>();
        let (dst, dst_rest) = dst.as_chunks_mut::<8>();
        for (src, dst) in src.iter().zip(dst) {
            // SAFETY: both arrays have eight elements, and the accesses need no alignment.
            unsafe {
                _mm256_storeu_ps(
                    dst.as_mut_ptr(),
                    _mm256_cvtph_ps(_mm_loadu_si128(src.as_ptr().cast())),
                )
            };
        }
        src_rest.convert_to_f32_slice(dst_rest);
    }

    #[target_feature(enable = "avx,f16c")]
    pub(super) fn round(src: &[f32], dst: &mut [f16]) {
        let (src, src_rest) = src.as_chunks::<8>();
        let (dst, dst_rest) = dst.as_chunks_mut::<8>();
        for (src, dst) in src.iter().zip(dst) {
            // SAFETY: both arrays have eight elements, and the accesses need no alignment.
            unsafe {
                let rounded =
                    _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(src.as_ptr()));
                _mm_storeu_si128(dst.as_mut_ptr().cast(), rounded);
            }
        }
        dst_rest.convert_from_f32_slice(src_rest);
    }
}
