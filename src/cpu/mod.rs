//! The CPU engine: scans and stream compaction over slices.
//!
//! The engine knows nothing about tensors. Inputs are contiguous and row-major, outputs are new vectors, and every
//! result is a function of the input alone. Work is split into blocks of fixed size, and partial results are combined
//! in a fixed order. So the bits of a float result depend neither on the number of threads nor on their timing.

mod accumulator;
mod buffer;
pub(crate) mod buffer_cache;
mod buffer_list;
mod carries;
mod column_groups;
mod columns;
mod compact;
mod compact_lines;
mod compress;
mod converted;
mod element;
mod expand;
mod half_floats;
mod huge_pages;
mod lanes;
mod operator;
mod parallel;
mod partition;
mod permute;
mod processor;
mod ragged;
mod row_major;
mod rows;
mod segments;
mod shared_row;
mod short_rows;
mod slices;
mod small_planes;
mod sort;
mod sync;
#[cfg(test)]
mod tests;
mod tile;
mod total;
mod traits;
mod transpose;
mod trues;
mod walks;

pub(crate) use compact::{argwhere, compact, compact_indices};
pub(crate) use compact_lines::compact_lines;
pub(crate) use compress::Index;
pub(crate) use expand::expand;
pub(crate) use partition::{partition, partition_ranks};
pub(crate) use permute::{gather, scatter};
pub(crate) use ragged::segment_reduce as segment_fold;
pub(crate) use ragged::{Bounds, repeat_rows, run_lengths, segment_ids, segment_starts};
pub(crate) use row_major::RowMajor;
pub(crate) use segments::segment_sums;
pub(crate) use slices::{compact_rows, expand_rows};
pub(crate) use sort::{Floats, Integers, argsort, first, sort};
pub(crate) use traits::ElementType;
pub(crate) use trues::{all_true, count_true};
pub(crate) use walks::{LogSumExpFold, View, WalkShape};
pub(crate) use walks::{extremum, fold_scan, recurrence, recurrence_adjoint};

use crate::ScanOp;
use buffer::Output;
use operator::by_operator;
use traits::Combine;
use walks::Plain;

/// Scans `input`, a contiguous `[outer, len, inner]`, along its middle dimension. Rows, where `inner` is 1, may begin
/// `apart` elements from each other.
///
/// An exclusive scan leaves each element out of its own result and starts with the identity: 0, 1, the lowest value,
/// the highest value. A reverse scan goes from the last element to the first.
///
/// # Panics
///
/// If `input` does not have these elements.
pub(crate) fn scan<T: ElementType>(
    input: &[T],
    [outer, len, inner]: [usize; 3],
    apart: usize,
    op: ScanOp,
    exclusive: bool,
    reverse: bool,
) -> Vec<T> {
    let elements = outer * len * inner;
    if elements == 0 {
        return Vec::new();
    }
    let plane = len * inner;
    assert!(
        apart == plane || (inner == 1 && apart > len),
        "planes overlap, or lie apart"
    );
    assert_eq!(
        input.len(),
        (outer - 1) * apart + plane,
        "the input does not have the shape [{outer}, {len}, {inner}]"
    );
    by_operator!(op, input = bytemuck::cast_slice::<T, T::Wrapping>(input), O => {
        scan_with::<_, O>(input, [outer, len, inner], apart, None, exclusive, reverse)
    })
}

/// As [`scan`], but each line begins with its element of `initial`.
///
/// # Panics
///
/// If an input does not have these elements.
pub(crate) fn scan_from<T: ElementType>(
    input: &[T],
    initial: &[T],
    shape @ [outer, len, inner]: [usize; 3],
    op: ScanOp,
    exclusive: bool,
    reverse: bool,
) -> Vec<T> {
    assert!(input.len() == outer * len * inner && initial.len() == outer * inner);
    if input.is_empty() {
        return Vec::new();
    }
    if inner == 1 && len <= short_rows::SHORT {
        let lines = WalkShape::new(shape, reverse);
        return scan_view(
            &View::contiguous(input, &lines),
            None,
            Some(initial),
            op,
            exclusive,
            lines,
        );
    }
    let inputs = [input, initial];
    by_operator!(op, inputs = inputs.map(bytemuck::cast_slice::<T, T::Wrapping>), O => {
        let [input, initial] = inputs;
        scan_with::<_, O>(input, shape, len * inner, Some(initial), exclusive, reverse)
    })
}

/// [`fold_scan`] by one of the four operators.
pub(crate) fn scan_view<T: ElementType>(
    values: &View<'_, T>,
    starts: Option<&View<'_, u8>>,
    initial: Option<&[T]>,
    op: ScanOp,
    exclusive: bool,
    lines: WalkShape,
) -> Vec<T> {
    let inputs = (values, initial);
    by_operator!(op, inputs = (&values.cast::<T::Wrapping>(), initial.map(bytemuck::cast_slice)), O => {
        let (values, initial) = inputs;
        fold_scan::<_, Plain<O>>(values, starts, initial, exclusive, lines)
    })
}

/// Reduces the rows of each segment of `values`, rows of `width` elements, by an operator. The result of an empty
/// segment is the identity.
///
/// # Panics
///
/// If the values are not the rows that the bounds describe.
pub(crate) fn segment_reduce<T: ElementType>(
    values: &[T],
    bounds: &Bounds,
    width: usize,
    op: ScanOp,
) -> Vec<T> {
    by_operator!(op, values = bytemuck::cast_slice::<T, T::Wrapping>(values), O => {
        segment_fold::<_, Plain<O>>(values, bounds, width)
    })
}

fn scan_with<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    shape @ [outer, len, inner]: [usize; 3],
    apart: usize,
    initial: Option<&[T]>,
    exclusive: bool,
    reverse: bool,
) -> Vec<T> {
    let mut output = Output::new(outer * len * inner);
    let slots = output.slots();
    if inner == 1 {
        rows::scan::<T, O>(input, apart, slots, len, initial, exclusive, reverse);
    } else if initial.is_none() && small_planes::are_small(len, inner) {
        small_planes::scan::<T, O>(input, slots, [len, inner], exclusive, reverse);
    } else {
        columns::scan::<T, O>(input, slots, shape, initial, exclusive, reverse);
    }
    // SAFETY: the scan has written a result for every element of the input.
    unsafe { output.finish() }
}
