//! Strips: columns of a plane that are compacted together, all of them if they are few.

use core::ops::Range;

use super::super::compress::Word;
use super::super::parallel;
use super::super::row_major::BLOCK;
use super::{Lines, fill_zero};

/// Most columns of a strip. With 64 [2048, 2048] takes 1.3 to 1.9 times as long: lines of many pages are read in pieces.
pub(super) const WIDEST: usize = 512;

/// A strip is a multiple of this many columns wide, unless it ends the plane: tiles have whole cache lines.
const STEP: usize = 64;

/// The columns of a strip, of `inner` in a plane.
pub(super) fn width(inner: usize) -> usize {
    let strips = inner.div_ceil(WIDEST);
    inner.div_ceil(strips).next_multiple_of(STEP).min(inner)
}

#[derive(Clone, Copy)]
pub(super) struct Strip {
    /// The first element.
    pub(super) first: usize,
    /// The first column, among those of all planes.
    pub(super) column: usize,
    pub(super) width: usize,
}

impl<T: Word> Lines<'_, T> {
    /// How many strips there are.
    pub(super) fn strips(&self) -> usize {
        self.outer * self.inner.div_ceil(self.width)
    }

    pub(super) fn strip(&self, at: usize) -> Strip {
        let strips = self.inner.div_ceil(self.width);
        let (plane, column) = (at / strips, at % strips * self.width);
        Strip {
            first: plane * self.len * self.inner + column,
            column: plane * self.inner + column,
            width: self.width.min(self.inner - column),
        }
    }

    /// Calls `body` with the numbers of some strips that are worth a task.
    pub(super) fn for_each_task(&self, body: &(dyn Fn(Range<usize>) + Sync)) {
        let strips = self.strips();
        let share = BLOCK.div_ceil(self.len * self.width);
        parallel::for_each_of(self.values.len(), strips.div_ceil(share), 1, &|task| {
            body(task * share..strips.min((task + 1) * share));
        });
    }

    /// Where a line of a strip begins.
    pub(super) fn place(&self, strip: Strip, line: usize) -> usize {
        strip.first + line * self.inner
    }

    /// Writes zeros after the survivors of each column, in some lines: into all columns if there is no count of any.
    ///
    /// # Safety
    ///
    /// No other thread has access to the output in these lines of the strip.
    pub(super) unsafe fn clear_rest(&self, strip: Strip, part: Range<usize>, kept: &[usize]) {
        let fewest = kept.iter().copied().min().unwrap_or(0);
        let most = kept.iter().copied().max().unwrap_or(0);
        let most = most.clamp(part.start, part.end);
        // SAFETY: the caller's promise.
        let slots = |first: usize, count| unsafe { self.output.slice(first..first + count) };
        for line in fewest.max(part.start)..most {
            let slots = slots(self.place(strip, line), strip.width);
            for (slot, &kept) in slots.iter_mut().zip(kept) {
                if kept <= line {
                    slot.write(T::default());
                }
            }
        }
        // Lines without survivors are one where they lie side by side.
        let empty = part.end - most;
        let at_once = if strip.width == self.inner { empty } else { 1 };
        for line in (most..part.end).step_by(at_once.max(1)) {
            fill_zero(slots(self.place(strip, line), at_once * strip.width));
        }
    }
}
