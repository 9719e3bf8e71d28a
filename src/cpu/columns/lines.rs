//! The loops over the lines of a tile.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::column_groups::column_groups;
use super::super::traits::{Accumulator, Combine};

/// The most columns of a line that has its own form of the loop.
pub(super) const MOST: usize = 16;

/// Calls `kernel` with the carries and with what precedes the tile.
///
/// In very short lines the loop over a line costs more than the work in it. There both are copied to arrays of constant
/// length, for which the inlined kernel has no such loop and no carry in memory: sums of 2^21 lines of two `f32` take
/// 3.1 ms instead of 8.8 ms. Lines of more than [`MOST`] columns are `WIDE`: the code for short ones is left out.
#[inline(always)]
fn with_carries<A: Copy, const WIDE: bool>(
    carries: &mut [A],
    starts: &[A],
    mut kernel: impl FnMut(&mut [A], &[A]),
) {
    #[inline(always)]
    fn with_array<A: Copy, const WIDTH: usize>(
        carries: &mut [A],
        starts: &[A],
        kernel: &mut impl FnMut(&mut [A], &[A]),
    ) {
        let carries: &mut [A; WIDTH] = carries.first_chunk_mut().expect("a line's carries");
        let starts: &[A; WIDTH] = starts.first_chunk().expect("as many starts as carries");
        let (mut array, starts) = (*carries, *starts);
        kernel(&mut array, &starts);
        *carries = array;
    }

    match carries.len() {
        _ if WIDE => kernel(carries, starts),
        2 => with_array::<A, 2>(carries, starts, &mut kernel),
        3 => with_array::<A, 3>(carries, starts, &mut kernel),
        4 => with_array::<A, 4>(carries, starts, &mut kernel),
        8 => with_array::<A, 8>(carries, starts, &mut kernel),
        16 => with_array::<A, 16>(carries, starts, &mut kernel),
        _ => kernel(carries, starts),
    }
}

/// Folds whole lines into `carries`, in the order of the scan.
#[inline(always)]
pub(super) fn fold_lines<A: Accumulator, O: Combine<A>, const WIDE: bool>(
    input: &[A],
    carries: &mut [A],
    reverse: bool,
) {
    with_carries::<A, WIDE>(
        carries,
        &[O::IDENTITY; MOST],
        #[inline(always)]
        |carries, _| {
            let width = carries.len();
            for place in lines_of(input.len(), width, reverse) {
                // SAFETY: the place lies in the input.
                let line = unsafe { input.get_unchecked(place) };
                column_groups::<A>(width, reverse, |columns| {
                    let carries = &mut carries[columns.clone()];
                    for (carry, &element) in carries.iter_mut().zip(&line[columns]) {
                        *carry = O::combine(*carry, element);
                    }
                });
            }
        },
    );
}

/// Scans whole lines from `carries`, in the order of the scan. If lines follow others (`FOLLOWS`), `starts` precede the
/// tile and are combined with each result.
#[inline(always)]
pub(super) fn scan_lines<A: Accumulator, O: Combine<A>, const FOLLOWS: bool, const WIDE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    carries: &mut [A],
    starts: &[A],
    exclusive: bool,
    reverse: bool,
) {
    let nothing = [O::IDENTITY; MOST];
    assert!(input.len() == output.len());
    with_carries::<A, WIDE>(
        carries,
        if FOLLOWS { starts } else { &nothing },
        #[inline(always)]
        |carries, starts| {
            let width = carries.len();
            // Not `for_each`: the compiler does not inline its closure.
            for place in lines_of(input.len(), width, reverse) {
                // SAFETY: the place lies in the input, and in the output, which is as long.
                let (line, output) = unsafe {
                    (
                        input.get_unchecked(place.clone()),
                        output.get_unchecked_mut(place),
                    )
                };
                scan_line::<A, O, FOLLOWS>(line, output, carries, starts, exclusive, reverse);
            }
        },
    );
}

/// The places of whole lines, in the order of the scan: one loop for both directions.
#[inline(always)]
pub(in super::super) fn lines_of(
    len: usize,
    width: usize,
    reverse: bool,
) -> impl Iterator<Item = Range<usize>> {
    let lines = len / width;
    let (mut next, step) = if reverse {
        (lines.saturating_sub(1) * width, width.wrapping_neg())
    } else {
        (0, width)
    };
    (0..lines).map(move |_| {
        let first = next;
        next = next.wrapping_add(step);
        first..first + width
    })
}

#[inline(always)]
fn scan_line<A: Accumulator, O: Combine<A>, const FOLLOWS: bool>(
    line: &[A],
    output: &mut [MaybeUninit<A>],
    carries: &mut [A],
    starts: &[A],
    exclusive: bool,
    reverse: bool,
) {
    column_groups::<A>(line.len(), reverse, |columns| {
        let line = &line[columns.clone()];
        let output = &mut output[columns.clone()];
        let carries = &mut carries[columns.clone()];
        // Nothing precedes the other lines.
        let starts = if FOLLOWS { &starts[columns] } else { line };
        for (((output, &element), carry), &start) in
            output.iter_mut().zip(line).zip(carries).zip(starts)
        {
            let before = *carry;
            *carry = O::combine(before, element);
            let shown = if exclusive { before } else { *carry };
            output.write(if FOLLOWS {
                O::combine(start, shown)
            } else {
                shown
            });
        }
    });
}
