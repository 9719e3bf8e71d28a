//! Recurrences along contiguous rows of two to four elements: loops that the compiler turns into vectors across rows.
//!
//! With blocks that are transposed, as other short rows have them, f32 [2^20, 4] takes 2.5 times as long (two cores).

use core::mem::MaybeUninit;

use super::super::element::TILE;
use super::super::parallel::{self, GRAIN};
use super::super::processor::{Widest, compiled_for};
use super::super::traits::{Accumulator, ElementType};
use super::affine::state_after;
use super::{View, WalkShape};

/// Walks rows from 0, if they are of this kind. Returns whether they are.
pub(super) fn walk<T: ElementType, const RESETS: bool>(
    values: &View<'_, T>,
    decay: &View<'_, T>,
    output: &mut [MaybeUninit<T>],
    exclusive: bool,
    lines: WalkShape,
) -> bool {
    let (Some(values), Some(decay), Some(vectors)) = (values.rows(), decay.rows(), Widest::test())
    else {
        return false;
    };
    let walk = match (lines.inner, lines.len, lines.reverse) {
        (1, 2, false) => walk_rows::<T::Acc, RESETS, false, 2>,
        (1, 2, true) => walk_rows::<T::Acc, RESETS, true, 2>,
        (1, 3, false) => walk_rows::<T::Acc, RESETS, false, 3>,
        (1, 3, true) => walk_rows::<T::Acc, RESETS, true, 3>,
        (1, 4, false) => walk_rows::<T::Acc, RESETS, false, 4>,
        (1, 4, true) => walk_rows::<T::Acc, RESETS, true, 4>,
        _ => return false,
    };
    let batch = TILE / lines.len * lines.len;
    let share = GRAIN.div_ceil(batch) * batch;
    parallel::for_each_part_of(values.len(), output, share, &|first, output| {
        let (mut of_values, mut of_decay) = (T::Scratch::default(), T::Scratch::default());
        let values = values[first..].chunks(batch);
        let decay = decay[first..].chunks(batch);
        for ((values, decay), output) in values.zip(decay).zip(output.chunks_mut(batch)) {
            let (values, decay) = (&values[..output.len()], &decay[..output.len()]);
            let decay = T::widen(decay, &mut of_decay);
            T::map(values, output, &mut of_values, |values, output| {
                walk(vectors, [decay, values], output, exclusive);
            });
        }
    });
    true
}

/// Walks rows of `LEN` elements, given the decays and the values.
fn walk_rows<A: Accumulator, const RESETS: bool, const REVERSE: bool, const LEN: usize>(
    vectors: Widest,
    [decay, values]: [&[A]; 2],
    output: &mut [MaybeUninit<A>],
    exclusive: bool,
) {
    let inputs = decay
        .as_chunks::<LEN>()
        .0
        .iter()
        .zip(values.as_chunks::<LEN>().0);
    let rows = inputs.zip(output.as_chunks_mut::<LEN>().0);
    compiled_for!(vectors, {
        for ((decay, values), slots) in rows {
            let mut carry = A::ZERO;
            for step in 0..LEN {
                let at = if REVERSE { LEN - 1 - step } else { step };
                let before = carry;
                carry = state_after::<A, RESETS>(before, decay[at], values[at]);
                slots[at].write(if exclusive { before } else { carry });
            }
        }
    });
}
