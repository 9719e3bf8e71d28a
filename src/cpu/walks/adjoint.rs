//! The gradient of a linear recurrence, in one walk the other way.
//!
//! ```text
//! g[t] = flow[t] + u[t+1]        u[t] = decay[t]·g[t]        what flows back to decay[t] is g[t]·h[t−1], to the initial value u[0]
//! ```
//!
//! The state is `u`, and an element the map `u ↦ decay·u + decay·flow`: a recurrence like the other ([`affine`](super::affine)).

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::{Output, Shared};
use super::super::column_groups::column_groups;
use super::super::element::{Accumulator, Element, TILE};
use super::super::lanes::{self, Kernel, Lanes as Vector};
use super::super::simd::vectorize;
use super::affine::{Affine, Inputs, Rooms, Tile, gathered, side_by_side};
use super::{Block, Lines, View, Walk, run};

/// What flows back.
pub(crate) struct Adjoint<T> {
    pub(crate) of_values: Vec<T>,
    pub(crate) of_decay: Vec<T>,
    /// One for each column.
    pub(crate) of_initial: Vec<T>,
}

/// Walks `flow` and `decay` along the axis of `lines`, which go against the order of the recurrence whose `results` are contiguous and
/// began with `initial`, if there is one, else with 0.
///
/// # Panics
///
/// If an input has another shape.
pub(crate) fn recurrence_adjoint<T: Element>(
    flow: &View<'_, T>,
    decay: &View<'_, T>,
    results: &[T],
    initial: Option<&[T]>,
    lines: Lines,
) -> Adjoint<T> {
    let inputs = Inputs {
        values: flow,
        decay,
        lines,
    };
    let columns = lines.outer * lines.inner;
    assert!(inputs.fit() && results.len() == lines.elements());
    assert!(initial.is_none_or(|initial| initial.len() == columns));
    let [mut of_values, mut of_decay] = [0; 2].map(|_| Output::new(lines.elements()));
    let mut of_initial = vec![T::from_acc(T::Acc::ZERO); columns];
    {
        let room = of_initial.as_mut_slice();
        // SAFETY: what is initialised may be written as if it were not.
        let room = unsafe { &mut *(core::ptr::from_mut(room) as *mut [MaybeUninit<T>]) };
        run(&Flows {
            inputs,
            results,
            initial,
            of_values: Shared::new(of_values.slots()),
            of_decay: Shared::new(of_decay.slots()),
            of_initial: Shared::new(room),
        });
    }
    Adjoint {
        // SAFETY: every line of every column has had both written.
        of_values: unsafe { of_values.finish() },
        // SAFETY: as above.
        of_decay: unsafe { of_decay.finish() },
        of_initial,
    }
}

struct Flows<'a, T: Element> {
    inputs: Inputs<'a, T>,
    results: &'a [T],
    initial: Option<&'a [T]>,
    of_values: Shared<'a, T>,
    of_decay: Shared<'a, T>,
    of_initial: Shared<'a, T>,
}

impl<T: Element> Walk for Flows<'_, T> {
    type State = Affine<T::Acc>;

    fn lines(&self) -> Lines {
        self.inputs.lines
    }

    fn begin(&self, _plane: usize, _column: usize) -> Self::State {
        self.identity()
    }

    fn identity(&self) -> Self::State {
        Affine::state(T::Acc::ZERO)
    }

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        self.inputs.fold::<true>(block, totals);
    }

    fn behind(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        state.behind(total)
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        let is_last = block.lines.end == self.lines().len;
        // SAFETY: the caller's promise.
        unsafe {
            match self.lines().inner {
                1 => self.walk_column(&block, &mut states[0], writes),
                _ => self.walk_columns(&block, states, writes),
            }
        }
        if writes && is_last {
            let place = self.of_line(block.plane, &block.columns);
            // SAFETY: no other task has the last lines of these columns.
            let slots = unsafe { self.of_initial.slice(place) };
            for (slot, state) in slots.iter_mut().zip(states) {
                slot.write(T::from_acc(state.offset));
            }
        }
    }
}

impl<T: Element> Flows<'_, T> {
    /// Where some columns lie in a tensor of one line.
    fn of_line(&self, plane: usize, columns: &Range<usize>) -> Range<usize> {
        let first = plane * self.lines().inner;
        first + columns.start..first + columns.end
    }

    /// What the recurrence began with in a column.
    fn first(&self, plane: usize, column: usize) -> T {
        let place = plane * self.lines().inner + column;
        let none = T::from_acc(T::Acc::ZERO);
        self.initial.map_or(none, |initial| initial[place])
    }

    /// The results one step of the recurrence before a line in memory.
    fn before<'b>(&'b self, block: &Block, line: usize, room: &'b mut [T]) -> &'b [T] {
        let lines = self.lines();
        let line = match lines.reverse {
            true => line.checked_sub(1),
            false => Some(line + 1).filter(|&line| line < lines.len),
        };
        match line {
            Some(line) => &self.results[lines.place(block.plane, line, &block.columns)],
            None => {
                let room = &mut room[..block.columns.len()];
                for (slot, column) in room.iter_mut().zip(block.columns.clone()) {
                    *slot = self.first(block.plane, column);
                }
                room
            }
        }
    }

    /// The same of a run of the only column.
    fn before_run<'b>(&'b self, plane: usize, run: &Range<usize>, room: &'b mut [T]) -> &'b [T] {
        let lines = self.lines();
        let Range { start, end } = lines.run(plane, run);
        let room = &mut room[..run.len()];
        match lines.reverse {
            true if run.start > 0 => &self.results[start - 1..end - 1],
            true => {
                room[0] = self.first(plane, 0);
                room[1..].copy_from_slice(&self.results[start..end - 1]);
                room
            }
            false if run.end < lines.len => &self.results[start + 1..end + 1],
            false => {
                let last = run.len() - 1;
                room[..last].copy_from_slice(&self.results[start + 1..end]);
                room[last] = self.first(plane, 0);
                room
            }
        }
    }

    /// # Safety
    ///
    /// As [`Walk::walk`].
    unsafe fn walk_columns(&self, block: &Block, states: &mut [Affine<T::Acc>], writes: bool) {
        let lines = self.lines();
        let mut rooms = Rooms::<T>::default();
        let mut room = [T::from_acc(T::Acc::ZERO); TILE];
        let [mut carries, mut flows] = [[T::Acc::ZERO; TILE]; 2];
        let carries = side_by_side(states, &mut carries);
        let mut nowhere = [[const { MaybeUninit::uninit() }; TILE]; 2];
        for line in block.lines.clone() {
            let line = lines.stored(line);
            let [flow, decay] = self.inputs.line(block, line, &mut rooms.gathered);
            let decay = T::widen(decay, &mut rooms.of_decay);
            let place = lines.place(block.plane, line, &block.columns);
            let [of_values, of_decay] = match writes {
                // SAFETY: the caller has these columns to itself.
                true => unsafe {
                    [
                        self.of_values.slice(place.clone()),
                        self.of_decay.slice(place),
                    ]
                },
                false => nowhere.each_mut().map(|room| &mut room[..flow.len()]),
            };
            T::map(flow, of_values, &mut rooms.of_values, |flow, of_values| {
                vectorize(|| {
                    column_groups::<T::Acc>(carries.len(), lines.reverse, |columns| {
                        let elements = (decay[columns.clone()].iter())
                            .zip(&flow[columns.clone()])
                            .zip(&mut of_values[columns.clone()]);
                        let carried = carries[columns.clone()].iter_mut().zip(&mut flows[columns]);
                        for (((&decay, &flow), slot), (u, g)) in elements.zip(carried) {
                            *g = flow.add(*u);
                            *u = decay.mul(*g);
                            slot.write(*g);
                        }
                    });
                });
            });
            if writes {
                let before = self.before(block, line, &mut room);
                T::map(
                    before,
                    of_decay,
                    &mut rooms.of_values,
                    |before, of_decay| {
                        vectorize(|| {
                            column_groups::<T::Acc>(before.len(), lines.reverse, |columns| {
                                let slots = &mut of_decay[columns.clone()];
                                let factors = before[columns.clone()].iter().zip(&flows[columns]);
                                for (slot, (&before, &g)) in slots.iter_mut().zip(factors) {
                                    slot.write(g.mul(before));
                                }
                            });
                        });
                    },
                );
            }
        }
        for (state, carry) in states.iter_mut().zip(&*carries) {
            *state = Affine::state(*carry);
        }
    }

    /// # Safety
    ///
    /// As [`Walk::walk`].
    unsafe fn walk_column(&self, block: &Block, state: &mut Affine<T::Acc>, writes: bool) {
        let lines = self.lines();
        let mut rooms = gathered();
        let mut room = [T::from_acc(T::Acc::ZERO); TILE];
        let mut nowhere = [[const { MaybeUninit::uninit() }; TILE]; 2];
        for run in lines.runs(block.lines.clone()) {
            let place = lines.run(block.plane, &run);
            let [of_values, of_decay] = match writes {
                // SAFETY: the caller has these lines to itself.
                true => unsafe {
                    [
                        self.of_values.slice(place.clone()),
                        self.of_decay.slice(place),
                    ]
                },
                false => nowhere.each_mut().map(|room| &mut room[..run.len()]),
            };
            let step = Step {
                before: self.before_run(block.plane, &run, &mut room),
                tile: self.inputs.tile(block.plane, run, &mut rooms),
                of_values,
                of_decay,
                start: state.offset,
            };
            state.offset = match lines.reverse {
                true => lanes::run(Scan::<T, true>(step)),
                false => lanes::run(Scan::<T, false>(step)),
            };
        }
    }
}

/// A run of a single column, and where its results go.
struct Step<'a, 'b, T: Element> {
    tile: Tile<'a, T>,
    before: &'a [T],
    of_values: &'b mut [MaybeUninit<T>],
    of_decay: &'b mut [MaybeUninit<T>],
    start: T::Acc,
}

/// Walks a run, and returns the last `u`.
struct Scan<'a, 'b, T: Element, const REVERSE: bool>(Step<'a, 'b, T>);

impl<T: Element, const REVERSE: bool> Kernel<T> for Scan<'_, '_, T, REVERSE> {
    type Output = T::Acc;

    #[inline(always)]
    fn run<L: Vector<T>>(self) -> T::Acc {
        let Step {
            tile,
            before,
            of_values,
            of_decay,
            start,
        } = self.0;
        let len = tile.len();
        assert!(before.len() == len && of_values.len() == len && of_decay.len() == len);
        let (from, rest) = tile.parts::<REVERSE>(L::COUNT);
        let count = (len - rest.len()) / L::COUNT;
        let zero = L::splat(T::Acc::ZERO);
        let mut carry = L::splat(start);
        // Zero times what is not finite is no zero.
        let mut seen = zero;
        let ordered = |lanes: L| if REVERSE { lanes.reversed() } else { lanes };
        for step in 0..count {
            let vector = if REVERSE { count - 1 - step } else { step };
            let first = from + vector * L::COUNT;
            // SAFETY: the vector is one of the tile's, and the other slices are as long.
            unsafe {
                let (a, b) = tile.composed::<L, REVERSE, true>(first);
                seen = seen.add(a.mul(zero)).add(b.mul(zero));
                let u = a.mul(carry).add(b);
                let behind = ordered(u.shift_in(carry));
                carry = u.last();
                let g = L::load(tile.values.as_ptr().add(first)).add(behind);
                g.store(of_values.as_mut_ptr().add(first).cast());
                let before = L::load(before.as_ptr().add(first));
                g.mul(before).store(of_decay.as_mut_ptr().add(first).cast());
            }
        }
        let mut u = start;
        carry.for_each(|last| u = last);
        let mut was_finite = true;
        seen.for_each(|seen| was_finite &= seen == T::Acc::ZERO);
        let rest = match was_finite {
            true => rest,
            false => {
                u = start;
                0..len
            }
        };
        tile.each::<REVERSE>(rest, |at, decay, flow| {
            let g = flow.add(u);
            u = decay.mul(g);
            of_values[at].write(T::from_acc(g));
            of_decay[at].write(T::from_acc(g.mul(before[at].to_acc())));
        });
        u
    }
}
