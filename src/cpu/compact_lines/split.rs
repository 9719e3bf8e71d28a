//! Strips, each split into parts of its lines, so that all threads have some.
//!
//! The survivors of each part are counted first, so that each part knows where its own begin in the output.

use core::ops::Range;

use super::super::compress::Word;
use super::super::parallel;
use super::super::processor::vectorize;
use super::super::row_major::BLOCK;
use super::Lines;
use super::strip::{Strip, WIDEST};

/// Writes the survivors of some lines of a strip, each column's after those that it has kept so far, and counts them.
///
/// # Safety
///
/// The columns have not kept more elements than lines precede these ones. No other thread has access to the slots of the
/// survivors.
pub(super) type CompactPart<T> = unsafe fn(&Lines<'_, T>, Strip, Range<usize>, &mut [usize]);

/// Compacts all strips, each in up to `parts` parts.
pub(super) fn compact<T: Word>(lines: &Lines<'_, T>, parts: usize, compact_part: CompactPart<T>) {
    let (len, width, strips) = (lines.len, lines.width, lines.strips());
    let part = len.div_ceil(parts);
    let parts = len.div_ceil(part);
    let part_at = |at: usize| {
        let first = at % parts * part;
        (lines.strip(at / parts), first..len.min(first + part))
    };

    let mut kept = vec![0; strips * parts * width];
    parallel::for_each_part(&mut kept, width, &|first, kept| {
        let (strip, part) = part_at(first / width);
        count(lines, strip, part, kept);
    });
    // The counts of a part become what the parts before it have kept.
    for kept in kept.chunks_exact_mut(parts * width) {
        let mut before = [0; WIDEST];
        for kept in kept.chunks_exact_mut(width) {
            for (before, kept) in before.iter_mut().zip(kept) {
                *before += core::mem::replace(kept, *before);
            }
        }
    }
    parallel::for_each_part(&mut kept, width, &|first, kept| {
        let (strip, part) = part_at(first / width);
        // SAFETY: before a part no column has kept more elements than lines precede it, and no two survivors have a slot
        // in common.
        unsafe { compact_part(lines, strip, part, &mut kept[..strip.width]) };
    });

    // The last part of a strip has counted all of its survivors.
    let kept = |at: usize| &kept[((at + 1) * parts - 1) * width..][..lines.strip(at).width];
    let share = BLOCK.div_ceil(width);
    let shares = len.div_ceil(share);
    parallel::for_each(strips * shares, &|at| {
        let (strip, first) = (at / shares, at % shares * share);
        let part = first..len.min(first + share);
        // SAFETY: no other task has these lines.
        unsafe { lines.clear_rest(lines.strip(strip), part, kept(strip)) };
    });
    for at in 0..strips {
        (lines.write_counts)(lines.strip(at).column, kept(at));
    }
}

/// Counts the survivors of each column in some lines of a strip.
fn count<T: Word>(lines: &Lines<'_, T>, strip: Strip, part: Range<usize>, counts: &mut [usize]) {
    /// Bytes of lines that are added as one, where lines lie side by side.
    const SIDE_BY_SIDE: usize = 64;
    let (width, inner) = (strip.width, lines.inner);
    let at_once = if width == inner {
        SIDE_BY_SIDE / width + 1
    } else {
        1
    };
    let sums = &mut [0; SIDE_BY_SIDE + WIDEST][..at_once * width];
    let last = lines.place(strip, part.end - 1) + width;
    let mask = &lines.mask[lines.place(strip, part.start)..last];
    vectorize!(
        for mask in mask.chunks(at_once * inner * usize::from(u8::MAX)) {
            sums.fill(0);
            for line in mask.chunks(at_once * inner) {
                for (sum, &byte) in sums.iter_mut().zip(line) {
                    *sum += u8::from(byte != 0);
                }
            }
            for sums in sums.chunks_exact(width) {
                for (count, &sum) in counts.iter_mut().zip(sums) {
                    *count += usize::from(sum);
                }
            }
        }
    );
}
