//! Planes of a few short lines of a few elements.
//!
//! A plane is walked with a carry for each of its columns, as larger ones are, but by plain loops: preparing blocks of
//! columns would take longer than their elements.

use core::mem::MaybeUninit;

use super::element::TILE;
use super::parallel::{self, GRAIN};
use super::processor::vectorize;
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

/// Walks planes of `len` lines of `inner` elements.
#[inline(never)]
fn walk_all<A: Accumulator, O: Combine<A>>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    [len, inner]: [usize; 2],
    exclusive: bool,
    reverse: bool,
) {
    let size = len * inner;
    let planes = input.chunks_exact(size).zip(output.chunks_exact_mut(size));
    vectorize(|| {
        planes.for_each(|(input, output)| {
            if reverse {
                walk::<A, O, true>(input, output, inner, exclusive)
            } else {
                walk::<A, O, false>(input, output, inner, exclusive)
            }
        });
    });
}

/// Walks a plane.
#[inline(always)]
fn walk<A: Accumulator, O: Combine<A>, const REVERSE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    inner: usize,
    exclusive: bool,
) {
    let mut carries = [O::IDENTITY; FEW];
    let carries = &mut carries[..inner];
    let lines = input
        .chunks_exact(inner)
        .zip(output.chunks_exact_mut(inner));
    let mut step = |(values, slots): (&[A], &mut [MaybeUninit<A>])| {
        for ((carry, &value), slot) in carries.iter_mut().zip(values).zip(slots) {
            let before = *carry;
            *carry = O::combine(before, value);
            slot.write(if exclusive { before } else { *carry });
        }
    };
    if REVERSE {
        lines.rev().for_each(&mut step);
    } else {
        lines.for_each(&mut step);
    }
}
