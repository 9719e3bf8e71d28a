//! Compression by the processor's own instruction: a word's bits pick the survivors of up to 16 elements in a register.
//!
//! The register is stored whole, and the next store overwrites what follows the survivors. Where fewer than 64 elements or
//! slots are left, [`avx2`] takes over.

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
