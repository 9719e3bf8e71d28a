//! Maps `h ↦ a·h + b`, one for each step of a recurrence, and their composition.
//!
//! A single column is bound by the latency of its two operations; there a vector of the processor composes its own elements first (Kogge & Stone
//! 1973):
//!
//! ```text
//! composed    (a0, b0)  (a1·a0, a1·b0 + b1)  …        three steps of shuffles
//! output      a·h + b of each lane                    h: the last lane of the vector before
//! ```
//!
//! Compositions leave the range of floats where the walk does not: a decay's product may overflow and meet a zero. What is composed is watched,
//! and where it is not finite the elements are walked one by one.
//!
//! The adjoint of a recurrence multiplies by the decay behind an addition, not before it: `h ↦ a·(h + x)`, so that `b` is `a·x` there.

use core::marker::PhantomData;
use core::ops::Range;

use super::super::column_groups::column_groups;
use super::super::element::{Accumulator, Element, TILE};
use super::super::lanes::{self, Kernel, Lanes as Vector};
use super::super::simd::vectorize;
use super::{Block, Lines, View};

/// The map `h ↦ factor·h + offset`; a state is one with `h` for offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine<A> {
    pub(super) factor: A,
    pub(super) offset: A,
}

impl<A: Accumulator> Affine<A> {
    pub(super) fn state(h: A) -> Self {
        Self {
            factor: A::ONE,
            offset: h,
        }
    }

    /// The same, then an element.
    #[inline(always)]
    pub(super) fn then(self, decay: A, value: A) -> Self {
        Self {
            factor: self.factor.mul(decay),
            offset: decay.mul(self.offset).add(value),
        }
    }

    /// Behind a piece of this total, if that is what walking it leads to, up to rounding.
    pub(super) fn behind(self, total: Self) -> Option<Self> {
        let is_finite = |x: A| x.mul(A::ZERO) == A::ZERO;
        (is_finite(total.factor) && is_finite(total.offset))
            .then(|| Self::state(total.factor.mul(self.offset).add(total.offset)))
    }
}

/// The values of states, side by side as vector loops want them.
pub(super) fn side_by_side<'a, A: Accumulator>(
    states: &[Affine<A>],
    room: &'a mut [A; TILE],
) -> &'a mut [A] {
    let room = &mut room[..states.len()];
    for (slot, state) in room.iter_mut().zip(states) {
        *slot = state.offset;
    }
    room
}

/// The two inputs of a walk.
pub(super) struct Inputs<'a, T> {
    pub(super) values: &'a View<'a, T>,
    pub(super) decay: &'a View<'a, T>,
    pub(super) lines: Lines,
}

/// Room for a line of each input, or a run.
pub(super) type Gathered<T> = [[T; TILE]; 2];

/// What a walk needs beside its states.
pub(super) struct Rooms<T: Element> {
    pub(super) gathered: Gathered<T>,
    pub(super) of_values: T::Scratch,
    pub(super) of_decay: T::Scratch,
}

impl<T: Element> Default for Rooms<T> {
    fn default() -> Self {
        Self {
            gathered: gathered(),
            of_values: T::Scratch::default(),
            of_decay: T::Scratch::default(),
        }
    }
}

pub(super) fn gathered<T: Element>() -> Gathered<T> {
    [[T::from_acc(T::Acc::ZERO); TILE]; 2]
}

impl<T: Element> Inputs<'_, T> {
    pub(super) fn fit(&self) -> bool {
        self.values.fits(&self.lines) && self.decay.fits(&self.lines)
    }

    /// Some columns of a line in memory: values, then decays.
    pub(super) fn line<'b>(
        &'b self,
        block: &Block,
        line: usize,
        rooms: &'b mut Gathered<T>,
    ) -> [&'b [T]; 2] {
        let [of_values, of_decay] = rooms;
        let Block { plane, columns, .. } = block;
        [
            self.values.line(*plane, line, columns.clone(), of_values),
            self.decay.line(*plane, line, columns.clone(), of_decay),
        ]
    }

    /// A run of the only column.
    pub(super) fn tile<'b>(
        &'b self,
        plane: usize,
        run: Range<usize>,
        rooms: &'b mut Gathered<T>,
    ) -> Tile<'b, T> {
        let [of_values, of_decay] = rooms;
        Tile {
            values: self.values.run(plane, run.clone(), of_values),
            decay: self.decay.run(plane, run, of_decay),
            element: PhantomData,
        }
    }

    /// The totals of a block's columns.
    pub(super) fn fold<const ADJOINT: bool>(&self, block: Block, totals: &mut [Affine<T::Acc>]) {
        if self.lines.inner == 1 {
            return self.fold_column::<ADJOINT>(block, &mut totals[0]);
        }
        let mut rooms = Rooms::<T>::default();
        for line in block.lines.clone() {
            let line = self.lines.stored(line);
            let [values, decay] = self.line(&block, line, &mut rooms.gathered);
            let decay = T::widen(decay, &mut rooms.of_decay);
            let values = T::widen(values, &mut rooms.of_values);
            vectorize(|| {
                column_groups::<T::Acc>(totals.len(), self.lines.reverse, |columns| {
                    let elements = decay[columns.clone()].iter().zip(&values[columns.clone()]);
                    for (total, (&decay, &value)) in totals[columns].iter_mut().zip(elements) {
                        *total = total.then(decay, offset::<T::Acc, ADJOINT>(decay, value));
                    }
                });
            });
        }
    }

    fn fold_column<const ADJOINT: bool>(&self, block: Block, total: &mut Affine<T::Acc>) {
        let mut rooms = gathered();
        for run in self.lines.runs(block.lines.clone()) {
            let tile = self.tile(block.plane, run, &mut rooms);
            *total = match self.lines.reverse {
                true => lanes::run(Fold::<T, true, ADJOINT>(tile, *total)),
                false => lanes::run(Fold::<T, false, ADJOINT>(tile, *total)),
            };
        }
    }
}

/// The `b` of an element's map.
#[inline(always)]
fn offset<A: Accumulator, const ADJOINT: bool>(decay: A, value: A) -> A {
    if ADJOINT { decay.mul(value) } else { value }
}

/// Elements of a single column that lie side by side.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a, T> {
    pub(super) values: &'a [T],
    decay: &'a [T],
    element: PhantomData<T>,
}

impl<T: Element> Tile<'_, T> {
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        assert!(self.values.len() == self.decay.len());
        self.values.len()
    }

    /// Element after element, in the order of the walk.
    #[inline(always)]
    pub(super) fn each<const REVERSE: bool>(
        &self,
        lines: Range<usize>,
        mut take: impl FnMut(usize, T::Acc, T::Acc),
    ) {
        for step in 0..lines.len() {
            let at = if REVERSE {
                lines.end - 1 - step
            } else {
                lines.start + step
            };
            take(at, self.decay[at].to_acc(), self.values[at].to_acc());
        }
    }

    /// The vector at `first`, composed lane after lane in the order of the walk.
    ///
    /// # Safety
    ///
    /// It lies in the tile.
    #[inline(always)]
    pub(super) unsafe fn composed<L: Vector<T>, const REVERSE: bool, const ADJOINT: bool>(
        &self,
        first: usize,
    ) -> (L, L) {
        // SAFETY: the caller's promise.
        let (decay, value) = unsafe {
            (
                L::load(self.decay.as_ptr().add(first)),
                L::load(self.values.as_ptr().add(first)),
            )
        };
        let value = if ADJOINT { decay.mul(value) } else { value };
        let (mut factor, mut offset) = match REVERSE {
            true => (decay.reversed(), value.reversed()),
            false => (decay, value),
        };
        let (one, zero) = (L::splat(T::Acc::ONE), L::splat(T::Acc::ZERO));
        for step in 0..L::STEPS {
            let before = offset.taken_in(step, zero);
            offset = factor.mul(before).add(offset);
            factor = factor.mul(factor.taken_in(step, one));
        }
        (factor, offset)
    }

    /// Where vectors lie, and what is left beside them, which comes last in the order of the walk.
    #[inline(always)]
    pub(super) fn parts<const REVERSE: bool>(&self, lanes: usize) -> (usize, Range<usize>) {
        let len = self.len();
        let rest = len % lanes;
        match REVERSE {
            true => (rest, 0..rest),
            false => (0, len - rest..len),
        }
    }
}

/// Composes a map with the elements of a tile.
struct Fold<'a, T: Element, const REVERSE: bool, const ADJOINT: bool>(Tile<'a, T>, Affine<T::Acc>);

impl<T: Element, const REVERSE: bool, const ADJOINT: bool> Kernel<T>
    for Fold<'_, T, REVERSE, ADJOINT>
{
    type Output = Affine<T::Acc>;

    #[inline(always)]
    fn run<L: Vector<T>>(self) -> Self::Output {
        let Self(tile, before) = self;
        let (from, rest) = tile.parts::<REVERSE>(L::COUNT);
        let count = (tile.len() - rest.len()) / L::COUNT;
        let (mut factor, mut offset) = (L::splat(before.factor), L::splat(before.offset));
        for step in 0..count {
            let vector = if REVERSE { count - 1 - step } else { step };
            let first = from + vector * L::COUNT;
            // SAFETY: the vector is one of the tile's.
            let (a, b) = unsafe { tile.composed::<L, REVERSE, ADJOINT>(first) };
            let (a, b) = (a.last(), b.last());
            offset = a.mul(offset).add(b);
            factor = a.mul(factor);
        }
        let mut total = before;
        factor.for_each(|factor| total.factor = factor);
        offset.for_each(|offset| total.offset = offset);
        tile.each::<REVERSE>(rest, |_, decay, value| {
            total = total.then(decay, self::offset::<T::Acc, ADJOINT>(decay, value));
        });
        total
    }
}
