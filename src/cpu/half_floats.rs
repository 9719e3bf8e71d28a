//! The elements `f16` and `bf16`, which are accumulated in `f32`, and their conversions: to nearest, ties to even.

use core::mem::MaybeUninit;

use half::{bf16, f16};

use super::converted::{converted_element, narrow, widen};
#[cfg(target_arch = "x86_64")]
use super::lanes::{Bf16x8, F16x8, F32x8};
#[cfg(target_arch = "x86_64")]
use super::processor::{Widest, compiled_for};
use super::traits::ElementType;
#[cfg(target_arch = "x86_64")]
use super::traits::Lanes;

converted_element! {
    f16 as f32: 8 F16x8, wrapping f16;
    to_acc(x) x.to_f32(); from_acc(acc) f16::from_f32(acc);
    tiles widen_f16, round_f16;

    bf16 as f32: 8 Bf16x8, wrapping bf16;
    to_acc(x) f32::from_bits(u32::from(x.to_bits()) << 16); from_acc(acc) round_bf16(acc);
    tiles widen, narrow;
}

/// Elements that one instruction converts.
#[cfg(target_arch = "x86_64")]
const COUNT: usize = <F32x8 as Lanes<f32>>::COUNT;

/// Widens `f16`, by the processor's conversion where it has one.
///
/// The slice conversions of `half` use the same instructions, with a call for every eight elements: with them, a scan
/// took 1.5 times as long.
fn widen_f16(src: &[f16], dst: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Widest::test() {
        let (src, src_rest) = src.as_chunks::<COUNT>();
        let (dst, dst_rest) = dst.as_chunks_mut::<COUNT>();
        compiled_for!(avx2, {
            for (src, dst) in src.iter().zip(dst) {
                // SAFETY: both arrays have as many elements as the vectors.
                unsafe { F32x8::from(F16x8::load(avx2, src.as_ptr())).store(dst.as_mut_ptr()) };
            }
        });
        return widen(src_rest, dst_rest);
    }
    widen(src, dst);
}

/// Rounds to `f16`, by the processor's conversion where it has one; see [`widen_f16`].
fn round_f16(src: &[f32], dst: &mut [MaybeUninit<f16>]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Widest::test() {
        let (src, src_rest) = src.as_chunks::<COUNT>();
        let (dst, dst_rest) = dst.as_chunks_mut::<COUNT>();
        compiled_for!(avx2, {
            for (src, dst) in src.iter().zip(dst) {
                // SAFETY: both arrays have as many elements as the vectors.
                unsafe {
                    F16x8::from(F32x8::load(avx2, src.as_ptr())).store(dst.as_mut_ptr().cast());
                }
            }
        });
        return narrow(src_rest, dst_rest);
    }
    narrow(src, dst);
}

/// Rounds as `bf16::from_f32` does, without its branch.
#[inline(always)]
fn round_bf16(number: f32) -> bf16 {
    let bits = number.to_bits();
    let rounded = bits.wrapping_add(0x7FFF + ((bits >> 16) & 1)) >> 16;
    let quiet_nan = (bits >> 16) | 0x40;
    let is_nan = bits & 0x7FFF_FFFF > 0x7F80_0000;
    bf16::from_bits(if is_nan { quiet_nan } else { rounded } as u16)
}
