//! An output of a walk: contiguous, or nowhere while a walk only finds its states.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::Shared;
use super::super::element::TILE;
use super::WalkShape;
use super::abreast::Turned;

/// Room for a line, or for a chunk of the only column.
pub(super) type Room<T> = [MaybeUninit<T>; TILE];

pub(super) fn room<T>() -> Room<T> {
    [const { MaybeUninit::uninit() }; TILE]
}

pub(super) struct Sink<'a, T> {
    slots: Shared<'a, T>,
    lines: WalkShape,
}

impl<'a, T: Copy> Sink<'a, T> {
    pub(super) fn new(slots: &'a mut [MaybeUninit<T>], lines: WalkShape) -> Self {
        Self {
            slots: Shared::new(slots),
            lines,
        }
    }

    /// Lets `fill` write some columns of a line in memory, each of them; to `room` alone unless the walk `writes`.
    ///
    /// # Safety
    ///
    /// If the walk writes, no other thread has access to these columns of the output, and a `room` serves the lines of
    /// one block, each of them once. `fill` writes each slot.
    pub(super) unsafe fn line(
        &self,
        (plane, line, columns): (usize, usize, &Range<usize>),
        writes: bool,
        room: &mut Turned<T>,
        fill: &mut dyn FnMut(&mut [MaybeUninit<T>]),
    ) {
        if !writes {
            return fill(&mut room.room()[..columns.len()]);
        }
        // SAFETY: the caller's promise.
        let slots = |range| unsafe { self.slots.slice(range) };
        let WalkShape { len, abreast, .. } = self.lines;
        match abreast {
            None => fill(slots(self.lines.place(plane, line, columns))),
            Some(size) => {
                let planes = slots(columns.start * len..columns.end * len);
                // SAFETY: a walk has one block, takes each of its lines once, and `fill` writes each slot.
                unsafe { room.fill([len, size], line, fill, planes) }
            }
        }
    }

    /// Lets `fill` write some lines of a column, each of them; to `room` alone unless the walk `writes`.
    ///
    /// # Safety
    ///
    /// As [`line`](Self::line).
    pub(super) unsafe fn column(
        &self,
        (plane, column, lines): (usize, usize, &Range<usize>),
        writes: bool,
        room: &mut Room<T>,
        fill: impl FnOnce(&mut [MaybeUninit<T>]),
    ) {
        let WalkShape { len, inner, .. } = self.lines;
        let is_only = inner == 1;
        let slots = if is_only {
            // SAFETY: the caller's promise.
            unsafe { self.chunk(plane, lines, writes, room) }
        } else {
            &mut room[..lines.len()]
        };
        fill(slots);
        if writes && !is_only {
            let mut place = (plane * len + lines.start) * inner + column;
            for &value in &room[..lines.len()] {
                // SAFETY: the caller's promise.
                unsafe { self.slots.set(place, value) };
                place += inner;
            }
        }
    }

    /// The slots of a chunk of the only column; those of `room` unless the walk `writes`.
    ///
    /// # Safety
    ///
    /// If the walk writes, no other thread has access to these slots of the output.
    pub(super) unsafe fn chunk<'b>(
        &'b self,
        plane: usize,
        chunk: &Range<usize>,
        writes: bool,
        room: &'b mut Room<T>,
    ) -> &'b mut [MaybeUninit<T>] {
        if writes {
            // SAFETY: the caller's promise.
            unsafe { self.slots.slice(self.lines.chunk(plane, chunk)) }
        } else {
            &mut room[..chunk.len()]
        }
    }
}
