//! The linear recurrence `h[t] = decay[t]·h[t−1] + value[t]`.
//!
//! If it `RESETS`, a decay of 0 forgets what is before it, even infinities and NaN: `h[t] = value[t]` there. Where
//! everything is finite, that makes no difference. Totals of pieces need not reflect it: where a total or a state is
//! not finite and could matter, the piece is walked.
//!
//! Several columns are walked side by side, as the formula says. A single column is walked one vector at a time, whose
//! elements are composed first, see [`affine`](super::affine).

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::Output;
use super::super::column_groups::column_groups;
use super::super::columns::lines::lines_of;
use super::super::element::TILE;
use super::super::lanes::{self, Kernel};
use super::super::processor::vectorize;
use super::super::traits::{Accumulator, ElementType, Lanes as Vector};
use super::abreast::Turned;
use super::affine::{Affine, AffineInputs, Rooms, Tile, is_moderate, side_by_side};
use super::sink::{Sink, room};
use super::{Block, View, Walk, WalkShape, run, short_recurrence};

/// Walks `values` and `decay` along the axis of `lines`, from `initial` of each column if there is one, and from 0
/// otherwise. If it `RESETS`, a decay of 0 forgets what is before it. The results are the states after each line, or
/// before it if `exclusive`; they are contiguous.
///
/// # Panics
///
/// If an input has another shape.
pub(crate) fn recurrence<T: ElementType, const RESETS: bool>(
    values: &View<'_, T>,
    decay: &View<'_, T>,
    initial: Option<&[T]>,
    exclusive: bool,
    lines: WalkShape,
) -> Vec<T> {
    let inputs = AffineInputs::new(values, decay, lines);
    assert!(initial.is_none_or(|initial| initial.len() == lines.outer * lines.inner));
    let mut output = Output::new(lines.elements());
    if initial.is_none()
        && short_recurrence::walk::<T, RESETS>(values, decay, output.slots(), exclusive, lines)
    {
        // SAFETY: all rows have been walked.
        return unsafe { output.finish() };
    }
    run(&Recurrence::<T, RESETS> {
        initial,
        exclusive,
        output: Sink::new(output.slots(), inputs.lines),
        inputs,
    });
    // SAFETY: the walk has written every line of every column.
    unsafe { output.finish() }
}

struct Recurrence<'a, T: ElementType, const RESETS: bool> {
    inputs: AffineInputs<'a, T>,
    initial: Option<&'a [T]>,
    exclusive: bool,
    output: Sink<'a, T>,
}

/// The state after an element: a selection, not a branch, so that loops over columns are vectorized.
#[inline(always)]
pub(super) fn state_after<A: Accumulator, const RESETS: bool>(before: A, decay: A, value: A) -> A {
    let after = decay.mul(before).add(value);
    if RESETS && decay == A::ZERO {
        value
    } else {
        after
    }
}

impl<T: ElementType, const RESETS: bool> Walk for Recurrence<'_, T, RESETS> {
    type State = Affine<T::Acc>;

    fn rounds(&self) -> bool {
        true
    }

    fn lines(&self) -> WalkShape {
        self.inputs.lines
    }

    fn begin(&self, plane: usize, columns: Range<usize>) -> Vec<Self::State> {
        let Some(initial) = self.initial else {
            return vec![self.identity(); columns.len()];
        };
        let first = plane * self.lines().inner;
        (initial[first + columns.start..first + columns.end].iter())
            .map(|initial| Affine::state(initial.to_acc()))
            .collect()
    }

    fn identity(&self) -> Self::State {
        Affine::state(T::Acc::ZERO)
    }

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        self.inputs.fold::<false>(block, totals);
    }

    fn after(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        state.after(total)
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        let lines = self.lines();
        if lines.are_rows() {
            // SAFETY: the caller's promise.
            return unsafe { self.walk_column(block, &mut states[0], writes) };
        }
        let exclusive = self.exclusive;
        let mut rooms = Rooms::<T>::default();
        let mut carries = [T::Acc::ZERO; TILE];
        let carries = side_by_side(states, &mut carries);
        let mut nowhere = Turned::default();
        for some in self.inputs.lines_of(&block) {
            let (line, columns) = lines.joined(&some, &block.columns);
            let at = (block.plane, line, &columns);
            let [values, decay] =
                (self.inputs).line(block.plane, line, &columns, &mut rooms.gathered);
            let decay = T::widen(decay, &mut rooms.of_decay);
            // SAFETY: the caller has these columns to itself, and each of them is written.
            unsafe {
                self.output.line(at, writes, &mut nowhere, &mut |output| {
                    T::map(values, output, &mut rooms.of_values, |values, output| {
                        let inputs = [decay, values];
                        walk_lines::<_, RESETS>(inputs, output, carries, exclusive, lines.reverse);
                    });
                });
            }
        }
        for (state, carry) in states.iter_mut().zip(&*carries) {
            *state = Affine::state(*carry);
        }
    }
}

/// Takes the carries through lines that lie one after the other, given the decays and the values.
fn walk_lines<A: Accumulator, const RESETS: bool>(
    [decay, values]: [&[A]; 2],
    output: &mut [MaybeUninit<A>],
    carries: &mut [A],
    exclusive: bool,
    reverse: bool,
) {
    vectorize(|| {
        let width = carries.len();
        for place in lines_of(values.len(), width, reverse) {
            let (decay, values) = (&decay[place.clone()], &values[place.clone()]);
            let output = &mut output[place];
            column_groups::<A>(width, reverse, |columns| {
                let elements = (decay[columns.clone()].iter())
                    .zip(&values[columns.clone()])
                    .zip(&mut output[columns.clone()]);
                let carries = &mut carries[columns];
                for (((&decay, &value), slot), carry) in elements.zip(carries) {
                    let before = *carry;
                    *carry = state_after::<_, RESETS>(before, decay, value);
                    slot.write(if exclusive { before } else { *carry });
                }
            });
        }
    });
}

impl<T: ElementType, const RESETS: bool> Recurrence<'_, T, RESETS> {
    /// # Safety
    ///
    /// As [`Walk::walk`].
    unsafe fn walk_column(&self, block: Block, state: &mut Affine<T::Acc>, writes: bool) {
        let lines = self.lines();
        let mut rooms = [room(), room()];
        let mut nowhere = room();
        for chunk in lines.chunks(block.lines.clone()) {
            // SAFETY: the caller has these lines to itself.
            let output = unsafe { self.output.chunk(block.plane, &chunk, writes, &mut nowhere) };
            let tile = self.inputs.tile(block.plane, chunk, &mut rooms);
            let scan = Chunk {
                tile,
                output,
                start: state.offset,
                exclusive: self.exclusive,
            };
            let h = if lines.reverse {
                lanes::run(Scan::<T, true, RESETS>(scan))
            } else {
                lanes::run(Scan::<T, false, RESETS>(scan))
            };
            *state = Affine::state(h);
        }
    }
}

/// A chunk of a single column, and where its results go.
struct Chunk<'a, 'b, T: ElementType> {
    tile: Tile<'a, T>,
    output: &'b mut [MaybeUninit<T>],
    start: T::Acc,
    exclusive: bool,
}

/// Walks a chunk, and returns the last `h`.
struct Scan<'a, 'b, T: ElementType, const REVERSE: bool, const RESETS: bool>(Chunk<'a, 'b, T>);

impl<T: ElementType, const REVERSE: bool, const RESETS: bool> Kernel<T>
    for Scan<'_, '_, T, REVERSE, RESETS>
{
    type Output = T::Acc;

    #[inline(always)]
    fn run<L: Vector<T>>(self, proof: L::Proof) -> T::Acc {
        let Chunk {
            tile,
            output,
            start,
            exclusive,
        } = self.0;
        assert!(output.len() == tile.len());
        let (from, rest) = tile.parts::<REVERSE>(L::COUNT);
        let count = (tile.len() - rest.len()) / L::COUNT;
        let zero = L::splat(proof, T::Acc::ZERO);
        let mut carry = L::splat(proof, start);
        // Zero times a number that is not finite is not zero.
        let mut seen = zero;
        let mut smallest = L::splat(proof, T::Acc::ONE);
        for step in 0..count {
            let vector = if REVERSE { count - 1 - step } else { step };
            let first = from + vector * L::COUNT;
            // SAFETY: the vector is one of the tile's, and the output is as long.
            unsafe {
                let (a, b, decay) = tile.composed::<L, REVERSE, false>(proof, first);
                smallest = smallest.min(decay.magnitude());
                seen = seen.add(a.mul(zero)).add(b.mul(zero));
                let h = a.mul(carry).add(b);
                if RESETS {
                    // Compositions multiply a state by 0 where it is forgotten.
                    seen = seen.add(h.mul(zero));
                }
                let shown = if exclusive { h.shift_in(carry) } else { h };
                carry = h.last();
                let shown = if REVERSE { shown.reversed() } else { shown };
                shown.store(output.as_mut_ptr().add(first).cast());
            }
        }
        let mut h = start;
        carry.for_each(|last| h = last);
        let was_finite = seen.all(|seen| seen == T::Acc::ZERO);
        let was_exact =
            was_finite && (is_moderate::<T, L>(smallest) || tile.composes(from, L::COUNT));
        let rest = if was_exact {
            rest
        } else {
            h = start;
            0..tile.len()
        };
        tile.each::<REVERSE>(rest, |at, decay, value| {
            let before = h;
            h = state_after::<_, RESETS>(before, decay, value);
            output[at].write(T::from_acc(if exclusive { before } else { h }));
        });
        h
    }
}
