//! Compression and expansion in plain Rust.
//!
//! Compression writes each element at the cursor, and the cursor moves on by the mask, so that the next element
//! overwrites one that does not survive. Near the end of the slots, where such a write could fall outside, the last
//! survivors are written one by one. Expansion copies as many of the next values as a group could take, and every slot
//! reads one of them or the zero before them.

use core::mem::MaybeUninit;

use super::{BITS, GROUP, Index, Word, pack_by, write_ones};

/// As [`super::pack`].
pub(in crate::cpu) fn pack(mask: &[u8], words: &mut [MaybeUninit<u64>]) -> usize {
    pack_by(mask, words, |bytes| bits_of(bytes))
}

/// A bit for each of up to 64 bytes, one if the byte is not zero. The first byte has the lowest bit.
#[inline(always)]
pub(super) fn bits_of(bytes: &[u8]) -> u64 {
    let (groups, rest) = bytes.as_chunks::<GROUP>();
    let mut bits = 0;
    for (group, bytes) in groups.iter().enumerate() {
        // The product has in its highest byte a bit of each byte.
        let trues = trues(u64::from_le_bytes(*bytes));
        bits |= (trues.wrapping_mul(0x0102_0408_1020_4080) >> (BITS - GROUP)) << (group * GROUP);
    }
    for (at, &byte) in rest.iter().enumerate() {
        bits |= u64::from(byte != 0) << (groups.len() * GROUP + at);
    }
    bits
}

/// 1 in each byte that is not zero.
#[inline(always)]
pub(in crate::cpu) fn trues(bytes: u64) -> u64 {
    const LOW: u64 = u64::from_le_bytes([0x7f; GROUP]);
    ((((bytes & LOW) + LOW) | bytes) & !LOW) >> 7
}

/// As [`super::compress_dense`].
pub(in crate::cpu) fn compress<T: Word>(
    values: &[T],
    words: &[u64],
    slots: &mut [MaybeUninit<T>],
) -> usize {
    write_survivors(values.len(), words, slots, |index| values[index])
}

/// As [`super::positions`]. Returns how many there are.
pub(in crate::cpu) fn positions<I: Index>(
    words: &[u64],
    first: usize,
    slots: &mut [MaybeUninit<I>],
) -> usize {
    let all = words.len() * BITS;
    write_survivors(all, words, slots, |index| I::from_usize(first + index))
}

/// Writes `value(index)` for each one of `len` bits, and returns how many there are. There is a slot for each.
#[inline(always)]
fn write_survivors<U>(
    len: usize,
    words: &[u64],
    slots: &mut [MaybeUninit<U>],
    value: impl Fn(usize) -> U,
) -> usize {
    let mut cursor = 0;
    for (word, &bits) in words.iter().enumerate() {
        let (first, rest) = (word * BITS, &mut slots[cursor..]);
        match rest.first_chunk_mut::<BITS>() {
            Some(room) if bits != 0 && len - first >= BITS => {
                let mut written = 0;
                for bit in 0..BITS {
                    room[written].write(value(first + bit));
                    written += (bits >> bit & 1) as usize;
                }
            }
            _ => {
                write_ones(&[bits], rest, |bit| value(first + bit));
            }
        }
        cursor += bits.count_ones() as usize;
    }
    cursor
}

/// As [`super::expand`].
pub(in crate::cpu) fn expand<T: Word>(
    mut values: &[T],
    words: &[u64],
    slots: &mut [MaybeUninit<T>],
) {
    for (slots, &bits) in slots.chunks_mut(BITS).zip(words) {
        if values.len() < BITS || slots.len() < BITS {
            values = expand_last(values, bits, slots);
            continue;
        }
        for (slots, bits) in slots.as_chunks_mut().0.iter_mut().zip(bits.to_le_bytes()) {
            values = expand_group(values, bits, slots);
        }
    }
}

/// As [`expand`], where a group of values is left. Returns the values after those that are taken.
#[inline(always)]
fn expand_group<'a, T: Word>(
    values: &'a [T],
    bits: u8,
    slots: &mut [MaybeUninit<T>; GROUP],
) -> &'a [T] {
    // For a false the index is zero. The compiler cannot turn that into a branch. A choice between two values became
    // one, and took four times as long under a random mask.
    let mut choices = [T::default(); GROUP + 1];
    choices[1..].copy_from_slice(&values[..GROUP]);
    let mut taken = 0;
    for (at, slot) in slots.iter_mut().enumerate() {
        let is_true = usize::from(bits >> at & 1);
        taken += is_true;
        // SAFETY: at most as many are taken as the group has bits.
        slot.write(unsafe { *choices.get_unchecked(taken & is_true.wrapping_neg()) });
    }
    &values[taken..]
}

/// As [`expand`], where the values may end. Returns the values that are left.
pub(super) fn expand_last<'a, T: Word>(
    mut values: &'a [T],
    bits: u64,
    slots: &mut [MaybeUninit<T>],
) -> &'a [T] {
    if values.is_empty() || bits == 0 {
        slots.fill(MaybeUninit::new(T::default()));
        return values;
    }
    for (at, slot) in slots.iter_mut().enumerate() {
        let mut value = T::default();
        if bits >> at & 1 == 1
            && let Some((&first, rest)) = values.split_first()
        {
            (value, values) = (first, rest);
        }
        slot.write(value);
    }
    values
}
