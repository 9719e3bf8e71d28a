//! Scans along contiguous rows.
//!
//! A scan in order is bound by the latency of its operator: each element waits for the one before it. A row is
//! therefore cut into tiles, and a tile into runs, and the runs of a tile are walked side by side, one element of
//! each at a time, so that as many operators are in flight as there are runs:
//!
//! ```text
//! tile    | run 0          | run 1          | run 2          | ..
//! totals  | t0 = x ⊕ x ⊕ x | t1             | t2             |      a vector reduction of each run
//! starts  | s0 = carry     | s1 = s0 ⊕ t0   | s2 = s1 ⊕ t1   |      in order
//! walk    | s0 ⊕ x ⊕ x ..  | s1 ⊕ x ⊕ x ..  | s2 ⊕ x ⊕ x ..  |      all runs in step
//! ```
//!
//! Tiles of one row are independent but for the carry. A long row is scanned by all threads, a stretch at a time: all
//! totals, then all starts, then all walks, while the stretch is in the shared cache. The cut into tiles and runs
//! depends on the length of the row alone and starts are always combined in order, so the bits of a result do not
//! depend on how many threads took part, or whether any did.
//!
//! Where a float total leaves the range of its type, `start ⊕ total` may differ from the sequential result by more
//! than rounding; the start behind it is then computed by walking the run.
//!
//! A reverse scan cuts the row in the same places and goes through tiles, runs and elements from the last to the
//! first.

use core::mem::MaybeUninit;

use rayon::prelude::*;

use super::element::{Accumulator, Element, Operator, TILE};
use super::simd::vectorize;

/// Runs in a tile: enough of them to hide the latency of an addition, few enough for their carries to stay in
/// registers.
///
/// In cache, eight runs side by side take 0.4 times the time of the sequential loop, the reduction before them
/// included.
pub(super) const RUNS: usize = 8;

/// Elements in a run of a full tile, and the longest row that is walked in order without being cut.
pub(super) const RUN: usize = TILE / RUNS;

/// Elements a vector reduction keeps apart: 16 `f32` are four vectors of the x86-64 baseline, enough to hide the
/// latency.
const LANES: usize = 16;

/// Elements of a long row that are reduced and then scanned before the next ones are looked at: 1 MiB of `f32`.
///
/// A quarter of it pays for the hand-over between threads with 1.35 times the time; four times as much is no faster.
const STRETCH: usize = 1 << 18;

/// The shortest row that is worth the attention of several threads at once, which costs a second reading of it.
const LONG_ROW: usize = 1 << 16;

/// Elements below which one thread does all the work.
///
/// With two busy cores, half as many took 1.7 times as long on two threads as on one, and as many 0.85 times.
pub(super) const PARALLEL: usize = 1 << 17;

/// Elements a task takes at least: some 10 µs of work.
pub(super) const GRAIN: usize = 1 << 14;

/// Scans each row of `len` elements.
pub(super) fn scan<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    len: usize,
    exclusive: bool,
) {
    if input.len() < PARALLEL {
        return scan_rows::<T, O, REVERSE>(input, output, len, exclusive);
    }
    let rows = input.len() / len;
    // Either way gives the same bits, so the number of threads may decide.
    if len < LONG_ROW || rows >= 4 * rayon::current_num_threads() {
        // A multiple of `RUNS` rows, so that short rows fill their tiles.
        let share = GRAIN
            .div_ceil(len)
            .next_multiple_of(if len <= RUN { RUNS } else { 1 })
            * len;
        output
            .par_chunks_mut(share)
            .zip(input.par_chunks(share))
            .for_each(|(output, input)| scan_rows::<T, O, REVERSE>(input, output, len, exclusive));
    } else {
        rayon::scope(|_| {
            for (input, output) in input.chunks_exact(len).zip(output.chunks_exact_mut(len)) {
                scan_row::<T, O, REVERSE>(
                    input,
                    output,
                    exclusive,
                    scan_tiles_in_parallel::<T, O, REVERSE>,
                );
            }
        });
    }
}

/// Scans rows on this thread.
fn scan_rows<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    mut input: &[T],
    mut output: &mut [MaybeUninit<T>],
    len: usize,
    exclusive: bool,
) {
    let scratch = &mut T::Scratch::default();
    if len <= RUN {
        // Short rows are runs that have no carry: a tile holds a few of them.
        let starts = [O::IDENTITY; RUNS];
        while input.len() >= RUNS * len {
            let (tile, input_rest) = input.split_at(RUNS * len);
            let (tile_output, output_rest) = output.split_at_mut(RUNS * len);
            T::map(tile, tile_output, scratch, |input, output| {
                walk_runs::<T::Acc, O, REVERSE>(input, output, len, &starts, exclusive);
            });
            (input, output) = (input_rest, output_rest);
        }
    }
    for (input, output) in input.chunks_exact(len).zip(output.chunks_exact_mut(len)) {
        scan_row::<T, O, REVERSE>(input, output, exclusive, scan_tiles::<T, O, REVERSE>);
    }
}

/// Scans a row, its full tiles by `scan_tiles`, which takes and returns the carry, and what is left of it here.
fn scan_row<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    exclusive: bool,
    scan_tiles: impl FnOnce(&[T], &mut [MaybeUninit<T>], T::Acc, bool) -> T::Acc,
) {
    let full = input.len() / TILE * TILE;
    let (tiles, tail) = input.split_at(full);
    let (tiles_output, tail_output) = output.split_at_mut(full);
    if REVERSE {
        let carry = scan_tail::<T, O, REVERSE>(tail, tail_output, O::IDENTITY, exclusive);
        scan_tiles(tiles, tiles_output, carry, exclusive);
    } else {
        let carry = scan_tiles(tiles, tiles_output, O::IDENTITY, exclusive);
        scan_tail::<T, O, REVERSE>(tail, tail_output, carry, exclusive);
    }
}

/// Scans full tiles on this thread, one after the other.
fn scan_tiles<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    mut carry: T::Acc,
    exclusive: bool,
) -> T::Acc {
    let scratch = &mut T::Scratch::default();
    let mut scan_tile = |(input, output): (&[T], &mut [MaybeUninit<T>])| {
        T::map(input, output, scratch, |input, output| {
            carry = scan_tile::<T::Acc, O, REVERSE>(input, output, RUN, carry, exclusive);
        });
    };
    let tiles = input.chunks_exact(TILE).zip(output.chunks_exact_mut(TILE));
    if REVERSE {
        tiles.rev().for_each(&mut scan_tile);
    } else {
        tiles.for_each(&mut scan_tile);
    }
    carry
}

/// Scans full tiles on all threads, a stretch at a time.
fn scan_tiles_in_parallel<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    mut carry: T::Acc,
    exclusive: bool,
) -> T::Acc {
    let mut plans = vec![[O::IDENTITY; RUNS]; STRETCH.min(input.len()) / TILE];
    let mut scan_stretch = |(input, output): (&[T], &mut [MaybeUninit<T>])| {
        let plans = &mut plans[..input.len() / TILE];
        plans
            .par_chunks_mut(GRAIN / TILE)
            .zip(input.par_chunks(GRAIN))
            .for_each_init(T::Scratch::default, |scratch, (plans, input)| {
                for (plan, tile) in plans.iter_mut().zip(input.chunks_exact(TILE)) {
                    *plan = run_totals::<T::Acc, O>(T::widen(tile, scratch), RUN);
                }
            });
        let scratch = &mut T::Scratch::default();
        let mut start_tile = |(plan, tile): (&mut [T::Acc; RUNS], &[T])| {
            carry = totals_to_starts::<T::Acc, O, REVERSE>(plan, carry, |run, start| {
                walk::<T::Acc, O, REVERSE>(T::widen(&tile[run * RUN..][..RUN], scratch), start)
            });
        };
        let tiles = plans.iter_mut().zip(input.chunks_exact(TILE));
        if REVERSE {
            tiles.rev().for_each(&mut start_tile);
        } else {
            tiles.for_each(&mut start_tile);
        }
        plans
            .par_chunks(GRAIN / TILE)
            .zip(input.par_chunks(GRAIN))
            .zip(output.par_chunks_mut(GRAIN))
            .for_each_init(T::Scratch::default, |scratch, ((plans, input), output)| {
                let tiles = input.chunks_exact(TILE).zip(output.chunks_exact_mut(TILE));
                for (starts, (input, output)) in plans.iter().zip(tiles) {
                    T::map(input, output, scratch, |input, output| {
                        walk_runs::<T::Acc, O, REVERSE>(input, output, RUN, starts, exclusive);
                    });
                }
            });
    };
    let stretches = input.chunks(STRETCH).zip(output.chunks_mut(STRETCH));
    if REVERSE {
        stretches.rev().for_each(&mut scan_stretch);
    } else {
        stretches.for_each(&mut scan_stretch);
    }
    carry
}

/// Scans the elements behind the last full tile: a tile of shorter runs, and fewer elements than runs behind that.
fn scan_tail<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    mut carry: T::Acc,
    exclusive: bool,
) -> T::Acc {
    if input.is_empty() {
        return carry;
    }
    let run = if input.len() > RUN {
        input.len() / RUNS
    } else {
        0
    };
    T::map(
        input,
        output,
        &mut T::Scratch::default(),
        |input, output| {
            let (tile, rest) = input.split_at(run * RUNS);
            let (tile_output, rest_output) = output.split_at_mut(run * RUNS);
            if REVERSE {
                carry = walk_to::<T::Acc, O, REVERSE>(rest, rest_output, carry, exclusive);
            }
            if run > 0 {
                carry = scan_tile::<T::Acc, O, REVERSE>(tile, tile_output, run, carry, exclusive);
            }
            if !REVERSE {
                carry = walk_to::<T::Acc, O, REVERSE>(rest, rest_output, carry, exclusive);
            }
        },
    );
    carry
}

/// Scans `RUNS` runs of `run` elements that follow each other. Returns the carry behind them.
#[inline(always)]
fn scan_tile<A: Accumulator, O: Operator<A>, const REVERSE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    run: usize,
    carry: A,
    exclusive: bool,
) -> A {
    let mut starts = run_totals::<A, O>(input, run);
    let carry = totals_to_starts::<A, O, REVERSE>(&mut starts, carry, |index, start| {
        walk::<A, O, REVERSE>(&input[index * run..][..run], start)
    });
    walk_runs::<A, O, REVERSE>(input, output, run, &starts, exclusive);
    carry
}

/// The total of each run.
#[inline(always)]
fn run_totals<A: Accumulator, O: Operator<A>>(input: &[A], run: usize) -> [A; RUNS] {
    vectorize(|| {
        // The constant unrolls the loop of a full tile.
        let totals =
            |run: usize| core::array::from_fn(|index| total::<A, O>(&input[index * run..][..run]));
        if run == RUN { totals(RUN) } else { totals(run) }
    })
}

/// Reduces in a fixed order that vector instructions can follow.
#[inline(always)]
fn total<A: Accumulator, O: Operator<A>>(input: &[A]) -> A {
    let mut lanes = [O::IDENTITY; LANES];
    let (vectors, rest) = input.as_chunks::<LANES>();
    for vector in vectors {
        for (lane, element) in lanes.iter_mut().zip(vector) {
            *lane = O::combine(*lane, *element);
        }
    }
    for (lane, element) in lanes.iter_mut().zip(rest) {
        *lane = O::combine(*lane, *element);
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = O::combine(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// Replaces the total of each run by the carry into it, and returns the carry behind them all.
///
/// `walk(run, start)` folds the elements of a run into `start`, for a total that left the range of its type.
#[inline(always)]
fn totals_to_starts<A: Accumulator, O: Operator<A>, const REVERSE: bool>(
    runs: &mut [A; RUNS],
    mut carry: A,
    mut walk: impl FnMut(usize, A) -> A,
) -> A {
    for step in 0..RUNS {
        let index = if REVERSE { RUNS - 1 - step } else { step };
        let total = core::mem::replace(&mut runs[index], carry);
        carry = if O::is_regular(carry, total) {
            O::combine(carry, total)
        } else {
            walk(index, carry)
        };
    }
    carry
}

/// Folds the elements into `carry` in order.
fn walk<A: Accumulator, O: Operator<A>, const REVERSE: bool>(input: &[A], carry: A) -> A {
    if REVERSE {
        input
            .iter()
            .rev()
            .fold(carry, |carry, &element| O::combine(carry, element))
    } else {
        input
            .iter()
            .fold(carry, |carry, &element| O::combine(carry, element))
    }
}

/// Scans in order. Returns the carry behind the last element.
fn walk_to<A: Accumulator, O: Operator<A>, const REVERSE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    mut carry: A,
    exclusive: bool,
) -> A {
    let mut step = |(output, element): (&mut MaybeUninit<A>, &A)| {
        let before = carry;
        carry = O::combine(carry, *element);
        output.write(if exclusive { before } else { carry });
    };
    let pairs = output.iter_mut().zip(input);
    if REVERSE {
        pairs.rev().for_each(&mut step);
    } else {
        pairs.for_each(&mut step);
    }
    carry
}

/// Scans `RUNS` runs of `run` elements side by side, each from its own start.
///
/// An exclusive scan is the inclusive one without the last element, stored one place further along, behind the start.
#[inline(always)]
fn walk_runs<A: Accumulator, O: Operator<A>, const REVERSE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    run: usize,
    starts: &[A; RUNS],
    exclusive: bool,
) {
    assert!(run > 0 && input.len() == RUNS * run && output.len() == RUNS * run);
    let (mut read, mut written, mut steps) = (0, 0, run);
    if exclusive {
        let first = if REVERSE { run - 1 } else { 0 };
        for (index, &start) in starts.iter().enumerate() {
            output[index * run + first].write(start);
        }
        steps -= 1;
        (read, written) = if REVERSE { (1, 0) } else { (0, 1) };
    }
    let end = input.len() - run + steps;
    let (input, output) = (
        &input[read..read + end],
        &mut output[written..written + end],
    );
    vectorize(|| {
        // SAFETY: the slices hold the last place of the last run, `(RUNS - 1) * run + steps - 1`.
        unsafe {
            // The constant makes every place of a full tile an offset from one pointer.
            if run == RUN {
                walk_strided::<A, O, REVERSE>(input, output, RUN, steps, *starts);
            } else {
                walk_strided::<A, O, REVERSE>(input, output, run, steps, *starts);
            }
        }
    });
}

/// Walks `steps` elements of each of `RUNS` runs that begin `run` elements apart.
///
/// # Safety
///
/// The slices have `(RUNS - 1) * run + steps` elements.
#[inline(always)]
unsafe fn walk_strided<A: Accumulator, O: Operator<A>, const REVERSE: bool>(
    input: &[A],
    output: &mut [MaybeUninit<A>],
    run: usize,
    steps: usize,
    mut carries: [A; RUNS],
) {
    for step in 0..steps {
        let step = if REVERSE { steps - 1 - step } else { step };
        for (index, carry) in carries.iter_mut().enumerate() {
            // SAFETY: `index` is less than `RUNS` and `step` less than `steps`.
            unsafe {
                *carry = O::combine(*carry, *input.get_unchecked(index * run + step));
                output.get_unchecked_mut(index * run + step).write(*carry);
            }
        }
    }
}
