//! The linear recurrence `h[t] = decay[t]·h[t−1] + value[t]`.
//!
//! Columns are walked as the formula says, side by side. A single column is bound by the latency of its two operations; there a vector of the
//! processor composes its own elements first, as maps `h ↦ a·h + b` (Kogge & Stone 1973):
//!
//! ```text
//! composed    (a0, b0)  (a1·a0, a1·b0 + b1)  …        three steps of shuffles
//! output      a·h + b of each lane                    h: the last lane of the vector before
//! ```
//!
//! Compositions leave the range of floats where the walk does not: a decay's product may overflow and meet a zero. What is composed is watched,
//! and where it is not finite the elements are walked one by one.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::super::buffer::{Output, Shared};
use super::super::element::{Accumulator, Element, TILE};
use super::super::lanes::{self, Kernel, Lanes as Vector};
use super::super::simd::vectorize;
use super::{Block, Lines, View, Walk, run};

/// Walks `values` and `decay` along the axis of `lines`, from `initial` of each column if there is one, else from 0. The result is contiguous.
///
/// # Panics
///
/// If an input has another shape.
pub(crate) fn recurrence<T: Element>(
    values: &View<'_, T>,
    decay: &View<'_, T>,
    initial: Option<&[T]>,
    lines: Lines,
) -> Vec<T> {
    assert!(values.fits(&lines) && decay.fits(&lines));
    assert!(initial.is_none_or(|initial| initial.len() == lines.outer * lines.inner));
    let mut output = Output::new(lines.elements());
    run(&Recurrence {
        values,
        decay,
        initial,
        output: Shared::new(output.slots()),
        lines,
    });
    // SAFETY: every line of every column has had its result written.
    unsafe { output.finish() }
}

struct Recurrence<'a, T: Element> {
    values: &'a View<'a, T>,
    decay: &'a View<'a, T>,
    initial: Option<&'a [T]>,
    output: Shared<'a, T>,
    lines: Lines,
}

/// The map `h ↦ factor·h + offset`; a state is one with `h` for offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Affine<A> {
    pub(crate) factor: A,
    pub(crate) offset: A,
}

impl<A: Accumulator> Affine<A> {
    fn state(h: A) -> Self {
        Self {
            factor: A::ONE,
            offset: h,
        }
    }

    /// The same, then an element.
    #[inline(always)]
    fn then(self, decay: A, value: A) -> Self {
        Self {
            factor: self.factor.mul(decay),
            offset: decay.mul(self.offset).add(value),
        }
    }
}

impl<T: Element> Walk for Recurrence<'_, T> {
    type State = Affine<T::Acc>;

    fn lines(&self) -> Lines {
        self.lines
    }

    fn begin(&self, plane: usize, column: usize) -> Self::State {
        let initial = self
            .initial
            .map(|initial| initial[plane * self.lines.inner + column]);
        Affine::state(initial.map_or(T::Acc::ZERO, T::to_acc))
    }

    fn identity(&self) -> Self::State {
        Affine::state(T::Acc::ZERO)
    }

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        let Lines { inner, .. } = self.lines;
        if inner == 1 {
            return self.fold_column(block, &mut totals[0]);
        }
        let mut rooms = Rooms::<T>::default();
        for line in block.lines.clone() {
            let line = self.lines.stored(line);
            let [values, decay] = self.line(&block, line, &mut rooms.gathered);
            let decay = T::widen(decay, &mut rooms.of_decay);
            let values = T::widen(values, &mut rooms.of_values);
            vectorize(|| {
                for ((total, &decay), &value) in totals.iter_mut().zip(decay).zip(values) {
                    *total = total.then(decay, value);
                }
            });
        }
    }

    fn behind(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        let is_finite = |x: T::Acc| x.mul(T::Acc::ZERO) == T::Acc::ZERO;
        (is_finite(total.factor) && is_finite(total.offset))
            .then(|| Affine::state(total.factor.mul(state.offset).add(total.offset)))
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        let Lines { inner, .. } = self.lines;
        if inner == 1 {
            // SAFETY: the caller's promise.
            return unsafe { self.walk_column(block, &mut states[0], writes) };
        }
        let mut rooms = Rooms::<T>::default();
        let mut carries = [T::Acc::ZERO; TILE];
        let carries = &mut carries[..states.len()];
        for (carry, state) in carries.iter_mut().zip(&*states) {
            *carry = state.offset;
        }
        let mut nowhere = [const { MaybeUninit::uninit() }; TILE];
        for line in block.lines.clone() {
            let line = self.lines.stored(line);
            let place = self.lines.place(block.plane, line, &block.columns);
            let [values, decay] = self.line(&block, line, &mut rooms.gathered);
            let decay = T::widen(decay, &mut rooms.of_decay);
            let output = match writes {
                // SAFETY: the caller has these columns to itself.
                true => unsafe { self.output.slice(place) },
                false => &mut nowhere[..values.len()],
            };
            T::map(values, output, &mut rooms.of_values, |values, output| {
                vectorize(|| {
                    let elements = decay.iter().zip(values).zip(output);
                    for (((&decay, &value), slot), carry) in elements.zip(carries.iter_mut()) {
                        *carry = decay.mul(*carry).add(value);
                        slot.write(*carry);
                    }
                });
            });
        }
        for (state, carry) in states.iter_mut().zip(&*carries) {
            *state = Affine::state(*carry);
        }
    }
}

/// What a walk needs beside its states.
struct Rooms<T: Element> {
    gathered: [[T; TILE]; 2],
    of_values: T::Scratch,
    of_decay: T::Scratch,
}

impl<T: Element> Default for Rooms<T> {
    fn default() -> Self {
        Self {
            gathered: [[T::from_acc(T::Acc::ZERO); TILE]; 2],
            of_values: T::Scratch::default(),
            of_decay: T::Scratch::default(),
        }
    }
}

impl<T: Element> Recurrence<'_, T> {
    fn line<'b>(
        &'b self,
        block: &Block,
        line: usize,
        rooms: &'b mut [[T; TILE]; 2],
    ) -> [&'b [T]; 2] {
        let [of_values, of_decay] = rooms;
        let Block { plane, columns, .. } = block;
        [
            self.values.line(*plane, line, columns.clone(), of_values),
            self.decay.line(*plane, line, columns.clone(), of_decay),
        ]
    }

    fn fold_column(&self, block: Block, total: &mut Affine<T::Acc>) {
        let mut rooms = [[T::from_acc(T::Acc::ZERO); TILE]; 2];
        for run in self.lines.runs(block.lines.clone()) {
            let [of_values, of_decay] = &mut rooms;
            let tile = Tile {
                values: self.values.run(block.plane, run.clone(), of_values),
                decay: self.decay.run(block.plane, run, of_decay),
                element: PhantomData::<T>,
            };
            *total = match self.lines.reverse {
                true => lanes::run(Fold::<T, true>(tile, *total)),
                false => lanes::run(Fold::<T, false>(tile, *total)),
            };
        }
    }

    /// # Safety
    ///
    /// As [`Walk::walk`].
    unsafe fn walk_column(&self, block: Block, state: &mut Affine<T::Acc>, writes: bool) {
        let mut rooms = [[T::from_acc(T::Acc::ZERO); TILE]; 2];
        let mut nowhere = [const { MaybeUninit::uninit() }; TILE];
        for run in self.lines.runs(block.lines.clone()) {
            let [of_values, of_decay] = &mut rooms;
            let first = block.plane * self.lines.len;
            let output = match writes {
                // SAFETY: the caller has these lines to itself.
                true => unsafe { self.output.slice(first + run.start..first + run.end) },
                false => &mut nowhere[..run.len()],
            };
            let tile = Tile {
                values: self.values.run(block.plane, run.clone(), of_values),
                decay: self.decay.run(block.plane, run, of_decay),
                element: PhantomData::<T>,
            };
            let h = state.offset;
            let h = match self.lines.reverse {
                true => lanes::run(Scan::<T, true>(tile, output, h)),
                false => lanes::run(Scan::<T, false>(tile, output, h)),
            };
            *state = Affine::state(h);
        }
    }
}

/// Elements of a single column that lie side by side.
#[derive(Clone, Copy)]
struct Tile<'a, T> {
    values: &'a [T],
    decay: &'a [T],
    element: PhantomData<T>,
}

impl<T: Element> Tile<'_, T> {
    #[inline(always)]
    fn len(&self) -> usize {
        assert!(self.values.len() == self.decay.len());
        self.values.len()
    }

    /// Element after element, in the order of the walk.
    #[inline(always)]
    fn each<const REVERSE: bool>(
        &self,
        lines: core::ops::Range<usize>,
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
    unsafe fn composed<L: Vector<T>, const REVERSE: bool>(&self, first: usize) -> (L, L) {
        // SAFETY: the caller's promise.
        let (decay, value) = unsafe {
            (
                L::load(self.decay.as_ptr().add(first)),
                L::load(self.values.as_ptr().add(first)),
            )
        };
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
    fn parts<const REVERSE: bool>(&self, lanes: usize) -> (usize, core::ops::Range<usize>) {
        let len = self.len();
        let rest = len % lanes;
        match REVERSE {
            true => (rest, 0..rest),
            false => (0, len - rest..len),
        }
    }
}

/// Composes a map with the elements of a tile.
struct Fold<'a, T: Element, const REVERSE: bool>(Tile<'a, T>, Affine<T::Acc>);

impl<T: Element, const REVERSE: bool> Kernel<T> for Fold<'_, T, REVERSE> {
    type Output = Affine<T::Acc>;

    #[inline(always)]
    fn run<L: Vector<T>>(self) -> Self::Output {
        let Self(tile, before) = self;
        let (from, rest) = tile.parts::<REVERSE>(L::COUNT);
        let count = (tile.len() - rest.len()) / L::COUNT;
        let (mut factor, mut offset) = (L::splat(before.factor), L::splat(before.offset));
        for step in 0..count {
            let vector = if REVERSE { count - 1 - step } else { step };
            // SAFETY: the vector is one of the tile's.
            let (a, b) = unsafe { tile.composed::<L, REVERSE>(from + vector * L::COUNT) };
            let (a, b) = (a.last(), b.last());
            offset = a.mul(offset).add(b);
            factor = a.mul(factor);
        }
        let mut total = before;
        factor.for_each(|factor| total.factor = factor);
        offset.for_each(|offset| total.offset = offset);
        tile.each::<REVERSE>(rest, |_, decay, value| total = total.then(decay, value));
        total
    }
}

/// Walks a tile from `h`, and returns the last.
struct Scan<'a, 'b, T: Element, const REVERSE: bool>(Tile<'a, T>, &'b mut [MaybeUninit<T>], T::Acc);

impl<T: Element, const REVERSE: bool> Kernel<T> for Scan<'_, '_, T, REVERSE> {
    type Output = T::Acc;

    #[inline(always)]
    fn run<L: Vector<T>>(self) -> T::Acc {
        let Self(tile, output, start) = self;
        assert!(output.len() == tile.len());
        let (from, rest) = tile.parts::<REVERSE>(L::COUNT);
        let count = (tile.len() - rest.len()) / L::COUNT;
        let zero = L::splat(T::Acc::ZERO);
        let mut carry = L::splat(start);
        // Zero times what is not finite is no zero.
        let mut seen = zero;
        for step in 0..count {
            let vector = if REVERSE { count - 1 - step } else { step };
            let first = from + vector * L::COUNT;
            // SAFETY: the vector is one of the tile's, and the output is as long.
            unsafe {
                let (a, b) = tile.composed::<L, REVERSE>(first);
                seen = seen.add(a.mul(zero)).add(b.mul(zero));
                let h = a.mul(carry).add(b);
                carry = h.last();
                let h = if REVERSE { h.reversed() } else { h };
                h.store(output.as_mut_ptr().add(first).cast());
            }
        }
        let mut h = start;
        carry.for_each(|last| h = last);
        let mut was_finite = true;
        seen.for_each(|seen| was_finite &= seen == T::Acc::ZERO);
        let rest = match was_finite {
            true => rest,
            false => {
                h = start;
                0..tile.len()
            }
        };
        tile.each::<REVERSE>(rest, |at, decay, value| {
            h = decay.mul(h).add(value);
            output[at].write(T::from_acc(h));
        });
        h
    }
}
