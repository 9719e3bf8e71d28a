//! Running maxima and minima, and their positions: of equal elements the last, of several NaN the last, as in torch.

use core::mem::MaybeUninit;

use super::super::buffer::{Output, Shared};
use super::super::compress::Index;
use super::super::element::TILE;
use super::super::traits::{Accumulator, Element};
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
    run(&Extremum {
        values,
        is_max,
        output: Shared::new(output.slots()),
        positions: Shared::new(positions.slots()),
        lines,
    });
    // SAFETY: the walk has written both results of every line of every column.
    unsafe { (output.finish(), positions.finish()) }
}

struct Extremum<'a, T: Element, I> {
    values: &'a View<'a, T>,
    is_max: bool,
    output: Shared<'a, T>,
    positions: Shared<'a, I>,
    lines: Lines,
}

/// The extremum and its position, if there was an element.
type Found<A> = Option<(A, usize)>;

impl<T: Element, I> Extremum<'_, T, I> {
    /// The extremum of two, the first of which comes earlier in the walk.
    #[expect(clippy::eq_op, reason = "the NaN test that also holds for integers")]
    #[inline(always)]
    fn later(&self, first: Found<T::Acc>, last: (T::Acc, usize)) -> (T::Acc, usize) {
        let Some(first) = first else {
            return last;
        };
        let (before, now) = (first.0, last.0);
        let beats = if self.is_max {
            now >= before
        } else {
            now <= before
        };
        match beats || now != now {
            true => last,
            false => first,
        }
    }
}

impl<T: Element, I: Index> Walk for Extremum<'_, T, I> {
    type State = Found<T::Acc>;

    const ROUNDS: bool = false;

    fn lines(&self) -> Lines {
        self.lines
    }

    fn begin(&self, _plane: usize, _column: usize) -> Self::State {
        None
    }

    fn identity(&self) -> Self::State {
        None
    }

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        // SAFETY: nothing is written.
        unsafe { self.walk(block, totals, false) };
    }

    fn behind(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        Some(total.map_or(state, |total| Some(self.later(state, total))))
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        let mut room = [T::from_acc(T::Acc::ZERO); TILE];
        let mut nowhere = [const { MaybeUninit::uninit() }; TILE];
        let mut nowhere_positions = [const { MaybeUninit::uninit() }; TILE];
        let Block {
            plane,
            lines,
            columns,
        } = block;
        for line in lines {
            let line = self.lines.stored(line);
            let values = self.values.line(plane, line, columns.clone(), &mut room);
            let place = self.lines.place(plane, line, &columns);
            let (output, positions) = match writes {
                // SAFETY: the caller has these columns to itself.
                true => unsafe {
                    (
                        self.output.slice(place.clone()),
                        self.positions.slice(place),
                    )
                },
                false => (
                    &mut nowhere[..values.len()],
                    &mut nowhere_positions[..values.len()],
                ),
            };
            let slots = output.iter_mut().zip(positions);
            for ((state, value), (slot, position)) in states.iter_mut().zip(values).zip(slots) {
                let (value, at) = self.later(*state, (value.to_acc(), line));
                *state = Some((value, at));
                slot.write(T::from_acc(value));
                position.write(I::from_usize(at));
            }
        }
    }
}
