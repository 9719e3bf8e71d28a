//! Compression by the processor's own instruction: 64 mask bytes become 64 bits, which pick the survivors of up to 16
//! elements in a register.
//!
//! The register is stored whole, and the next store overwrites what follows the survivors. Where fewer than 64 slots are
//! left, [`avx2`](super::avx2) takes over.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::avx2::SPARSE;
use super::{Word, avx2};

/// Mask bytes of a step.
pub(super) const STEP: usize = 64;

/// As [`super::compress`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2,popcnt")]
pub(super) fn compress<T: Word>(values: &[T], mask: &[u8], slots: &mut [MaybeUninit<T>]) -> usize {
    assert_eq!(values.len(), mask.len());
    let is_sparse = slots.len() < mask.len() / SPARSE;
    let (mut cursor, mut done) = (0, 0);
    for bytes in mask.as_chunks::<STEP>().0 {
        let Some(room) = slots[cursor..].first_chunk_mut::<STEP>() else {
            break;
        };
        let mut bits = bits_of(bytes);
        if is_sparse {
            // One by one: most steps have no true, or a single one.
            for slot in room {
                if bits == 0 {
                    break;
                }
                slot.write(values[done + bits.trailing_zeros() as usize]);
                bits &= bits - 1;
                cursor += 1;
            }
        } else if bits != 0 {
            // SAFETY: there is a value for each byte, and room for as many.
            unsafe { T::compress_step(values.as_ptr().add(done), bits, room.as_mut_ptr().cast()) };
            cursor += bits.count_ones() as usize;
        }
        done += STEP;
    }
    cursor + avx2::compress(&values[done..], &mask[done..], &mut slots[cursor..])
}

/// One bit for each byte, set if the byte is not zero. The first byte has the lowest bit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn bits_of(bytes: &[u8; STEP]) -> u64 {
    // SAFETY: there are as many bytes.
    let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
    _mm512_test_epi8_mask(bytes, bytes)
}

/// Elements that an instruction compresses.
pub(crate) trait Compressed: Sized {
    /// Writes the elements at `from` whose bit in `bits` is one to `to`, in order. The lowest bit belongs to the first
    /// element. Up to [`STEP`] elements, the slots after the survivors get arbitrary values.
    ///
    /// # Safety
    ///
    /// The processor has AVX-512 F, BW and VBMI2, and POPCNT. There are [`STEP`] elements at `from` and room for as many
    /// at `to`.
    unsafe fn compress_step(from: *const Self, bits: u64, to: *mut Self);
}

macro_rules! compressed {
    ($($T:ty: $compress:ident($Mask:ty);)*) => {$(
        impl Compressed for $T {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
            unsafe fn compress_step(from: *const Self, bits: u64, mut to: *mut Self) {
                const LANES: usize = 64 / size_of::<$T>();
                for part in 0..STEP / LANES {
                    let bits = (bits >> (part * LANES)) as $Mask;
                    // SAFETY: the caller has 64 elements at each; each part is written at most as far on as it is read.
                    unsafe {
                        let elements = _mm512_loadu_si512(from.add(part * LANES).cast());
                        _mm512_storeu_si512(to.cast(), $compress(bits, elements));
                        to = to.add(bits.count_ones() as usize);
                    }
                }
            }
        }
    )*};
}

compressed! {
    u8: _mm512_maskz_compress_epi8(u64);
    u16: _mm512_maskz_compress_epi16(u32);
    u32: _mm512_maskz_compress_epi32(u16);
    u64: _mm512_maskz_compress_epi64(u8);
}
