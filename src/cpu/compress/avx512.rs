//! Compression by the processor's own instruction: a word's bits pick the survivors of up to 16 elements in a register.
//!
//! The register is stored whole, and the next store overwrites what follows the survivors. Where fewer than 64 elements or
//! slots are left, [`avx2`] takes over.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::{BITS, Word, avx2};

/// As [`super::compress_dense`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2,popcnt")]
pub(super) fn compress<T: Word>(
    values: &[T],
    words: &[u64],
    slots: &mut [MaybeUninit<T>],
) -> usize {
    let (mut cursor, mut done) = (0, 0);
    for (values, &bits) in values.as_chunks::<BITS>().0.iter().zip(words) {
        let Some(room) = slots[cursor..].first_chunk_mut::<BITS>() else {
            break;
        };
        if bits != 0 {
            // SAFETY: there is a value for each bit, and room for as many.
            unsafe { T::compress_word(values.as_ptr(), bits, room.as_mut_ptr().cast()) };
            cursor += bits.count_ones() as usize;
        }
        done += 1;
    }
    cursor + avx2::compress(&values[done * BITS..], &words[done..], &mut slots[cursor..])
}

/// Elements that an instruction compresses.
pub(crate) trait Compressed: Sized {
    /// Writes the elements at `from` whose bit in `bits` is one to `to`, in order. The lowest bit belongs to the first
    /// element. Up to 64 elements, the slots after the survivors get arbitrary values.
    ///
    /// # Safety
    ///
    /// The processor has AVX-512 F, BW and VBMI2, and POPCNT. There are 64 elements at `from` and room for as many
    /// at `to`.
    unsafe fn compress_word(from: *const Self, bits: u64, to: *mut Self);
}

macro_rules! compressed {
    ($($T:ty: $compress:ident($Mask:ty);)*) => {$(
        impl Compressed for $T {
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
            unsafe fn compress_word(from: *const Self, bits: u64, mut to: *mut Self) {
                const LANES: usize = 64 / size_of::<$T>();
                for part in 0..BITS / LANES {
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
