//! Running maxima and minima, and their positions: the last of equal elements or of several NaN, as in torch.

use core::mem::MaybeUninit;

use super::super::buffer::Output;
use super::super::compress::Index;
use super::super::element::TILE;
use super::super::operator::{Max, Min};
use super::super::processor::vectorize;
use super::super::tile;
use super::super::traits::{Accumulator, ElementType};
use super::abreast::Turned;
use super::sink::{Sink, room};
use super::{Block, View, Walk, WalkShape, run};

/// The running maxima of `values` along the axis of `lines`, or the minima, and their positions along the axis. Both
/// results are contiguous.
///
/// # Panics
///
/// If the values have another shape, or the walk is in reverse.
pub(crate) fn extremum<T: ElementType, I: Index>(
    values: &View<'_, T>,
    is_max: bool,
    lines: WalkShape,
) -> (Vec<T>, Vec<I>) {
    assert!(values.fits(&lines) && !lines.reverse);
    let mut output = Output::new(lines.elements());
    let mut positions = Output::new(lines.elements());
    let lines = lines.abreast();
    run(&Extremum {
        values: values.along(&lines),
        is_max,
        output: Sink::new(output.slots(), lines),
        positions: Sink::new(positions.slots(), lines),
        lines,
    });
    // SAFETY: the walk has written both results of every line of every column.
    unsafe { (output.finish(), positions.finish()) }
}

struct Extremum<'a, T: ElementType, I> {
    values: View<'a, T>,
    is_max: bool,
    output: Sink<'a, T>,
    positions: Sink<'a, I>,
    lines: WalkShape,
}

impl<T: ElementType, I: Index> Walk for Extremum<'_, T, I> {
    /// The extremum and its position.
    type State = (T::Acc, usize);

    fn rounds(&self) -> bool {
        false
    }

    fn lines(&self) -> WalkShape {
        self.lines
    }

    fn identity(&self) -> Self::State {
        let beaten = if self.is_max {
            T::Acc::LOWEST
        } else {
            T::Acc::HIGHEST
        };
        (beaten, 0)
    }

    fn after(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        let beats = beats(self.is_max, total.0, state.0);
        let place = if beats { total.1 } else { state.1 };
        Some((of_two(self.is_max, state.0, total.0), place))
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        if self.lines.are_few() {
            // SAFETY: the caller's promise.
            return unsafe { self.walk_in_chunks(block, states, writes) };
        }
        let is_max = self.is_max;
        let Block {
            plane,
            lines,
            columns,
        } = block;
        let (mut gathered, mut nowhere) = (Turned::default(), Turned::default());
        let mut no_places = Turned::default();
        let mut scratch = T::Scratch::default();
        let (mut extrema, mut places) = ([T::Acc::ZERO; TILE], [I::default(); TILE]);
        for (column, &(extremum, place)) in states.iter().enumerate() {
            (extrema[column], places[column]) = (extremum, I::from_usize(place));
        }
        let goes_on = lines.end < self.lines.len;
        for line in lines {
            let now = I::from_usize(line);
            let values = (self.values).line(plane, line, columns.clone(), &mut gathered);
            let at = (plane, line, &columns);
            // SAFETY: the caller has these columns to itself, and each of them is written.
            unsafe {
                self.output.line(at, writes, &mut nowhere, &mut |slots| {
                    (self.positions).line(at, writes, &mut no_places, &mut |positions| {
                        T::map(values, slots, &mut scratch, |values, slots| {
                            let states = (&mut extrema, &mut places);
                            take_line(is_max, now, values, states, (slots, positions));
                        });
                    });
                });
            }
        }
        if goes_on {
            for (column, state) in states.iter_mut().enumerate() {
                *state = (extrema[column], places[column].to_usize());
            }
        }
    }
}

impl<T: ElementType, I: Index> Extremum<'_, T, I> {
    /// Walks chunks of lines, in each one column after the other.
    ///
    /// # Safety
    ///
    /// As [`Walk::walk`].
    unsafe fn walk_in_chunks(&self, block: Block, states: &mut [(T::Acc, usize)], writes: bool) {
        let (plane, is_max) = (block.plane, self.is_max);
        let (mut gathered, mut nowhere, mut no_places) = (room(), room(), room());
        let mut scratch = T::Scratch::default();
        for chunk in self.lines.chunks(block.lines) {
            for (column, state) in block.columns.clone().zip(&mut *states) {
                let values = (self.values).chunk((plane, column), chunk.clone(), &mut gathered);
                let at = (plane, column, &chunk);
                // SAFETY: the caller has these lines of the column to itself.
                unsafe {
                    self.output.column(at, writes, &mut nowhere, |slots| {
                        (self.positions).column(at, writes, &mut no_places, |positions| {
                            T::map(values, slots, &mut scratch, |values, slots| {
                                let results = (slots, positions);
                                scan_chunk(is_max, chunk.start, values, state, results);
                            });
                        });
                    });
                }
            }
        }
    }
}

/// Whether an extremum has the position of this element, not the one before. Every element beats what a walk begins
/// with.
#[expect(clippy::eq_op, reason = "the NaN test that also holds for integers")]
#[inline(always)]
fn beats<A: Accumulator>(is_max: bool, now: A, before: A) -> bool {
    let no_less = if is_max { now >= before } else { now <= before };
    no_less | (now != now)
}

/// The extremum after another: the first of equal ones, as in a scan, so that a zero has the same sign there.
#[inline(always)]
fn of_two<A: Accumulator>(is_max: bool, before: A, now: A) -> A {
    if is_max {
        before.max(now)
    } else {
        before.min(now)
    }
}

/// Takes in an element of each column, all at the position `now`.
#[inline(never)]
fn take_line<A: Accumulator, I: Index>(
    is_max: bool,
    now: I,
    values: &[A],
    states: (&mut [A; TILE], &mut [I; TILE]),
    results: (&mut [MaybeUninit<A>], &mut [MaybeUninit<I>]),
) {
    vectorize!({
        if is_max {
            step::<A, I, true>(now, values, states, results);
        } else {
            step::<A, I, false>(now, values, states, results);
        }
    });
}

#[inline(always)]
fn step<A: Accumulator, I: Index, const IS_MAX: bool>(
    now: I,
    values: &[A],
    (extrema, places): (&mut [A; TILE], &mut [I; TILE]),
    (slots, positions): (&mut [MaybeUninit<A>], &mut [MaybeUninit<I>]),
) {
    let len = values.len();
    assert!(len <= TILE && slots.len() == len && positions.len() == len);
    for column in 0..len {
        let (value, extremum, place) = (values[column], extrema[column], places[column]);
        let place = if beats(IS_MAX, value, extremum) {
            now
        } else {
            place
        };
        slots[column].write(of_two(IS_MAX, extremum, value));
        places[column] = place;
        positions[column].write(place);
    }
    // A selection that goes where one of its operands came from becomes a masked store, which takes an AMD Zen 3
    // longer than all the rest.
    // SAFETY: all slots were written.
    extrema[..len].copy_from_slice(unsafe { slots.assume_init_ref() });
}

/// Scans elements of a column from the position `first` on. `state` is the extremum before them and its position.
fn scan_chunk<A: Accumulator, I: Index>(
    is_max: bool,
    first: usize,
    values: &[A],
    state: &mut (A, usize),
    (slots, positions): (&mut [MaybeUninit<A>], &mut [MaybeUninit<I>]),
) {
    let (len, (extremum, before)) = (values.len(), *state);
    assert!(positions.len() == len);
    state.0 = if is_max {
        tile::scan_rows::<A, Max, false>(values, slots, len, extremum, false)
    } else {
        tile::scan_rows::<A, Min, false>(values, slots, len, extremum, false)
    };
    // SAFETY: the scan has written all slots.
    let extrema = unsafe { slots.assume_init_ref() };
    let mut latest = room();
    let latest = latest_extrema(values, extrema, &mut latest[..len]);
    let position = |place: i32| {
        if place == BEFORE {
            before
        } else {
            first + place as usize
        }
    };
    vectorize!({
        for (slot, &place) in positions.iter_mut().zip(latest) {
            slot.write(I::from_usize(position(place)));
        }
    });
    state.1 = latest.last().map_or(before, |&place| position(place));
}

/// No place among some elements: that of an extremum before them.
const BEFORE: i32 = -1;

/// Writes the place of the last extremum so far.
fn latest_extrema<'a, A: Accumulator>(
    values: &[A],
    extrema: &[A],
    latest: &'a mut [MaybeUninit<i32>],
) -> &'a [i32] {
    let (mut places, len) = ([BEFORE; TILE], values.len());
    assert!(len <= TILE && extrema.len() == len);
    vectorize!({
        for at in 0..len {
            #[expect(clippy::eq_op, reason = "the NaN test that also holds for integers")]
            let is_extremum = (values[at] == extrema[at]) | (values[at] != values[at]);
            places[at] = if is_extremum { at as i32 } else { BEFORE };
        }
    });
    tile::scan_rows::<i32, Max, false>(&places[..len], latest, len, BEFORE, false);
    // SAFETY: the scan has written all slots.
    unsafe { latest.assume_init_ref() }
}
