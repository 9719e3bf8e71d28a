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
//! [`affine`](super::affine).

mod column;
mod columns;

use core::ops::Range;

use super::super::buffer::{Output, Shared, as_slots};
use super::super::traits::{Accumulator, ElementType};
use super::abreast::Turned;
use super::affine::{Affine, AffineInputs};
use super::sink::{Room, Sink};
use super::{Block, View, Walk, WalkShape, run};

/// The gradients of a recurrence.
pub(crate) struct Adjoint<T> {
    pub(crate) of_values: Vec<T>,
    pub(crate) of_decay: Vec<T>,
    /// One element for each column.
    pub(crate) of_initial: Vec<T>,
}

/// Walks `flow` and `decay` along the axis of `lines`, which go against the order of the recurrence. The `results` of
/// the recurrence are contiguous; it began with `initial` if there is one, and with 0 otherwise.
///
/// # Panics
///
/// If an input has another shape.
pub(crate) fn recurrence_adjoint<T: ElementType>(
    flow: &View<'_, T>,
    decay: &View<'_, T>,
    results: &[T],
    initial: Option<&[T]>,
    lines: WalkShape,
) -> Adjoint<T> {
    let inputs = AffineInputs::new(flow, decay, lines);
    let columns = lines.outer * lines.inner;
    assert!(results.len() == lines.elements());
    assert!(initial.is_none_or(|initial| initial.len() == columns));
    let [mut of_values, mut of_decay] = [0; 2].map(|_| Output::new(lines.elements()));
    let mut of_initial = vec![T::from_acc(T::Acc::ZERO); columns];
    {
        let walked = inputs.lines;
        run(&Flows {
            inputs,
            results,
            before: View::contiguous(results, &lines).along(&walked),
            initial,
            of_values: Sink::new(of_values.slots(), walked),
            of_decay: Sink::new(of_decay.slots(), walked),
            of_initial: Shared::new(as_slots(&mut of_initial)),
        });
    }
    Adjoint {
        // SAFETY: the walk has written both results of every line of every column.
        of_values: unsafe { of_values.finish() },
        // SAFETY: as above.
        of_decay: unsafe { of_decay.finish() },
        of_initial,
    }
}

struct Flows<'a, T: ElementType> {
    inputs: AffineInputs<'a, T>,
    results: &'a [T],
    /// The results, by lines.
    before: View<'a, T>,
    initial: Option<&'a [T]>,
    of_values: Sink<'a, T>,
    of_decay: Sink<'a, T>,
    of_initial: Shared<'a, T>,
}

impl<T: ElementType> Walk for Flows<'_, T> {
    type State = Affine<T::Acc>;

    fn rounds(&self) -> bool {
        true
    }

    fn lines(&self) -> WalkShape {
        self.inputs.lines
    }

    fn identity(&self) -> Self::State {
        Affine::state(T::Acc::ZERO)
    }

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        self.inputs.fold::<true>(block, totals);
    }

    fn after(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        state.after(total)
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        let is_last = block.lines.end == self.lines().len;
        // SAFETY: the caller's promise.
        unsafe {
            if self.lines().are_rows() {
                self.walk_column(&block, &mut states[0], writes)
            } else {
                self.walk_columns(&block, states, writes)
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

impl<T: ElementType> Flows<'_, T> {
    /// The place of some columns in a tensor of one line for each plane.
    fn of_line(&self, plane: usize, columns: &Range<usize>) -> Range<usize> {
        let first = plane * self.lines().inner;
        first + columns.start..first + columns.end
    }

    /// The state that the recurrence began with in a column.
    fn first(&self, plane: usize, column: usize) -> T {
        let place = plane * self.lines().inner + column;
        let none = T::from_acc(T::Acc::ZERO);
        self.initial.map_or(none, |initial| initial[place])
    }

    /// The results of the recurrence one step before a line in memory.
    fn before<'b>(
        &'b self,
        block: &Block,
        line: usize,
        (of_before, room): (&'b mut Turned<T>, &'b mut Room<T>),
    ) -> &'b [T] {
        let lines = self.lines();
        let line = if lines.reverse {
            line.checked_sub(1)
        } else {
            Some(line + 1).filter(|&line| line < lines.len)
        };
        match line {
            Some(line) => (self.before).line(block.plane, line, block.columns.clone(), of_before),
            None => {
                let room = &mut room[..block.columns.len()];
                for (slot, column) in room.iter_mut().zip(block.columns.clone()) {
                    slot.write(self.first(block.plane, column));
                }
                // SAFETY: there are as many columns as slots.
                unsafe { room.assume_init_ref() }
            }
        }
    }
}
