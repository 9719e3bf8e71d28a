//! The walk through a single column, in lanes.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::super::lanes::{self, Kernel};
use super::super::super::traits::{Accumulator, ElementType, Lanes as Vector};
use super::super::affine::{Affine, Tile, is_moderate};
use super::super::sink::{Room, room};
use super::super::{Block, Walk};
use super::Flows;

impl<T: ElementType> Flows<'_, T> {
    /// The results of the recurrence one step before each line of a chunk of the only column.
    fn before_chunk<'b>(
        &'b self,
        plane: usize,
        chunk: &Range<usize>,
        room: &'b mut Room<T>,
    ) -> &'b [T] {
        let lines = self.lines();
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

    /// # Safety
    ///
    /// As [`Walk::walk`].
    pub(super) unsafe fn walk_column(
        &self,
        block: &Block,
        state: &mut Affine<T::Acc>,
        writes: bool,
    ) {
        let lines = self.lines();
        let mut rooms = [room(), room()];
        let mut of_before = room();
        let [mut nowhere, mut nor_here] = [room(), room()];
        for chunk in lines.chunks(block.lines.clone()) {
            let plane = block.plane;
            // SAFETY: the caller has these lines to itself.
            let (of_values, of_decay) = unsafe {
                (
                    self.of_values.chunk(plane, &chunk, writes, &mut nowhere),
                    self.of_decay.chunk(plane, &chunk, writes, &mut nor_here),
                )
            };
            let step = Step {
                before: self.before_chunk(plane, &chunk, &mut of_before),
                tile: self.inputs.tile(plane, chunk, &mut rooms),
                of_values,
                of_decay,
                start: state.offset,
            };
            state.offset = if lines.reverse {
                lanes::run(Scan::<T, true>(step))
            } else {
                lanes::run(Scan::<T, false>(step))
            };
        }
    }
}

/// A chunk of a single column, and where its results go.
struct Step<'a, 'b, T: ElementType> {
    tile: Tile<'a, T>,
    before: &'a [T],
    of_values: &'b mut [MaybeUninit<T>],
    of_decay: &'b mut [MaybeUninit<T>],
    start: T::Acc,
}

/// Walks a chunk, and returns the last `u`.
struct Scan<'a, 'b, T: ElementType, const REVERSE: bool>(Step<'a, 'b, T>);

impl<T: ElementType, const REVERSE: bool> Kernel<T> for Scan<'_, '_, T, REVERSE> {
    type Output = T::Acc;

    #[inline(always)]
    fn run<L: Vector<T>>(self, proof: L::Proof) -> T::Acc {
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
        let zero = L::splat(proof, T::Acc::ZERO);
        let mut carry = L::splat(proof, start);
        // Zero times a number that is not finite is not zero.
        let mut seen = zero;
        let mut smallest = L::splat(proof, T::Acc::ONE);
        let ordered = |lanes: L| if REVERSE { lanes.reversed() } else { lanes };
        for step in 0..count {
            let vector = if REVERSE { count - 1 - step } else { step };
            let first = from + vector * L::COUNT;
            // SAFETY: the vector is one of the tile's, and the other slices are as long.
            unsafe {
                let (a, b, decay) = tile.composed::<L, REVERSE, true>(proof, first);
                smallest = smallest.min(decay.magnitude());
                seen = seen.add(a.mul(zero)).add(b.mul(zero));
                let u = a.mul(carry).add(b);
                let next = ordered(u.shift_in(carry));
                carry = u.last();
                let g = L::load(proof, tile.values.as_ptr().add(first)).add(next);
                g.store(of_values.as_mut_ptr().add(first).cast());
                let before = L::load(proof, before.as_ptr().add(first));
                g.mul(before).store(of_decay.as_mut_ptr().add(first).cast());
            }
        }
        let mut u = start;
        carry.for_each(|last| u = last);
        let was_finite = seen.all(|seen| seen == T::Acc::ZERO);
        let was_exact =
            was_finite && (is_moderate::<T, L>(smallest) || tile.composes(from, L::COUNT));
        let rest = if was_exact {
            rest
        } else {
            u = start;
            0..len
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
