//! Running maxima and minima, and their positions: the last of equal elements or of several NaN, as in torch.

use core::mem::MaybeUninit;

use super::super::buffer::Output;
use super::super::compress::Index;
use super::super::element::TILE;
use super::super::processor::vectorize;
use super::super::traits::{Accumulator, Element};
use super::sink::{Sink, room};
use super::{Block, Lines, View, Walk, run};

/// The running maxima of `values` along the axis of `lines`, or the minima, and their positions along the axis. Both
/// results are contiguous.
///
/// # Panics
///
/// If the values have another shape.
pub(crate) fn extremum<T: Element, I: Index>(
    values: &View<'_, T>,
    is_max: bool,
    lines: Lines,
) -> (Vec<T>, Vec<I>) {
    assert!(values.fits(&lines));
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

struct Extremum<'a, T: Element, I> {
    values: View<'a, T>,
    is_max: bool,
    output: Sink<'a, T>,
    positions: Sink<'a, I>,
    lines: Lines,
}

impl<T: Element, I: Index> Extremum<'_, T, I> {
    /// Whether an element beats the extremum before it. What a walk begins with is beaten by every element.
    #[expect(clippy::eq_op, reason = "the NaN test that also holds for integers")]
    #[inline(always)]
    fn beats(is_max: bool, now: T::Acc, before: T::Acc) -> bool {
        let no_less = if is_max { now >= before } else { now <= before };
        no_less | (now != now)
    }
}

impl<T: Element, I: Index> Walk for Extremum<'_, T, I> {
    /// The extremum and its position.
    type State = (T::Acc, usize);

    fn rounds(&self) -> bool {
        false
    }

    fn lines(&self) -> Lines {
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

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        // SAFETY: nothing is written.
        unsafe { self.walk(block, totals, false) };
    }

    fn after(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        Some(if Self::beats(self.is_max, total.0, state.0) {
            total
        } else {
            state
        })
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        if self.lines.are_rows() {
            // SAFETY: the caller's promise.
            return unsafe { self.walk_column(block, &mut states[0], writes) };
        }
        let is_max = self.is_max;
        let Block {
            plane,
            lines,
            columns,
        } = block;
        let (mut gathered, mut nowhere, mut no_places) = (room(), room(), room());
        let mut scratch = T::Scratch::default();
        let (mut extrema, mut places) = ([T::Acc::ZERO; TILE], [I::default(); TILE]);
        for (column, &(extremum, place)) in states.iter().enumerate() {
            (extrema[column], places[column]) = (extremum, I::from_usize(place));
        }
        for line in lines {
            let line = self.lines.stored(line);
            let now = I::from_usize(line);
            let values = (self.values).line(plane, line, columns.clone(), &mut gathered);
            let at = (plane, line, &columns);
            let mut walk =
                |values: &[T::Acc], slots: &mut [MaybeUninit<T::Acc>], positions: &mut [_]| {
                    let slots = slots.iter_mut().zip(positions);
                    let states = extrema.iter_mut().zip(&mut places);
                    for ((&value, (slot, position)), (extremum, place)) in
                        values.iter().zip(slots).zip(states)
                    {
                        let beats = Self::beats(is_max, value, *extremum);
                        *extremum = if beats { value } else { *extremum };
                        *place = if beats { now } else { *place };
                        slot.write(*extremum);
                        MaybeUninit::write(position, *place);
                    }
                };
            // SAFETY: the caller has these columns to itself, and each of them is written.
            unsafe {
                self.output.line(at, writes, &mut nowhere, |slots| {
                    self.positions
                        .line(at, writes, &mut no_places, |positions| {
                            T::map(values, slots, &mut scratch, |values, slots| {
                                vectorize(|| walk(values, slots, positions));
                            });
                        });
                });
            }
        }
        for (column, state) in states.iter_mut().enumerate() {
            *state = (extrema[column], places[column].to_usize());
        }
    }
}

impl<T: Element, I: Index> Extremum<'_, T, I> {
    /// # Safety
    ///
    /// As [`Walk::walk`].
    unsafe fn walk_column(&self, block: Block, state: &mut (T::Acc, usize), writes: bool) {
        let (is_max, reverse) = (self.is_max, self.lines.reverse);
        let (mut gathered, mut nowhere, mut no_places) = (room(), room(), room());
        let mut scratch = T::Scratch::default();
        let (mut extremum, mut place) = *state;
        for chunk in self.lines.chunks(block.lines.clone()) {
            let plane = block.plane;
            let values = self.values.chunk(plane, chunk.clone(), &mut gathered);
            // SAFETY: the caller has these lines to itself.
            let (slots, positions) = unsafe {
                (
                    self.output.chunk(plane, &chunk, writes, &mut nowhere),
                    self.positions.chunk(plane, &chunk, writes, &mut no_places),
                )
            };
            T::map(values, slots, &mut scratch, |values, slots| {
                let len = values.len();
                assert!(slots.len() == len && positions.len() == len);
                for step in 0..len {
                    let at = if reverse { len - 1 - step } else { step };
                    if Self::beats(is_max, values[at], extremum) {
                        (extremum, place) = (values[at], chunk.start + at);
                    }
                    slots[at].write(extremum);
                    positions[at].write(I::from_usize(place));
                }
            });
        }
        *state = (extremum, place);
    }
}
