//! The linear recurrence `h[t] = decay[t]·h[t−1] + value[t]`, and its gradient, see [`adjoint`](super::adjoint).
//!
//! If it `RESETS`, a product of 0 is 0: a decay of 0 forgets what is before it, even infinities and NaN, and a state of 0
//! passes decays that are infinite or NaN. Where everything is finite, that makes no difference. Totals of pieces need not reflect it: where a total or a state is
//! not finite and could matter, the piece is walked.
//!
//! Several columns are walked side by side, as the formula says. A single column is walked one vector at a time, whose
//! elements are composed first, see [`affine`](super::affine).

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::{Output, Shared, as_slots};
use super::super::column_groups::column_groups;
use super::super::columns::lines::lines_of;
use super::super::element::TILE;
use super::super::lanes::{self, Kernel};
use super::super::processor::vectorize;
use super::super::traits::{Accumulator, ElementType, Lanes as Vector};
use super::abreast::Turned;
use super::adjoint::{Adjoint, Gradient, GradientRooms};
use super::affine::{Affine, AffineInputs, Rooms, Tile, is_moderate, side_by_side, state_after};
use super::sink::{Room, Sink, room};
use super::{Block, View, Walk, WalkShape, run, short_recurrence, states_of};

/// Walks `values` and `decay` along the axis of `lines`, from `initial` of each column if there is one, and from 0
/// otherwise. If it `RESETS`, products of 0 are 0. The results are the states after each line, or
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
    run(&Recurrence::<T, RESETS, false> {
        initial,
        exclusive,
        output: Sink::new(output.slots(), inputs.lines),
        inputs,
        gradient: None,
    });
    // SAFETY: the walk has written every line of every column.
    unsafe { output.finish() }
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
    let walked = inputs.lines;
    run(&Recurrence::<T, false, true> {
        initial: None,
        exclusive: false,
        output: Sink::new(of_values.slots(), walked),
        inputs,
        gradient: Some(Gradient {
            results,
            before: View::contiguous(results, &lines).along(&walked),
            initial,
            of_decay: Sink::new(of_decay.slots(), walked),
            of_initial: Shared::new(as_slots(&mut of_initial)),
            lines: walked,
        }),
    });
    Adjoint {
        // SAFETY: the walk has written both results of every line of every column.
        of_values: unsafe { of_values.finish() },
        // SAFETY: as above.
        of_decay: unsafe { of_decay.finish() },
        of_initial,
    }
}

/// A recurrence, or the walk of its gradient if it is `ADJOINT`.
struct Recurrence<'a, T: ElementType, const RESETS: bool, const ADJOINT: bool> {
    inputs: AffineInputs<'a, T>,
    initial: Option<&'a [T]>,
    exclusive: bool,
    output: Sink<'a, T>,
    gradient: Option<Gradient<'a, T>>,
}

/// The state after an element, and the result there.
#[inline(always)]
fn step<A: Accumulator, const RESETS: bool, const ADJOINT: bool>(
    before: A,
    decay: A,
    value: A,
    exclusive: bool,
) -> (A, A) {
    if ADJOINT {
        let g = value.add(before);
        return (decay.mul(g), g);
    }
    let after = state_after::<A, RESETS>(before, decay, value);
    (after, if exclusive { before } else { after })
}

impl<T: ElementType, const RESETS: bool, const ADJOINT: bool> Walk
    for Recurrence<'_, T, RESETS, ADJOINT>
{
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
        states_of(initial, self.lines().inner, plane, columns, Affine::state)
    }

    fn identity(&self) -> Self::State {
        Affine::state(T::Acc::ZERO)
    }

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        self.inputs.fold::<ADJOINT>(block, totals);
    }

    fn after(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        // A decay of 0 may forget the state.
        let is_left = RESETS && !state.is_finite();
        if is_left { None } else { state.after(total) }
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.lines().are_rows() {
                self.walk_column(&block, &mut states[0], writes);
            } else {
                self.walk_columns(&block, states, writes);
            }
            if let Some(gradient) = &self.gradient
                && writes
            {
                gradient.end(&block, states);
            }
        }
    }
}

impl<T: ElementType, const RESETS: bool, const ADJOINT: bool> Recurrence<'_, T, RESETS, ADJOINT> {
    /// # Safety
    ///
    /// As [`Walk::walk`].
    unsafe fn walk_columns(&self, block: &Block, states: &mut [Affine<T::Acc>], writes: bool) {
        let (lines, exclusive) = (self.lines(), self.exclusive);
        let mut rooms = Rooms::<T>::default();
        let mut nowhere = Turned::default();
        let mut flows = room();
        let mut of_gradient = GradientRooms::default();
        let mut carries = [T::Acc::ZERO; TILE];
        let carries = side_by_side(states, &mut carries);
        for some in self.inputs.lines_of(block, !ADJOINT) {
            let (line, columns) = lines.joined(&some, &block.columns);
            let at = (block.plane, line, &columns);
            let [values, decay] =
                (self.inputs).line(block.plane, line, &columns, &mut rooms.gathered);
            let decay = T::widen(decay, &mut rooms.of_decay);
            // SAFETY: the caller has these columns to itself, and each of them is written.
            unsafe {
                self.output.line(at, writes, &mut nowhere, &mut |output| {
                    T::map(values, output, &mut rooms.of_values, |values, output| {
                        let (inputs, outputs) = ([decay, values], (output, &mut flows));
                        walk_lines::<_, RESETS, ADJOINT>(
                            inputs,
                            outputs,
                            carries,
                            exclusive,
                            lines.reverse,
                        );
                    });
                });
            }
            if ADJOINT
                && writes
                && let Some(gradient) = &self.gradient
            {
                // SAFETY: as above. The walk through the line has written the flow of each column.
                unsafe {
                    let flows = flows[..columns.len()].assume_init_ref();
                    gradient.write_line(at, flows, &mut of_gradient, &mut rooms.of_values);
                }
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
        let (lines, plane) = (self.lines(), block.plane);
        let (mut rooms, mut of_before) = ([room(), room()], room());
        let [mut nowhere, mut nor_here] = [room(), room()];
        for chunk in lines.chunks(block.lines.clone()) {
            // SAFETY: the caller has these lines to itself.
            let output = unsafe { self.output.chunk(plane, &chunk, writes, &mut nowhere) };
            let (results, of_decay) = match &self.gradient {
                Some(gradient) if ADJOINT => (
                    gradient.before_chunk(plane, &chunk, &mut of_before),
                    // SAFETY: as above.
                    unsafe { (gradient.of_decay).chunk(plane, &chunk, writes, &mut nor_here) },
                ),
                _ => Default::default(),
            };
            let scan = Chunk {
                tile: self.inputs.tile(plane, chunk, &mut rooms),
                output,
                results,
                of_decay,
                start: state.offset,
                exclusive: self.exclusive,
            };
            let h = if lines.reverse {
                lanes::run(Scan::<T, true, RESETS, ADJOINT>(scan))
            } else {
                lanes::run(Scan::<T, false, RESETS, ADJOINT>(scan))
            };
            *state = Affine::state(h);
        }
    }
}

/// Takes the carries through lines that lie one after the other, given the decays and the values. An adjoint takes a
/// single line, and writes its results to `flows`, too.
fn walk_lines<A: Accumulator, const RESETS: bool, const ADJOINT: bool>(
    [decay, values]: [&[A]; 2],
    (output, flows): (&mut [MaybeUninit<A>], &mut Room<A>),
    carries: &mut [A],
    exclusive: bool,
    reverse: bool,
) {
    vectorize!({
        let width = if ADJOINT { values.len() } else { carries.len() };
        for place in lines_of(values.len(), width, reverse) {
            let (decay, values) = (&decay[place.clone()], &values[place.clone()]);
            let output = &mut output[place];
            column_groups::<A>(width, reverse, |columns| {
                let elements = (decay[columns.clone()].iter())
                    .zip(&values[columns.clone()])
                    .zip(&mut output[columns.clone()]);
                let carried = carries[columns.clone()].iter_mut().zip(&mut flows[columns]);
                for (((&decay, &value), slot), (carry, flow)) in elements.zip(carried) {
                    let (after, shown) =
                        step::<_, RESETS, ADJOINT>(*carry, decay, value, exclusive);
                    *carry = after;
                    if ADJOINT {
                        flow.write(shown);
                    }
                    slot.write(shown);
                }
            });
        }
    });
}

/// A chunk of a single column, and where its results go. An adjoint also has the results of the recurrence one step
/// before.
struct Chunk<'a, 'b, T: ElementType> {
    tile: Tile<'a, T>,
    output: &'b mut [MaybeUninit<T>],
    results: &'a [T],
    of_decay: &'b mut [MaybeUninit<T>],
    start: T::Acc,
    exclusive: bool,
}

/// Walks a chunk, and returns the last `h`.
struct Scan<'a, 'b, T: ElementType, const REVERSE: bool, const RESETS: bool, const ADJOINT: bool>(
    Chunk<'a, 'b, T>,
);

impl<T: ElementType, const REVERSE: bool, const RESETS: bool, const ADJOINT: bool> Kernel<T>
    for Scan<'_, '_, T, REVERSE, RESETS, ADJOINT>
{
    type Output = T::Acc;

    #[inline(always)]
    fn run<L: Vector<T>>(self, proof: L::Proof) -> T::Acc {
        let Chunk {
            tile,
            output,
            results,
            of_decay,
            start,
            exclusive,
        } = self.0;
        let len = tile.len();
        assert!(output.len() == len);
        assert!(!ADJOINT || results.len() == len && of_decay.len() == len);
        let (from, rest) = tile.parts::<REVERSE>(L::COUNT);
        let count = (len - rest.len()) / L::COUNT;
        let zero = L::splat(proof, T::Acc::ZERO);
        let mut carry = L::splat(proof, start);
        // Zero times a number that is not finite is not zero.
        let mut seen = zero;
        let mut smallest = L::splat(proof, T::Acc::ONE);
        for step in 0..count {
            let vector = if REVERSE { count - 1 - step } else { step };
            let first = from + vector * L::COUNT;
            // SAFETY: the vector is one of the tile's, and the other slices are as long.
            unsafe {
                let (a, b, decay) = tile.composed::<L, REVERSE, ADJOINT>(proof, first);
                smallest = smallest.min(decay.magnitude());
                seen = seen.add(a.mul(zero)).add(b.mul(zero));
                let h = a.mul(carry).add(b);
                if RESETS {
                    // Compositions multiply a state by 0 where it is forgotten.
                    seen = seen.add(h.mul(zero));
                }
                let is_before = ADJOINT || exclusive;
                let shown = if is_before { h.shift_in(carry) } else { h };
                carry = h.last();
                let mut shown = if REVERSE { shown.reversed() } else { shown };
                if ADJOINT {
                    shown = L::load(proof, tile.values.as_ptr().add(first)).add(shown);
                }
                shown.store(output.as_mut_ptr().add(first).cast());
                if ADJOINT {
                    let results = L::load(proof, results.as_ptr().add(first));
                    let of_decay = of_decay.as_mut_ptr().add(first);
                    shown.mul(results).store(of_decay.cast());
                }
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
            0..len
        };
        tile.each::<REVERSE>(rest, |at, decay, value| {
            let (after, shown) = step::<_, RESETS, ADJOINT>(h, decay, value, exclusive);
            h = after;
            output[at].write(T::from_acc(shown));
            if ADJOINT {
                of_decay[at].write(T::from_acc(shown.mul(results[at].to_acc())));
            }
        });
        h
    }
}
