//! Planes of a few short lines of a few elements.
//!
//! A plane is walked with a carry for each of its columns, as larger ones are, but by plain loops: preparing blocks of
//! columns would take longer than their elements.

use core::mem::MaybeUninit;

use super::columns::lines::lines_of;
use super::element::TILE;
use super::parallel::{self, GRAIN};
use super::processor::{Widest, compiled_for};
use super::short_rows::SHORT;
use super::traits::{Accumulator, Combine, ElementType};

/// The most columns of a plane: two cache lines of `f32`. Not measured.
const FEW: usize = 32;

/// Whether planes of `len` lines of `inner` elements are walked here.
pub(super) fn are_small(len: usize, inner: usize) -> bool {
    len <= SHORT && inner <= FEW && len * inner <= TILE
}

/// Scans each plane of `len` lines of `inner` elements along its lines.
pub(super) fn scan<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    [len, inner]: [usize; 2],
    exclusive: bool,
    reverse: bool,
) {
    assert!(are_small(len, inner) && input.len() == output.len());
    let size = len * inner;
    // Elements that are widened together.
    let batch = TILE / size * size;
    let share = GRAIN.div_ceil(batch) * batch;
    parallel::for_each_part_of(input.len(), output, share, &|first, output| {
        let mut scratch = T::Scratch::default();
        let input = input[first..first + output.len()].chunks(batch);
        for (input, output) in input.zip(output.chunks_mut(batch)) {
            T::map(input, output, &mut scratch, |input, output| {
                walk_all::<T::Acc, O>(input, output, [len, inner], exclusive, reverse);
            });
        }
    });
}

/// Walks planes of `len` lines of `inner` elements, those of usual widths in forms of their own.
#[inline(never)]
fn walk_all<A: Accumulator, O: Combine<A>>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    [len, inner]: [usize; 2],
    exclusive: bool,
    reverse: bool,
) {
    let Some(vectors) = Widest::test() else {
        return walk_planes::<A, O>(input, output, [len, inner], exclusive, reverse);
    };
    compiled_for!(
        vectors,
        match inner {
            2 => walk_planes::<A, O>(input, output, [len, 2], exclusive, reverse),
            3 => walk_planes::<A, O>(input, output, [len, 3], exclusive, reverse),
            4 => walk_planes::<A, O>(input, output, [len, 4], exclusive, reverse),
            8 => walk_planes::<A, O>(input, output, [len, 8], exclusive, reverse),
            _ => walk_planes::<A, O>(input, output, [len, inner], exclusive, reverse),
        }
    );
}

/// Walks planes one after the other. Where the compiler knows `inner`, carries are in registers.
#[inline(always)]
fn walk_planes<A: Accumulator, O: Combine<A>>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    [len, inner]: [usize; 2],
    exclusive: bool,
    reverse: bool,
) {
    let size = len * inner;
    for (input, output) in input.chunks_exact(size).zip(output.chunks_exact_mut(size)) {
        let mut carries = [O::IDENTITY; FEW];
        for place in lines_of(size, inner, reverse) {
            let (line, slots) = (&input[place.clone()], &mut output[place]);
            for ((carry, &value), slot) in carries[..inner].iter_mut().zip(line).zip(slots) {
                let before = *carry;
                *carry = O::combine(before, value);
                slot.write(if exclusive { before } else { *carry });
            }
        }
    }
}
