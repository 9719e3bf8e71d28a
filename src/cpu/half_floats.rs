//! The elements `f16` and `bf16`, which are accumulated in `f32`, and their conversions: to nearest, ties to even.

use core::mem::MaybeUninit;

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::converted::converted_element;
#[cfg(target_arch = "x86_64")]
use super::lanes::{Bf16x8, F16x8, F32x8};
use super::processor::vectorize;
#[cfg(target_arch = "x86_64")]
use super::processor::{HasAvx2, compiled_for};
use super::traits::ElementType;
#[cfg(target_arch = "x86_64")]
use super::traits::Lanes;

converted_element! {
    f16 as f32: 8 F16x8, wrapping f16;
    to_acc(x) x.to_f32(); from_acc(acc) f16::from_f32(acc);
    tiles widen_f16, round_f16;

    bf16 as f32: 8 Bf16x8, wrapping bf16;
    to_acc(x) x.to_f32(); from_acc(acc) bf16::from_f32(acc);
    tiles widen_bf16, round_bf16;
}

/// Elements that one instruction converts.
#[cfg(target_arch = "x86_64")]
const COUNT: usize = <F32x8 as Lanes<f32>>::COUNT;

/// Widens `f16`, by the processor's conversion where it has one.
///
/// The slice conversions of `half` use the same instructions, with a call for every eight elements: with them, a scan
/// took 1.5 times as long.
pub(super) fn widen_f16(src: &[f16], dst: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = HasAvx2::test() {
        let (src, src_rest) = src.as_chunks::<COUNT>();
        let (dst, dst_rest) = dst.as_chunks_mut::<COUNT>();
        compiled_for!(avx2, {
            for (src, dst) in src.iter().zip(dst) {
                // SAFETY: both arrays have as many elements as the vectors.
                unsafe { F32x8::from(F16x8::load(avx2, src.as_ptr())).store(dst.as_mut_ptr()) };
            }
        });
        return src_rest.convert_to_f32_slice(dst_rest);
    }
    src.convert_to_f32_slice(dst);
}

/// Rounds to `f16`, by the processor's conversion where it has one; see [`widen_f16`].
pub(super) fn round_f16(src: &[f32], dst: &mut [f16]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = HasAvx2::test() {
        let (src, src_rest) = src.as_chunks::<COUNT>();
        let (dst, dst_rest) = dst.as_chunks_mut::<COUNT>();
        compiled_for!(avx2, {
            for (src, dst) in src.iter().zip(dst) {
                // SAFETY: both arrays have as many elements as the vectors.
                unsafe { F16x8::from(F32x8::load(avx2, src.as_ptr())).store(dst.as_mut_ptr()) };
            }
        });
        return dst_rest.convert_from_f32_slice(src_rest);
    }
    dst.convert_from_f32_slice(src);
}

/// Widens `bf16`: the upper half of an `f32`.
pub(super) fn widen_bf16(src: &[bf16], dst: &mut [f32]) {
    vectorize!({
        for (dst, src) in dst.iter_mut().zip(src) {
            *dst = f32::from_bits(u32::from(src.to_bits()) << 16);
        }
    });
}

/// Rounds to `bf16` as `bf16::from_f32` does, without its branch.
pub(super) fn round_bf16(src: &[f32], dst: &mut [bf16]) {
    vectorize!({
        for (dst, src) in dst.iter_mut().zip(src) {
            let bits = src.to_bits();
            let rounded = bits.wrapping_add(0x7FFF + ((bits >> 16) & 1)) >> 16;
            let quiet_nan = (bits >> 16) | 0x40;
            let is_nan = bits & 0x7FFF_FFFF > 0x7F80_0000;
            *dst = bf16::from_bits(if is_nan { quiet_nan } else { rounded } as u16);
        }
    });
}
