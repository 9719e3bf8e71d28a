//! Compaction of each line on its own: survivors first and in order, zeros after them.
//!
//! [Rows](rows) are compressed one after the other. Other lines are walked together, in the order of memory: [few
//! columns](narrow) write each survivor at once; of more, survivors [wait](waiting) until they can be written in that
//! order. Where there are fewer [strips](strip) of columns than threads, each is [split](split) into parts of its lines.

mod narrow;
mod rows;
mod split;
mod strip;
mod survivors;
#[cfg(target_arch = "x86_64")]
mod tiles;
mod waiting;

use core::mem::MaybeUninit;

use super::buffer::{Output, Shared, as_slots};
use super::compact::compact;
use super::compress::{Index, Word};
use super::parallel;
use super::row_major::RowMajor;

/// Compacts the lines of `[outer, len, inner]` along its middle dimension, and counts the survivors of each line.
///
/// # Panics
///
/// If there is not one mask entry for each value.
pub(crate) fn compact_lines<T: Word, I: Index>(
    values: &RowMajor<'_, T>,
    mask: &RowMajor<'_, u8>,
    [outer, len, inner]: [usize; 3],
) -> (Vec<T>, Vec<I>) {
    assert!(values.len() == outer * len * inner && mask.len() == values.len());
    if outer * inner == 1 {
        let (values, count) = compact(values, mask, true);
        return (values, vec![I::from_usize(count)]);
    }
    let mut output = Output::new(values.len());
    let mut counts = vec![I::default(); outer * inner];
    if inner == 1 {
        rows::compact(values, mask, len, output.slots(), as_slots(&mut counts));
    } else if values.len() > 0 {
        let counts = Shared::new(as_slots(&mut counts));
        compact_strips(&Lines {
            values: &values.all(),
            mask: &mask.all(),
            outer,
            len,
            inner,
            width: strip::width(inner),
            output: Shared::new(output.slots()),
            write_counts: &|column, kept| {
                // SAFETY: no two strips have a column in common, and the counts of each are written once.
                let counts = unsafe { counts.slice(column..column + kept.len()) };
                for (count, &kept) in counts.iter_mut().zip(kept) {
                    count.write(I::from_usize(kept));
                }
            },
        });
    }
    // SAFETY: all lines have been written.
    (unsafe { output.finish() }, counts)
}

/// Lines that are no rows.
struct Lines<'a, T> {
    values: &'a [T],
    mask: &'a [u8],
    outer: usize,
    len: usize,
    inner: usize,
    /// The columns of a [strip].
    width: usize,
    output: Shared<'a, T>,
    /// Writes the counts of neighbouring columns, from the number of the first among all planes on. A reference, so that
    /// strips are compiled once, and not for each type of counts.
    write_counts: &'a (dyn Fn(usize, &[usize]) + Sync),
}

fn compact_strips<T: Word>(lines: &Lines<'_, T>) {
    let is_narrow = lines.inner <= narrow::WIDEST;
    let fewest = if is_narrow {
        narrow::FEWEST
    } else {
        parallel::PARALLEL
    };
    // A line's result does not depend on how lines are shared out, so the number of threads may decide.
    let parts = if lines.values.len() < fewest {
        1
    } else {
        rayon::current_num_threads() / lines.strips()
    };
    match (is_narrow, parts > 1) {
        (true, false) => narrow::compact(lines),
        (false, false) => waiting::compact(lines),
        (true, true) => split::compact(lines, parts, narrow::compact_part),
        (false, true) => split::compact(lines, parts, waiting::compact_part),
    }
}

/// Writes zeros.
fn fill_zero<T: Word>(slots: &mut [MaybeUninit<T>]) {
    slots.fill(MaybeUninit::new(T::default()));
}
