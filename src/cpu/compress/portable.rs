//! Compression and expansion in plain Rust.
//!
//! Compression writes each element at the cursor, and the cursor moves on by the mask, so that the next element
//! overwrites one that does not survive. Near the end of the slots, where such a write could fall outside, the last
//! survivors are written one by one. Expansion copies as many of the next values as a group of mask bytes could take,
//! and every slot reads one of them or the zero before them.

use core::mem::MaybeUninit;

use super::{GROUP, Index, Word};

/// As [`super::count`]. Each true is counted in a byte of a vector.
pub(in crate::cpu) fn count(mask: &[u8]) -> usize {
    const LANES: usize = 64;

    let (vectors, rest) = mask.as_chunks::<LANES>();
    // A byte holds 255 trues.
    let in_vectors = vectors.chunks(255).map(|vectors| {
        let mut lanes = [0u8; LANES];
        for vector in vectors {
            for (lane, &byte) in lanes.iter_mut().zip(vector) {
                *lane += u8::from(byte != 0);
            }
        }
        lanes.iter().map(|&lane| usize::from(lane)).sum::<usize>()
    });
    in_vectors.sum::<usize>() + rest.iter().filter(|&&byte| byte != 0).count()
}

/// As [`super::compress`].
pub(in crate::cpu) fn compress<T: Word>(
    values: &[T],
    mask: &[u8],
    slots: &mut [MaybeUninit<T>],
) -> usize {
    assert_eq!(values.len(), mask.len());
    // SAFETY: `write_survivors` asks for indices of the mask, and there are as many values.
    write_survivors(mask, slots, |index| unsafe { *values.get_unchecked(index) })
}

/// As [`super::positions`].
pub(in crate::cpu) fn positions<I: Index>(mask: &[u8], first: usize, slots: &mut [MaybeUninit<I>]) {
    let written = write_survivors(mask, slots, |index| I::from_usize(first + index));
    assert_eq!(written, slots.len());
}

/// As [`super::expand`].
pub(in crate::cpu) fn expand<T: Word>(mut values: &[T], mask: &[u8], slots: &mut [MaybeUninit<T>]) {
    let (groups, rest) = mask.as_chunks::<GROUP>();
    let (slot_groups, rest_slots) = slots.as_chunks_mut::<GROUP>();
    for (bytes, slots) in groups.iter().zip(slot_groups) {
        let Some(&next) = values.first_chunk::<GROUP>() else {
            values = expand_last(values, bytes, slots);
            continue;
        };
        // For a false the index is zero. The compiler cannot turn that into a branch. A choice between two values
        // became one, and took four times as long under a random mask.
        let mut choices = [T::default(); GROUP + 1];
        choices[1..].copy_from_slice(&next);
        let mut taken = 0;
        for (slot, &byte) in slots.iter_mut().zip(bytes) {
            let is_true = usize::from(byte != 0);
            taken += is_true;
            // SAFETY: `taken` has grown by at most one for each of `GROUP` bytes.
            slot.write(unsafe { *choices.get_unchecked(taken & is_true.wrapping_neg()) });
        }
        values = &values[taken..];
    }
    expand_last(values, rest, rest_slots);
}

/// As [`expand`], where the values may end. Returns the values that are left.
pub(super) fn expand_last<'a, T: Word>(
    mut values: &'a [T],
    mask: &[u8],
    slots: &mut [MaybeUninit<T>],
) -> &'a [T] {
    for (slot, &byte) in slots.iter_mut().zip(mask) {
        let mut value = T::default();
        if byte != 0
            && let Some((&first, rest)) = values.split_first()
        {
            (value, values) = (first, rest);
        }
        slot.write(value);
    }
    values
}

/// Writes `value(index)` for each true of the mask, and returns how many there are. There is a slot for each.
#[inline(always)]
fn write_survivors<U>(
    mask: &[u8],
    slots: &mut [MaybeUninit<U>],
    value: impl Fn(usize) -> U,
) -> usize {
    let mut cursor = 0;
    let (groups, rest) = mask.as_chunks::<GROUP>();
    for (group, bytes) in groups.iter().enumerate() {
        if u64::from_ne_bytes(*bytes) == 0 {
            continue;
        }
        let first = group * GROUP;
        if slots.len() - cursor >= GROUP {
            for (offset, &byte) in bytes.iter().enumerate() {
                // SAFETY: the cursor has moved on by less than `GROUP` since there were `GROUP` slots after it.
                unsafe { slots.get_unchecked_mut(cursor) }.write(value(first + offset));
                cursor += usize::from(byte != 0);
            }
        } else {
            cursor = write_last(bytes, slots, cursor, |offset| value(first + offset));
        }
    }
    let first = groups.len() * GROUP;
    write_last(rest, slots, cursor, |offset| value(first + offset))
}

/// Writes the survivors of a group as [`write_survivors`] does, with a branch and no other writes. Returns the cursor.
#[inline(always)]
pub(super) fn write_last<U>(
    mask: &[u8],
    slots: &mut [MaybeUninit<U>],
    mut cursor: usize,
    value: impl Fn(usize) -> U,
) -> usize {
    for (offset, &byte) in mask.iter().enumerate() {
        if byte != 0 {
            slots[cursor].write(value(offset));
            cursor += 1;
        }
    }
    cursor
}
