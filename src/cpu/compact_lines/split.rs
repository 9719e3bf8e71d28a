//! Strips, each split into parts of its lines, so that all threads have some.
//!
//! The survivors of each part are counted first, so that it knows where each of its columns begins in the output. Parts of
//! few columns may write to the slot after the last survivor of a column, where the first survivor of a later part
//! belongs. So all first survivors are written once more when the parts have ended.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::compress::Word;
use super::super::parallel;
use super::super::processor::vectorize;
use super::super::trues::BLOCK;
use super::Lines;
use super::strip::{Strip, WIDEST};

/// Writes the survivors of some lines of a strip, each column's after those that it has kept so far.
type CompactPart<T> = unsafe fn(&Lines<'_, T>, Strip, Range<usize>, &mut [usize]);

/// Compacts fewer strips than threads.
pub(super) fn compact<T: Word>(lines: &Lines<'_, T>, compact_part: CompactPart<T>) {
    let (len, width, strips) = (lines.len, lines.width, lines.strips());
    let part = len.div_ceil(rayon::current_num_threads().div_ceil(strips));
    let parts = len.div_ceil(part);
    let part_at = |at: usize| {
        let first = at % parts * part;
        (lines.strip(at / parts), first..len.min(first + part))
    };

    let mut counts = vec![0; strips * parts * width];
    parallel::for_each_part(&mut counts, width, &|first, counts| {
        let (strip, some) = part_at(first / width);
        count(lines, strip, some, counts);
    });
    // What each column has kept before a part, and in all.
    let mut before = vec![0; counts.len()];
    let mut kept = vec![0; strips * width];
    for (at, before) in before.chunks_exact_mut(width).enumerate() {
        let kept = &mut kept[at / parts * width..][..width];
        before.copy_from_slice(kept);
        for (kept, count) in kept.iter_mut().zip(&counts[at * width..]) {
            *kept += count;
        }
    }

    parallel::for_each(strips * parts, &|at| {
        let (strip, some) = part_at(at);
        let kept = &mut [0; WIDEST][..strip.width];
        kept.copy_from_slice(&before[at * width..][..strip.width]);
        // SAFETY: a part does not keep more than it has lines. No two parts have a survivor's slot in common, and all
        // write by the same function.
        unsafe { compact_part(lines, strip, some, kept) };
    });
    for at in 0..strips * parts {
        let (strip, some) = part_at(at);
        for column in (0..strip.width).filter(|column| counts[at * width + column] > 0) {
            let first = |line: &usize| lines.mask[lines.place(strip, *line) + column] != 0;
            let from = some.clone().find(first).expect("one was counted");
            let value = lines.values[lines.place(strip, from) + column];
            let slot = lines.place(strip, before[at * width + column]) + column;
            // SAFETY: the tasks have ended.
            unsafe { lines.output.set(slot, MaybeUninit::new(value)) };
        }
    }

    let share = BLOCK.div_ceil(width);
    let shares = len.div_ceil(share);
    parallel::for_each(strips * shares, &|at| {
        let strip = lines.strip(at / shares);
        let first = at % shares * share;
        let kept = &kept[at / shares * width..][..strip.width];
        // SAFETY: no other task has these lines.
        unsafe { lines.clear_rest(strip, first..len.min(first + share), kept) };
    });
    for (at, kept) in kept.chunks_exact(width).enumerate() {
        let strip = lines.strip(at);
        (lines.write_counts)(strip.column, &kept[..strip.width]);
    }
}

/// Counts the survivors of each column of a strip in some lines.
fn count<T: Word>(lines: &Lines<'_, T>, strip: Strip, some: Range<usize>, counts: &mut [usize]) {
    /// The fewest bytes that are added at once.
    const STEP: usize = 64;
    let (width, inner) = (strip.width, lines.inner);
    // Lines that lie side by side are added as one.
    let at_once = if width == inner {
        STEP.div_ceil(width)
    } else {
        1
    };
    let sums = &mut [0; STEP + WIDEST][..at_once * width];
    let last = lines.place(strip, some.end - 1) + width;
    let mask = &lines.mask[lines.place(strip, some.start)..last];
    vectorize!({
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
    });
}
