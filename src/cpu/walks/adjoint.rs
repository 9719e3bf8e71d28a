//! The gradient of a linear recurrence, in one walk the other way.
//!
//! ```text
//! g[t] = flow[t] + u[t+1]        u[t] = decay[t]·g[t]
//!
//! gradient of value[t]      g[t]
//! gradient of decay[t]      g[t]·h[t−1]
//! gradient of the initial   u[0]
//! ```
//!
//! The state is `u`, and an element is the map `u ↦ decay·u + decay·flow`: a recurrence like the first, see
//! [`affine`](super::affine). So it is the walk of the first, with these results.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::Shared;
use super::super::column_groups::column_groups;
use super::super::processor::vectorize;
use super::super::traits::{Accumulator, ElementType};
use super::abreast::Turned;
use super::affine::Affine;
use super::sink::{Room, Sink, room};
use super::{Block, View, WalkShape};

/// The gradients of a recurrence.
pub(crate) struct Adjoint<T> {
    pub(crate) of_values: Vec<T>,
    pub(crate) of_decay: Vec<T>,
    /// One element for each column.
    pub(crate) of_initial: Vec<T>,
}

/// What the walk of a gradient has beside that of a recurrence: `g` is its result.
pub(super) struct Gradient<'a, T> {
    /// The results of the recurrence.
    pub(super) results: &'a [T],
    /// The results, by lines.
    pub(super) before: View<'a, T>,
    /// What the recurrence began with.
    pub(super) initial: Option<&'a [T]>,
    pub(super) of_decay: Sink<'a, T>,
    pub(super) of_initial: Shared<'a, T>,
    pub(super) lines: WalkShape,
}

/// The room that the lines of a block need.
pub(super) struct GradientRooms<T> {
    before: Turned<T>,
    first: Room<T>,
    of_decay: Turned<T>,
}

impl<T> Default for GradientRooms<T> {
    fn default() -> Self {
        Self {
            before: Turned::default(),
            first: room(),
            of_decay: Turned::default(),
        }
    }
}

impl<T: ElementType> Gradient<'_, T> {
    /// Writes the gradient of the decays of a line in memory, given `g`.
    ///
    /// # Safety
    ///
    /// As [`Sink::line`].
    pub(super) unsafe fn write_line(
        &self,
        at: (usize, usize, &Range<usize>),
        flows: &[T::Acc],
        rooms: &mut GradientRooms<T>,
        scratch: &mut T::Scratch,
    ) {
        let before = self.before(at, &mut rooms.before, &mut rooms.first);
        // SAFETY: the caller's promise, and each slot is written.
        unsafe {
            (self.of_decay).line(at, true, &mut rooms.of_decay, &mut |of_decay| {
                T::map(before, of_decay, scratch, |before, of_decay| {
                    multiply(before, flows, of_decay, self.lines.reverse);
                });
            });
        }
    }

    /// Writes the gradient of the initial values of some columns, if the block has their last lines.
    ///
    /// # Safety
    ///
    /// No other thread has access to the last lines of these columns.
    pub(super) unsafe fn end(&self, block: &Block, states: &[Affine<T::Acc>]) {
        if block.lines.end < self.lines.len {
            return;
        }
        let (first, columns) = (block.plane * self.lines.inner, &block.columns);
        let place = first + columns.start..first + columns.end;
        // SAFETY: the caller's promise.
        let slots = unsafe { self.of_initial.slice(place) };
        for (slot, state) in slots.iter_mut().zip(states) {
            slot.write(T::from_acc(state.offset));
        }
    }

    /// The state that the recurrence began with in a column.
    fn first(&self, plane: usize, column: usize) -> T {
        let place = plane * self.lines.inner + column;
        let none = T::from_acc(T::Acc::ZERO);
        self.initial.map_or(none, |initial| initial[place])
    }

    /// The results of the recurrence one step before a line in memory.
    fn before<'b>(
        &'b self,
        (plane, line, columns): (usize, usize, &Range<usize>),
        of_before: &'b mut Turned<T>,
        room: &'b mut Room<T>,
    ) -> &'b [T] {
        let line = if self.lines.reverse {
            line.checked_sub(1)
        } else {
            Some(line + 1).filter(|&line| line < self.lines.len)
        };
        match line {
            Some(line) => (self.before).line(plane, line, columns.clone(), of_before),
            None => {
                let room = &mut room[..columns.len()];
                for (slot, column) in room.iter_mut().zip(columns.clone()) {
                    slot.write(self.first(plane, column));
                }
                // SAFETY: there are as many columns as slots.
                unsafe { room.assume_init_ref() }
            }
        }
    }

    /// The results of the recurrence one step before each line of a chunk of the only column.
    pub(super) fn before_chunk<'b>(
        &'b self,
        plane: usize,
        chunk: &Range<usize>,
        room: &'b mut Room<T>,
    ) -> &'b [T] {
        let lines = self.lines;
        let Range { start, end } = lines.chunk(plane, chunk);
        let room = &mut room[..chunk.len()];
        if lines.reverse {
            if chunk.start > 0 {
                return &self.results[start - 1..end - 1];
            }
            room[0].write(self.first(plane, 0));
            room[1..].write_copy_of_slice(&self.results[start..end - 1]);
        } else {
            if chunk.end < lines.len {
                return &self.results[start + 1..end + 1];
            }
            let last = chunk.len() - 1;
            room[..last].write_copy_of_slice(&self.results[start + 1..end]);
            room[last].write(self.first(plane, 0));
        }
        // SAFETY: all slots were written.
        unsafe { room.assume_init_ref() }
    }
}

/// Writes `g·h` of each column.
fn multiply<A: Accumulator>(
    results: &[A],
    flows: &[A],
    of_decay: &mut [MaybeUninit<A>],
    reverse: bool,
) {
    vectorize!({
        column_groups::<A>(results.len(), reverse, |columns| {
            let slots = &mut of_decay[columns.clone()];
            let factors = results[columns.clone()].iter().zip(&flows[columns]);
            for (slot, (&h, &g)) in slots.iter_mut().zip(factors) {
                slot.write(g.mul(h));
            }
        });
    });
}
