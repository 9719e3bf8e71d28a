//! The inputs of a recurrence, and the totals of its blocks.

use core::ops::Range;

use super::super::super::column_groups::column_groups;
use super::super::super::columns::lines::lines_of;
use super::super::super::lanes;
use super::super::super::processor::vectorize;
use super::super::super::traits::{Accumulator, ElementType};
use super::super::abreast::Turned;
use super::super::sink::{Room, room};
use super::super::{Block, View, WalkShape};
use super::tile::{FoldTile, Tile};
use super::{Affine, offset};

/// The two inputs of a walk.
pub(in super::super) struct AffineInputs<'a, T> {
    values: View<'a, T>,
    decay: View<'a, T>,
    /// As they are walked.
    pub(in super::super) lines: WalkShape,
}

/// Room for a chunk of each input.
pub(in super::super) type Gathered<T> = [Room<T>; 2];

/// The room that a walk needs in addition to its states.
pub(in super::super) struct Rooms<T: ElementType> {
    pub(in super::super) gathered: [Turned<T>; 2],
    pub(in super::super) of_values: T::Scratch,
    pub(in super::super) of_decay: T::Scratch,
}

impl<T: ElementType> Default for Rooms<T> {
    fn default() -> Self {
        Self {
            gathered: [Turned::default(), Turned::default()],
            of_values: T::Scratch::default(),
            of_decay: T::Scratch::default(),
        }
    }
}

impl<'a, T: ElementType> AffineInputs<'a, T> {
    /// # Panics
    ///
    /// If an input does not have the shape of `lines`.
    pub(in super::super) fn new(
        values: &View<'a, T>,
        decay: &View<'a, T>,
        lines: WalkShape,
    ) -> Self {
        assert!(values.fits(&lines) && decay.fits(&lines));
        let lines = lines.abreast();
        Self {
            values: values.along(&lines),
            decay: decay.along(&lines),
            lines,
        }
    }

    /// The lines of a block in the order of the walk; if `joined`, as many at once as both inputs have as one.
    pub(in super::super) fn lines_of(
        &self,
        block: &Block,
        joined: bool,
    ) -> impl Iterator<Item = Range<usize>> {
        let lines = |view: &View<'_, T>| view.lines_at_once(&block.columns);
        let at_once = match self.lines.abreast {
            None if joined => lines(&self.values).min(lines(&self.decay)),
            _ => 1,
        };
        let end = block.lines.end;
        (block.lines.clone().step_by(at_once)).map(move |first| first..end.min(first + at_once))
    }

    /// Some columns of a line in memory: values, then decays.
    pub(in super::super) fn line<'b>(
        &'b self,
        plane: usize,
        line: usize,
        columns: &Range<usize>,
        rooms: &'b mut [Turned<T>; 2],
    ) -> [&'b [T]; 2] {
        let [of_values, of_decay] = rooms;
        [
            self.values.line(plane, line, columns.clone(), of_values),
            self.decay.line(plane, line, columns.clone(), of_decay),
        ]
    }

    /// A chunk of the only column.
    pub(in super::super) fn tile<'b>(
        &'b self,
        plane: usize,
        chunk: Range<usize>,
        rooms: &'b mut Gathered<T>,
    ) -> Tile<'b, T> {
        let [of_values, of_decay] = rooms;
        Tile {
            values: self.values.chunk((plane, 0), chunk.clone(), of_values),
            decay: self.decay.chunk((plane, 0), chunk, of_decay),
        }
    }

    /// The totals of a block's columns.
    pub(in super::super) fn fold<const ADJOINT: bool>(
        &self,
        block: Block,
        totals: &mut [Affine<T::Acc>],
    ) {
        if self.lines.are_rows() {
            return self.fold_column::<ADJOINT>(block, &mut totals[0]);
        }
        let mut rooms = Rooms::<T>::default();
        for lines in self.lines_of(&block, true) {
            let (line, columns) = self.lines.joined(&lines, &block.columns);
            let [values, decay] = self.line(block.plane, line, &columns, &mut rooms.gathered);
            let decay = T::widen(decay, &mut rooms.of_decay);
            let values = T::widen(values, &mut rooms.of_values);
            fold_lines::<_, ADJOINT>([decay, values], totals, self.lines.reverse);
        }
    }

    fn fold_column<const ADJOINT: bool>(&self, block: Block, total: &mut Affine<T::Acc>) {
        let mut rooms = [room(), room()];
        for chunk in self.lines.chunks(block.lines.clone()) {
            let tile = self.tile(block.plane, chunk, &mut rooms);
            *total = if self.lines.reverse {
                lanes::run(FoldTile::<T, true, ADJOINT>(tile, *total))
            } else {
                lanes::run(FoldTile::<T, false, ADJOINT>(tile, *total))
            };
        }
    }
}

/// Composes lines that lie one after the other with the totals of their columns, given the decays and the values.
fn fold_lines<A: Accumulator, const ADJOINT: bool>(
    [decay, values]: [&[A]; 2],
    totals: &mut [Affine<A>],
    reverse: bool,
) {
    vectorize!({
        let width = totals.len();
        for place in lines_of(values.len(), width, reverse) {
            let (decay, values) = (&decay[place.clone()], &values[place]);
            column_groups::<A>(width, reverse, |columns| {
                let elements = decay[columns.clone()].iter().zip(&values[columns.clone()]);
                for (total, (&decay, &value)) in totals[columns].iter_mut().zip(elements) {
                    *total = total.then(decay, offset::<A, ADJOINT>(decay, value));
                }
            });
        }
    });
}
