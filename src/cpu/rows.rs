//! Scans along rows, which may lie apart.
//!
//! Short rows are walked side by side, see [`short_rows`]. A longer row is split into tiles, which are scanned one
//! after the other, see [`tile`]. All threads together scan a row that is long enough, see [`shared_row`]. The length
//! of a row alone decides how it is split, and carries are always combined in order. So the bits of a result do not
//! depend on the number of threads.

use core::mem::MaybeUninit;

use super::element::TILE;
use super::parallel::{self, GRAIN, PARALLEL};
use super::tile::scan_rows_of;
use super::traits::{Combine, ElementType};
use super::{shared_row, short_rows};

/// The shortest row that several threads scan together, which costs a second reading of the row: two blocks of
/// [`shared_row`].
const LONG_ROW: usize = 1 << 16;

/// Scans each row of `len` elements. The rows of the input begin `apart` elements from each other. If there are `initial`
/// values, each row begins with its own; then rows are not [short](short_rows::SHORT).
pub(super) fn scan<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    apart: usize,
    output: &mut [MaybeUninit<T>],
    len: usize,
    initial: Option<&[T]>,
    exclusive: bool,
    reverse: bool,
) {
    if output.len() < PARALLEL {
        return scan_some::<T, O>(input, apart, output, len, initial, exclusive, reverse);
    }
    let rows = output.len() / len;
    // Both ways give the same bits, so the number of threads may decide.
    if len < LONG_ROW || rows >= 4 * rayon::current_num_threads() {
        // Each task has whole sets of short rows.
        let set = if len <= short_rows::SHORT {
            short_rows::ROWS
        } else {
            1
        };
        let share = GRAIN.div_ceil(len).next_multiple_of(set) * len;
        parallel::for_each_part(output, share, &|first, output| {
            let row = first / len;
            let initial = initial.map(|initial| &initial[row..]);
            scan_some::<T, O>(
                &input[row * apart..],
                apart,
                output,
                len,
                initial,
                exclusive,
                reverse,
            );
        });
    } else {
        let rows = input.chunks(apart).zip(output.chunks_exact_mut(len));
        for (row, (input, output)) in rows.enumerate() {
            let carry = carry_into::<T, O>(initial, row);
            scan_long_row::<T, O>(&input[..len], output, carry, exclusive, reverse);
        }
    }
}

/// What a row begins with.
fn carry_into<T: ElementType, O: Combine<T::Acc>>(initial: Option<&[T]>, row: usize) -> T::Acc {
    initial.map_or(O::IDENTITY, |initial| initial[row].to_acc())
}

/// Scans rows on this thread: those of the input that have a place in the output.
fn scan_some<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    apart: usize,
    output: &mut [MaybeUninit<T>],
    len: usize,
    initial: Option<&[T]>,
    exclusive: bool,
    reverse: bool,
) {
    if apart == len && initial.is_none() {
        let input = &input[..output.len()];
        return scan_each::<T, O>(input, output, len, exclusive, reverse);
    }
    let rows = input.chunks(apart).map(|row| &row[..len]);
    if len > short_rows::SHORT {
        for (row, (input, output)) in rows.zip(output.chunks_exact_mut(len)).enumerate() {
            let carry = carry_into::<T, O>(initial, row);
            scan_rows_of::<T, O>(input, output, len, carry, exclusive, reverse);
        }
        return;
    }
    assert!(initial.is_none(), "short rows begin with the identity");
    // Sets of short rows follow one another.
    let mut together = Vec::with_capacity(output.len());
    rows.take(output.len() / len)
        .for_each(|row| together.extend_from_slice(row));
    scan_each::<T, O>(&together, output, len, exclusive, reverse);
}

/// Scans rows on this thread.
fn scan_each<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    len: usize,
    exclusive: bool,
    reverse: bool,
) {
    if len <= short_rows::SHORT {
        short_rows::scan::<T, O>(input, output, len, exclusive, reverse);
    } else {
        scan_rows_of::<T, O>(input, output, len, O::IDENTITY, exclusive, reverse);
    }
}

/// Scans a row, its whole tiles on all threads.
fn scan_long_row<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    carry: T::Acc,
    exclusive: bool,
    reverse: bool,
) {
    let whole = input.len() / TILE * TILE;
    let (tiles, tail) = input.split_at(whole);
    let (tiles_output, tail_output) = output.split_at_mut(whole);
    let mut scan_tail = |carry| {
        let len = tail.len().max(1);
        scan_rows_of::<T, O>(tail, tail_output, len, carry, exclusive, reverse)
    };
    if reverse {
        let carry = scan_tail(carry);
        shared_row::scan::<T, O>(tiles, tiles_output, carry, exclusive, reverse);
    } else {
        let carry = shared_row::scan::<T, O>(tiles, tiles_output, carry, exclusive, reverse);
        scan_tail(carry);
    }
}

#[cfg(test)]
mod tests {
    use crate::ScanOp;
    use crate::cpu;

    #[test]
    fn rows_that_lie_apart_have_the_same_bits() {
        for [rows, len] in [
            [5, 7],
            [9, 49],
            [3, 70_000],
            [8000, 20],
            [40, 5000],
            [200, 1],
        ] {
            let apart = len + 3;
            let input: Vec<f32> = (0..rows * apart)
                .map(|at| (at % 1009) as f32 / 7.0)
                .collect();
            let rows_alone: Vec<f32> = input
                .chunks(apart)
                .flat_map(|row| &row[..len])
                .copied()
                .collect();
            for reverse in [false, true] {
                let scan = |input: &[f32], apart| -> Vec<u32> {
                    let shape = [rows, len, 1];
                    let sums = cpu::scan(input, shape, apart, ScanOp::Sum, false, reverse);
                    sums.into_iter().map(f32::to_bits).collect()
                };
                let found = scan(&input[..input.len() - 3], apart);
                assert!(found == scan(&rows_alone, len), "{rows} of {len}");
            }
        }
    }
}
