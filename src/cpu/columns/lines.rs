//! The loops over the lines of a tile.

use core::mem::MaybeUninit;

use super::super::column_groups::column_groups;
use super::super::traits::{Accumulator, Operator};
use super::Plane;

/// Calls `kernel` with the carries.
///
/// In very short lines the loop over a line costs more than the work in it. There the carries are copied to an array of
/// constant length, for which the inlined kernel has no such loop and no carry in memory: four columns take half the
/// time.
#[inline(always)]
fn with_carries<A: Copy>(carries: &mut [A], mut kernel: impl FnMut(&mut [A])) {
    #[inline(always)]
    fn with_array<A: Copy, const WIDTH: usize>(
        carries: &mut [A],
        kernel: &mut impl FnMut(&mut [A]),
    ) {
        let mut array: [A; WIDTH] = core::array::from_fn(|column| carries[column]);
        kernel(&mut array);
        carries.copy_from_slice(&array);
    }

    match carries.len() {
        2 => with_array::<A, 2>(carries, &mut kernel),
        3 => with_array::<A, 3>(carries, &mut kernel),
        4 => with_array::<A, 4>(carries, &mut kernel),
        8 => with_array::<A, 8>(carries, &mut kernel),
        _ => kernel(carries),
    }
}

/// Folds whole lines into `carries`, in the order of the scan.
#[inline(always)]
pub(super) fn fold_lines<A: Accumulator, O: Operator<A>>(
    input: &[A],
    carries: &mut [A],
    reverse: bool,
) {
    with_carries(
        carries,
        #[inline(always)]
        |carries| {
            let width = carries.len();
            let fold_line = |line: &[A]| {
                column_groups::<A>(width, reverse, |columns| {
                    let carries = &mut carries[columns.clone()];
                    for (carry, &element) in carries.iter_mut().zip(&line[columns]) {
                        *carry = O::combine(*carry, element);
                    }
                });
            };
            if reverse {
                input.chunks_exact(width).rev().for_each(fold_line);
            } else {
                input.chunks_exact(width).for_each(fold_line);
            }
        },
    );
}

/// Scans whole lines from `carries`, in the order of the scan.
#[inline(always)]
pub(super) fn scan_lines<A: Accumulator, O: Operator<A>>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    carries: &mut [A],
    Plane {
        exclusive, reverse, ..
    }: Plane,
) {
    with_carries(
        carries,
        #[inline(always)]
        |carries| {
            let width = carries.len();
            let lines = input
                .chunks_exact(width)
                .zip(output.chunks_exact_mut(width));
            let scan_line = |(line, output): (&[A], &mut [MaybeUninit<A>])| {
                column_groups::<A>(width, reverse, |columns| {
                    let carries = &mut carries[columns.clone()];
                    let output = &mut output[columns.clone()];
                    for ((output, &element), carry) in
                        output.iter_mut().zip(&line[columns]).zip(carries)
                    {
                        let before = *carry;
                        *carry = O::combine(before, element);
                        output.write(if exclusive { before } else { *carry });
                    }
                });
            };
            if reverse {
                lines.rev().for_each(scan_line);
            } else {
                lines.for_each(scan_line);
            }
        },
    );
}

/// Scans whole lines from `carries`, and combines what precedes the tile with each result. Lines of few columns have no
/// form of their own: a walk of so many lines waits for memory.
#[inline(always)]
pub(super) fn scan_lines_behind<A: Accumulator, O: Operator<A>>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    carries: &mut [A],
    starts: &[A],
    Plane {
        exclusive, reverse, ..
    }: Plane,
) {
    let width = carries.len();
    let lines = input
        .chunks_exact(width)
        .zip(output.chunks_exact_mut(width));
    let scan_line = |(line, output): (&[A], &mut [MaybeUninit<A>])| {
        column_groups::<A>(width, reverse, |columns| {
            let before_tile = &starts[columns.clone()];
            let carries = &mut carries[columns.clone()];
            let output = &mut output[columns.clone()];
            for (((output, &element), carry), &start) in output
                .iter_mut()
                .zip(&line[columns])
                .zip(carries)
                .zip(before_tile)
            {
                let before = *carry;
                *carry = O::combine(before, element);
                output.write(O::combine(start, if exclusive { before } else { *carry }));
            }
        });
    };
    if reverse {
        lines.rev().for_each(scan_line);
    } else {
        lines.for_each(scan_line);
    }
}
