//! A part of a row, as a walk goes through it.

use core::mem::MaybeUninit;

/// Neighbouring elements of a row, and room for their results, or none if the walk only finds its state. They are in the
/// order of memory; a step is a place in the order of the walk.
pub(crate) struct RowPart<'a, A> {
    pub(super) elements: &'a [A],
    /// Where segments start; nothing past the end starts.
    pub(super) starts: &'a [u8],
    pub(super) reverse: bool,
    pub(super) exclusive: bool,
    pub(super) slots: &'a mut [MaybeUninit<A>],
}

impl<A: Copy> RowPart<'_, A> {
    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }

    /// The place of a step.
    #[inline(always)]
    pub(super) fn at(&self, step: usize) -> usize {
        if self.reverse {
            self.len() - 1 - step
        } else {
            step
        }
    }

    #[inline(always)]
    pub(super) fn starts_at(&self, step: usize) -> bool {
        self.starts
            .get(self.at(step))
            .is_some_and(|&start| start != 0)
    }

    /// The first step at which a segment starts, or how many steps there are.
    pub(super) fn first_start(&self) -> usize {
        let len = self.len();
        match self.starts {
            [] => len,
            _ => (0..len).find(|&step| self.starts_at(step)).unwrap_or(len),
        }
    }

    /// The elements in the order of the walk, in `room` if that is not their order in memory.
    pub(super) fn in_order<'r>(&self, room: &'r mut [A]) -> &'r [A]
    where
        Self: 'r,
    {
        if !self.reverse {
            return self.elements;
        }
        room.copy_from_slice(self.elements);
        room.reverse();
        room
    }

    /// The first `steps` of the walk, and the others.
    pub(super) fn split(self, steps: usize) -> (Self, Self) {
        let at = if self.reverse {
            self.len() - steps
        } else {
            steps
        };
        let elements = self.elements.split_at(at);
        let starts = self.starts.split_at(at.min(self.starts.len()));
        let slots = self.slots.split_at_mut(at.min(self.slots.len()));
        let part = |elements, starts, slots| Self {
            elements,
            starts,
            slots,
            ..self
        };
        let low = part(elements.0, starts.0, slots.0);
        let high = part(elements.1, starts.1, slots.1);
        if self.reverse {
            (high, low)
        } else {
            (low, high)
        }
    }
}
