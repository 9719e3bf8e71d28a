//! The walk through several columns, side by side.

use core::mem::MaybeUninit;

use super::super::super::column_groups::column_groups;
use super::super::super::element::TILE;
use super::super::super::processor::vectorize;
use super::super::super::traits::{Accumulator, ElementType};
use super::super::abreast::Turned;
use super::super::affine::{Affine, Rooms, side_by_side};
use super::super::sink::room;
use super::super::{Block, Walk};
use super::Flows;

impl<T: ElementType> Flows<'_, T> {
    /// # Safety
    ///
    /// As [`Walk::walk`].
    pub(super) unsafe fn walk_columns(
        &self,
        block: &Block,
        states: &mut [Affine<T::Acc>],
        writes: bool,
    ) {
        let lines = self.lines();
        let mut rooms = Rooms::<T>::default();
        let (mut of_before, mut room) = (Turned::default(), room());
        let [mut nowhere, mut nor_here] = [Turned::default(), Turned::default()];
        let [mut carries, mut flows] = [[T::Acc::ZERO; TILE]; 2];
        let carries = side_by_side(states, &mut carries);
        for line in block.lines.clone() {
            let line = lines.stored(line);
            let at = (block.plane, line, &block.columns);
            // SAFETY: the caller has these columns to itself, and each of them is written.
            unsafe {
                self.of_values
                    .line(at, writes, &mut nowhere, &mut |of_values| {
                        self.step(block, line, &mut rooms, carries, &mut flows, of_values);
                    });
            }
            if writes {
                let before = self.before(block, line, (&mut of_before, &mut room));
                // SAFETY: as above.
                unsafe {
                    self.of_decay
                        .line(at, true, &mut nor_here, &mut |of_decay| {
                            let scratch = &mut rooms.of_values;
                            T::map(before, of_decay, scratch, |before, of_decay| {
                                multiply(before, &flows, of_decay, lines.reverse);
                            });
                        });
                }
            }
        }
        for (state, carry) in states.iter_mut().zip(&*carries) {
            *state = Affine::state(*carry);
        }
    }

    /// Takes the carries `u` through a line in memory. Stores `g` in `flows` and in `of_values`.
    fn step(
        &self,
        block: &Block,
        line: usize,
        rooms: &mut Rooms<T>,
        carries: &mut [T::Acc],
        flows: &mut [T::Acc; TILE],
        of_values: &mut [MaybeUninit<T>],
    ) {
        let reverse = self.lines().reverse;
        let [flow, decay] =
            self.inputs
                .line(block.plane, line, &block.columns, &mut rooms.gathered);
        let decay = T::widen(decay, &mut rooms.of_decay);
        T::map(flow, of_values, &mut rooms.of_values, |flow, of_values| {
            walk_line([decay, flow], of_values, carries, flows, reverse);
        });
    }
}

/// Takes the carries through a line, given the decays and the flow.
fn walk_line<A: Accumulator>(
    [decay, flow]: [&[A]; 2],
    of_values: &mut [MaybeUninit<A>],
    carries: &mut [A],
    flows: &mut [A; TILE],
    reverse: bool,
) {
    vectorize(|| {
        column_groups::<A>(carries.len(), reverse, |columns| {
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
}

/// Writes `g·h` of each column.
fn multiply<A: Accumulator>(
    results: &[A],
    flows: &[A; TILE],
    of_decay: &mut [MaybeUninit<A>],
    reverse: bool,
) {
    vectorize(|| {
        column_groups::<A>(results.len(), reverse, |columns| {
            let slots = &mut of_decay[columns.clone()];
            let factors = results[columns.clone()].iter().zip(&flows[columns]);
            for (slot, (&h, &g)) in slots.iter_mut().zip(factors) {
                slot.write(g.mul(h));
            }
        });
    });
}
