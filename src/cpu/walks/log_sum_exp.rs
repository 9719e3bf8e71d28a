//! The logarithm of a running sum of exponentials, stable for any range.
//!
//! The state is the largest element so far and the sum of `exp(x − largest)` (Milakov & Gimelshein, "Online normalizer
//! calculation for softmax", 2018). An element costs one exponential: one of the two factors is 1.
//!
//! In a row each state waits for the one before it. But the largest elements so far need no exponentials, the
//! exponentials need no sums, and the logarithms come last. So a block of a row takes four passes, of which only the
//! third goes from element to element:
//!
//! ```text
//! largest[i]           the scan of maxima, in lanes
//! scale[i], add[i]     what the sum so far and the 1 of the element are multiplied by: 1 and an exponential
//! sum[i]               sum[i − 1] · scale[i] + add[i]
//! result[i]            the state before the tile, joined with (largest[i], sum[i])
//! ```
//!
//! Where no element of a block is above the largest so far, which is so in most blocks of a long row, every `scale` is
//! 1, and one exponential joins the state before the tile to all sums.
//!
//! The operations are those of [`join`](StateFold::join), so a row has the bits of a column.

use core::mem::MaybeUninit;

use super::super::buffer::as_slots;
use super::super::operator::Max;
use super::super::processor::vectorize;
use super::super::tile;
use super::fold::{Plain, Since, StateFold};
use super::real::Real;
use super::row_part::RowPart;

/// Elements of a block of a row.
const BLOCK: usize = 128;

/// The largest element, and the sum of the exponentials relative to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScaledSum<A> {
    largest: A,
    sum: A,
}

/// The logarithm of a sum of exponentials: −∞ as long as all elements are −∞, and NaN from the first NaN on.
pub(crate) struct LogSumExpFold;

impl<A: Real> StateFold<A> for LogSumExpFold {
    type State = ScaledSum<A>;
    type Parts = Self;

    const NOTHING: ScaledSum<A> = ScaledSum {
        largest: A::LOWEST,
        sum: A::ZERO,
    };
    const ROUNDS: bool = true;
    const IN_TILES: bool = true;

    #[inline(always)]
    fn read(element: A) -> ScaledSum<A> {
        ScaledSum {
            largest: element,
            sum: A::ONE,
        }
    }

    /// Without a branch, for loops over columns: the sum of no elements is 0, whatever it is multiplied by.
    #[inline(always)]
    fn join(left: ScaledSum<A>, right: ScaledSum<A>) -> ScaledSum<A> {
        let largest = left.largest.max(right.largest);
        let (high, low) = if left.largest == largest {
            (left, right)
        } else {
            (right, left)
        };
        let scaled = low.sum.mul(low.largest.relative_to(largest));
        ScaledSum {
            largest,
            sum: high.sum.add(scaled),
        }
    }

    /// The largest of no elements is −∞, and so is the result.
    #[inline(always)]
    fn value(state: ScaledSum<A>) -> A {
        state.largest.add(state.sum.ln_of_sum())
    }

    /// The largest element first, so that the sum of exponentials needs no scaling.
    fn of_all(elements: &[A]) -> ScaledSum<A> {
        let largest = Plain::<Max>::of_all(elements);
        let mut exponentials = [A::ZERO; BLOCK];
        let mut sum = A::ZERO;
        for elements in elements.chunks(BLOCK) {
            let exponentials = &mut exponentials[..elements.len()];
            vectorize!({
                for (slot, &x) in exponentials.iter_mut().zip(elements) {
                    *slot = x.relative_to(largest);
                }
            });
            sum = (exponentials.iter()).fold(sum, |sum, &x| sum.add(x));
        }
        ScaledSum { largest, sum }
    }

    fn walk_row(since: &mut Since<ScaledSum<A>>, mut part: RowPart<'_, A>) {
        while part.len() > BLOCK {
            let (first, rest) = part.split(BLOCK);
            walk_block(since, first);
            part = rest;
        }
        walk_block(since, part);
    }
}

/// [`walk_row`](StateFold::walk_row) for at most [`BLOCK`] elements. Arrays are in the order of the walk.
fn walk_block<A: Real>(since: &mut Since<ScaledSum<A>>, block: RowPart<'_, A>) {
    let len = block.len();
    let mut arrays = [[A::ZERO; BLOCK]; 4];
    let [reversed, sums, scales, adds] = arrays.each_mut().map(|array| &mut array[..len]);
    let ScaledSum { largest, mut sum } = since.tile;
    let mut so_far = [largest; BLOCK + 1];
    let elements = block.in_order(reversed);
    let first_start = block.first_start();
    let is_level = first_start == len && largest.max(Plain::<Max>::of_all(elements)) == largest;
    if is_level {
        vectorize!({
            for (add, element) in adds.iter_mut().zip(elements) {
                *add = element.relative_to(largest);
            }
        });
        for (slot, &add) in sums.iter_mut().zip(&*adds) {
            let next = sum.add(add);
            *slot = if block.exclusive { sum } else { next };
            sum = next;
        }
    } else {
        largest_so_far(&block, elements, &mut so_far[..=len]);
        let (before, after) = (&so_far[..len], &so_far[1..=len]);
        vectorize!(find_factors(elements, [before, after], [scales, adds]));
        for step in 0..len {
            let next = if block.starts_at(step) {
                sum = A::ZERO;
                adds[step]
            } else {
                sum.mul(scales[step]).add(adds[step])
            };
            sums[step] = if block.exclusive { sum } else { next };
            sum = next;
        }
    }

    if !block.slots.is_empty() {
        let shown = &so_far[usize::from(!block.exclusive)..][..len];
        let (folded, results) = ([shown, sums], &mut *block.slots);
        vectorize!(find_results(since.state, folded, first_start, results));
        if block.exclusive {
            let nothing = LogSumExpFold::value(<LogSumExpFold as StateFold<A>>::NOTHING);
            for step in first_start..len {
                if block.starts_at(step) {
                    block.slots[step].write(nothing);
                }
            }
        }
        if block.reverse {
            block.slots.reverse();
        }
    }

    if first_start < len {
        since.start::<A, LogSumExpFold>();
    }
    since.tile = ScaledSum {
        largest: so_far[len],
        sum,
    };
}

/// The factors of the sum before an element, and of the 1 that the element adds.
#[inline(always)]
fn find_factors<A: Real>(
    elements: &[A],
    [before, after]: [&[A]; 2],
    [scales, adds]: [&mut [A]; 2],
) {
    let len = elements.len();
    let (before, after) = (&before[..len], &after[..len]);
    let (scales, adds) = (&mut scales[..len], &mut adds[..len]);
    for step in 0..len {
        let is_largest = elements[step] == after[step];
        // One of the two is the largest element. If one is NaN, so is what comes of it.
        let low = before[step].min(elements[step]);
        let relative = low.relative_to(after[step]);
        scales[step] = if is_largest { relative } else { A::ONE };
        adds[step] = if is_largest { A::ONE } else { relative };
    }
}

/// The values of states of a tile, those before `first_start` joined with the `state` before the tile.
#[inline(always)]
fn find_results<A: Real>(
    state: ScaledSum<A>,
    [largest, sums]: [&[A]; 2],
    first_start: usize,
    results: &mut [MaybeUninit<A>],
) {
    let joined = if state.sum == A::ZERO { 0 } else { first_start };
    // By index: iterators that end together would leave up to a vector of elements to a loop without vectors.
    let len = results.len();
    let (largest, sums) = (&largest[..len], &sums[..len]);
    if joined > 0 && largest[0] == largest[joined - 1] {
        // One factor serves all.
        let largest = largest[0];
        for step in 0..joined {
            let sum = sums[step];
            let joined = LogSumExpFold::join(state, ScaledSum { largest, sum });
            results[step].write(LogSumExpFold::value(joined));
        }
    } else {
        for step in 0..joined {
            let (largest, sum) = (largest[step], sums[step]);
            let joined = LogSumExpFold::join(state, ScaledSum { largest, sum });
            results[step].write(LogSumExpFold::value(joined));
        }
    }
    for step in joined..len {
        let (largest, sum) = (largest[step], sums[step]);
        results[step].write(LogSumExpFold::value(ScaledSum { largest, sum }));
    }
}

/// Writes into `largest`, after each element of a block, the largest element so far. `largest` has one place more, and
/// begins with the largest element before the block.
fn largest_so_far<A: Real>(block: &RowPart<'_, A>, elements: &[A], largest: &mut [A]) {
    if block.starts.is_empty() {
        let (before, after) = (largest[0], &mut largest[1..]);
        let slots = as_slots(after);
        tile::scan_rows::<A, Max, false>(elements, slots, elements.len(), before, false);
        return;
    }
    for (step, &element) in elements.iter().enumerate() {
        let before = if block.starts_at(step) {
            A::LOWEST
        } else {
            largest[step]
        };
        largest[step + 1] = before.max(element);
    }
}
