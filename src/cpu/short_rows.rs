//! Rows too short for tiles.
//!
//! A few rows are walked side by side, one element of each at a time, so that the processor has as many operations in
//! flight as there are rows.

use core::mem::MaybeUninit;

use super::element::TILE;
use super::processor::{Widest, compiled_for, vectorize};
use super::traits::{Accumulator, Combine, ElementType};

/// Rows that are walked side by side: enough to hide the latency of an addition, few enough for their carries to stay
/// in registers.
pub(super) const ROWS: usize = 8;

/// The longest row that is walked in this way.
///
/// If rows are scanned in lanes, one after the other, rows of 48 take the same time, rows of 16 take 1.3 times as long,
/// and rows of 128 take 0.7 times as long.
pub(super) const SHORT: usize = 48;

/// Scans the rows of `len` elements. Those that do not fill a set of [`ROWS`] are walked alone, in the same order.
pub(super) fn scan<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    len: usize,
    exclusive: bool,
    reverse: bool,
) {
    let scratch = &mut T::Scratch::default();
    // Whole sets that fit a tile.
    let batch = TILE / (ROWS * len) * (ROWS * len);
    for (input, output) in input.chunks(batch).zip(output.chunks_mut(batch)) {
        T::map(input, output, scratch, |input, output| {
            if reverse {
                walk_all::<T::Acc, O, true>(input, output, len, exclusive);
            } else {
                walk_all::<T::Acc, O, false>(input, output, len, exclusive);
            }
        });
    }
}

/// Walks rows, those of a few elements in a form of their own.
#[inline(never)]
fn walk_all<A: Accumulator, O: Combine<A>, const REVERSE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    len: usize,
    exclusive: bool,
) {
    if let Some(vectors) = Widest::test() {
        match len {
            2 => return walk_alike::<A, O, REVERSE, 2>(vectors, input, output, exclusive),
            3 => return walk_alike::<A, O, REVERSE, 3>(vectors, input, output, exclusive),
            4 => return walk_alike::<A, O, REVERSE, 4>(vectors, input, output, exclusive),
            _ => (),
        }
    }
    let done = input.len() / (ROWS * len) * (ROWS * len);
    let (sets, rows) = input.split_at(done);
    let (set_slots, row_slots) = output.split_at_mut(done);
    let sets = sets.chunks_exact(ROWS * len);
    for (input, output) in sets.zip(set_slots.chunks_exact_mut(ROWS * len)) {
        walk_set::<A, O, REVERSE>(input, output, len, exclusive);
    }
    for (input, output) in rows.chunks_exact(len).zip(row_slots.chunks_exact_mut(len)) {
        walk_alone::<A, O, REVERSE>(input, output, exclusive);
    }
}

/// Walks rows of a length that the compiler knows: it takes as many as a vector has lanes at a time.
fn walk_alike<A: Accumulator, O: Combine<A>, const REVERSE: bool, const LEN: usize>(
    vectors: Widest,
    input: &[A],
    output: &mut [MaybeUninit<A>],
    exclusive: bool,
) {
    let rows = input.as_chunks::<LEN>().0.iter();
    let rows = rows.zip(output.as_chunks_mut::<LEN>().0);
    compiled_for!(vectors, {
        for (row, slots) in rows {
            let mut carry = O::IDENTITY;
            for step in 0..LEN {
                let at = if REVERSE { LEN - 1 - step } else { step };
                let before = carry;
                carry = O::combine(before, row[at]);
                slots[at].write(if exclusive { before } else { carry });
            }
        }
    });
}

/// Walks one row.
fn walk_alone<A: Accumulator, O: Combine<A>, const REVERSE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    exclusive: bool,
) {
    let mut carry = O::IDENTITY;
    let step = |(slot, &element): (&mut MaybeUninit<A>, &A)| {
        let before = carry;
        carry = O::combine(before, element);
        slot.write(if exclusive { before } else { carry });
    };
    let pairs = output.iter_mut().zip(input);
    if REVERSE {
        pairs.rev().for_each(step);
    } else {
        pairs.for_each(step);
    }
}

/// Walks one set of rows.
///
/// An exclusive scan is the inclusive scan without the last element, stored one place further along, after the
/// identity.
fn walk_set<A: Accumulator, O: Combine<A>, const REVERSE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    len: usize,
    exclusive: bool,
) {
    assert!(len > 0 && input.len() == ROWS * len && output.len() == ROWS * len);
    let (mut read, mut written, mut steps) = (0, 0, len);
    if exclusive {
        let first = if REVERSE { len - 1 } else { 0 };
        for row in output.chunks_exact_mut(len) {
            row[first].write(O::IDENTITY);
        }
        steps -= 1;
        (read, written) = if REVERSE { (1, 0) } else { (0, 1) };
    }
    let end = input.len() - len + steps;
    let (input, output) = (
        &input[read..read + end],
        &mut output[written..written + end],
    );
    vectorize!({
        // SAFETY: the slices hold the last place of the last row, `(ROWS - 1) * len + steps - 1`.
        unsafe { walk_strided::<A, O, REVERSE>(input, output, len, steps) };
    });
}

/// Walks `steps` elements of each of `ROWS` rows, whose first elements are `len` elements apart.
///
/// # Safety
///
/// The slices have `(ROWS - 1) * len + steps` elements.
#[inline(always)]
unsafe fn walk_strided<A: Accumulator, O: Combine<A>, const REVERSE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    len: usize,
    steps: usize,
) {
    let mut carries = [O::IDENTITY; ROWS];
    for step in 0..steps {
        let step = if REVERSE { steps - 1 - step } else { step };
        for (row, carry) in carries.iter_mut().enumerate() {
            // SAFETY: `row` is less than `ROWS` and `step` less than `steps`.
            unsafe {
                *carry = O::combine(*carry, *input.get_unchecked(row * len + step));
                output.get_unchecked_mut(row * len + step).write(*carry);
            }
        }
    }
}
