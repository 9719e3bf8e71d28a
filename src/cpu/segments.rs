//! Sums of segments: each head receives the sum of the elements from it up to the next head, see
//! [`float_segment_sums`](crate::ops::ScanOps::float_segment_sums).
//!
//! A line is walked from its end, and the walk carries the sum since the last head. Lines are walked a block of columns
//! at a time, so that neighbouring elements are read together. Threads share the blocks. One thread walks one long
//! line.

use core::ops::Range;

use super::buffer::{Output, Shared};
use super::element::TILE;
use super::parallel::{self, GRAIN};
use super::traits::{Accumulator, ElementType};

/// Columns of a block: at least a cache line of each line.
const COLUMNS: usize = 64;

/// The sums at the heads of a contiguous `[outer, len, inner]` along its middle dimension, in `reverse` from its end,
/// and zero elsewhere. The first element of a line is a head, whatever its byte says.
pub(crate) fn segment_sums<T: ElementType>(
    values: &[T],
    heads: &[u8],
    [outer, len, inner]: [usize; 3],
    reverse: bool,
) -> Vec<T> {
    assert!(values.len() == outer * len * inner && heads.len() == values.len());
    let mut output = Output::new(values.len());
    if !values.is_empty() {
        let sums = Shared::new(output.slots());
        let of_plane = inner.div_ceil(COLUMNS);
        let walk = |block: usize| {
            let first = block % of_plane * COLUMNS;
            let plane = block / of_plane * len;
            let columns = first..inner.min(first + COLUMNS);
            let lines = (0..len).map(|step| plane + if reverse { len - 1 - step } else { step });
            // SAFETY: no other block has these columns of this plane.
            unsafe { walk_block(values, heads, &sums, inner, columns, lines) };
        };
        let blocks = outer * of_plane;
        let share = GRAIN.div_ceil(len * inner.min(COLUMNS));
        parallel::for_each_of(values.len(), blocks, share, &walk);
    }
    // SAFETY: every element lies in one block, and the walk has written all blocks.
    unsafe { output.finish() }
}

/// Writes the sums of some columns, given the lines in the order of the scan.
///
/// # Safety
///
/// No other thread writes these columns of these lines.
unsafe fn walk_block<T: ElementType>(
    values: &[T],
    heads: &[u8],
    sums: &Shared<T>,
    inner: usize,
    columns: Range<usize>,
    lines: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator,
) {
    // Sums since the last tile began, and sums of whole tiles: small values are not lost in a large sum.
    let (mut flows, mut tiles) = ([T::Acc::ZERO; COLUMNS], [T::Acc::ZERO; COLUMNS]);
    let whole = lines.len() / TILE * TILE;
    for (step, line) in lines.enumerate().rev() {
        if step % TILE == TILE - 1 {
            for (tiles, flow) in tiles.iter_mut().zip(&mut flows) {
                (*tiles, *flow) = (tiles.add(*flow), T::Acc::ZERO);
            }
        }
        let places = line * inner + columns.start..line * inner + columns.end;
        let (values, heads) = (&values[places.clone()], &heads[places.clone()]);
        // SAFETY: the caller has these columns alone.
        let sums = unsafe { sums.slice(places) };
        let carried = flows.iter_mut().zip(&mut tiles);
        let elements = sums.iter_mut().zip(values).zip(heads);
        for (((slot, value), &head), (flow, tiles)) in elements.zip(carried) {
            let sum = value.to_acc().add(*flow);
            let is_head = step == 0 || head != 0;
            let shown = if step < whole { sum.add(*tiles) } else { sum };
            slot.write(T::from_acc(if is_head { shown } else { T::Acc::ZERO }));
            *flow = if is_head { T::Acc::ZERO } else { sum };
            if step < whole {
                *tiles = if is_head { T::Acc::ZERO } else { *tiles };
            }
        }
    }
}
