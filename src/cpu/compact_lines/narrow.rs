//! Planes of few columns: each survivor is written to its place at once.
//!
//! ```text
//! values   a b c      output   a b f
//!          d e f               d . .
//! mask     1 1 0
//!          1 0 1
//! ```
//!
//! The caches hold the lines that some columns write to, so nothing has to wait. What is after the last survivor of a
//! column becomes zero at the end.

use core::hint::{black_box, select_unpredictable};
use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::compress::Word;
use super::strip::Strip;
use super::{Lines, fill_zero};

/// Most columns of a plane. With twice as many it takes up to 1.25 times as long as the tiles.
pub(super) const WIDEST: usize = 8;

/// The fewest elements for which a plane is split. `[2^18, 4]` takes 0.7 to 1.4 times as long if it is split, and
/// `[2^20, 4]` 0.6 to 0.9 times.
pub(super) const FEWEST: usize = 1 << 21;

/// Calls a function of the number of columns. A constant number keeps their counts in registers: a loop over them takes
/// two to three times as long. Elements are taken by groups of whole lines.
macro_rules! by_columns {
    ($inner:expr, $function:ident($($argument:expr),*)) => {
        match $inner {
            2 => $function::<2, 8, _>($($argument),*),
            3 => $function::<3, 9, _>($($argument),*),
            4 => $function::<4, 8, _>($($argument),*),
            5 => $function::<5, 5, _>($($argument),*),
            6 => $function::<6, 6, _>($($argument),*),
            7 => $function::<7, 7, _>($($argument),*),
            _ => $function::<8, 8, _>($($argument),*),
        }
    };
}

pub(super) fn compact<T: Word>(lines: &Lines<'_, T>) {
    lines.for_each_task(&|planes| {
        // SAFETY: no other task has these planes.
        unsafe { by_columns!(lines.inner, compact_planes(lines, planes)) };
    });
}

/// A [`CompactPart`](super::split::CompactPart).
pub(super) unsafe fn compact_part<T: Word>(
    lines: &Lines<'_, T>,
    plane: Strip,
    part: Range<usize>,
    kept: &mut [usize],
) {
    let output = lines.output.start().wrapping_add(plane.first).cast();
    let place = lines.place(plane, part.start)..lines.place(plane, part.end);
    // SAFETY: the caller's promise.
    unsafe { by_columns!(lines.inner, scatter(lines, place, output, kept)) };
}

/// # Safety
///
/// No other thread has access to these planes, neither to their elements nor to their counts.
unsafe fn compact_planes<const INNER: usize, const AT_ONCE: usize, T: Word>(
    lines: &Lines<'_, T>,
    planes: Range<usize>,
) {
    let plane = lines.len * INNER;
    for at in planes {
        let place = at * plane..(at + 1) * plane;
        let kept = &mut [0; INNER];
        // SAFETY: the caller's promise.
        unsafe {
            let output = lines.output.slice(place.clone());
            scatter::<INNER, AT_ONCE, _>(lines, place, output.as_mut_ptr().cast(), kept);
            clear_rest(output.as_chunks_mut::<INNER>().0, kept);
        }
        (lines.write_counts)(at * INNER, kept);
    }
}

/// As [`compact_part`], to the plane at `output`.
#[inline(always)]
unsafe fn scatter<const INNER: usize, const AT_ONCE: usize, T: Word>(
    lines: &Lines<'_, T>,
    place: Range<usize>,
    output: *mut T,
    kept: &mut [usize],
) {
    let kept: &mut [usize; INNER] = kept.try_into().expect("a count for each column");
    let mut next = *kept;
    // Where an element goes that does not survive: a branch would be mispredicted every other time. A black box, since the
    // compiler makes a branch of a choice between a slot and what nobody reads.
    let mut unused = MaybeUninit::uninit();
    let unused = black_box(&mut unused).as_mut_ptr();
    let mut put = |at: usize, value: T, byte: u8| {
        let column = at % INNER;
        let slot = output.wrapping_add(next[column] * INNER + column);
        let slot = select_unpredictable(byte != 0, slot, unused);
        // SAFETY: a column has not kept more elements than lines precede this one.
        unsafe { slot.write(value) };
        next[column] += usize::from(byte != 0);
    };
    let (values, last_values) = lines.values[place.clone()].as_chunks::<AT_ONCE>();
    let (mask, last_mask) = lines.mask[place].as_chunks::<AT_ONCE>();
    for (values, mask) in values.iter().zip(mask) {
        if *mask != [0; AT_ONCE] {
            for at in 0..AT_ONCE {
                put(at, values[at], mask[at]);
            }
        }
    }
    for (at, (value, byte)) in last_values.iter().zip(last_mask).enumerate() {
        put(at, *value, *byte);
    }
    *kept = next;
}

/// As [`Lines::clear_rest`], of a whole plane: planes of 8 lines of 2 elements take 0.8 of the time with it.
fn clear_rest<const INNER: usize, T: Word>(
    lines: &mut [[MaybeUninit<T>; INNER]],
    kept: &[usize; INNER],
) {
    let fewest = kept.iter().copied().fold(lines.len(), usize::min);
    let most = kept.iter().copied().fold(0, usize::max);
    let (partial, empty) = lines.split_at_mut(most);
    for (at, line) in partial.iter_mut().enumerate().skip(fewest) {
        for (slot, kept) in line.iter_mut().zip(kept) {
            if *kept <= at {
                slot.write(T::default());
            }
        }
    }
    fill_zero(empty.as_flattened_mut());
}
