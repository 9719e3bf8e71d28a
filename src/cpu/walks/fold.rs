//! Scans of segments, and of operators whose state is more than an element.
//!
//! A state remembers whether a segment began in what it stands for (Schwartz 1980; Blelloch 1990): what comes before then does not reach it.
//! Without segments nothing begins.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::super::buffer::{Output, Shared};
use super::super::element::{Accumulator, Element, TILE};
use super::super::lanes::{self, Kernel, Lanes};
use super::super::operator::Operator;
use super::super::simd::vectorize;
use super::{Block, Lines, View, Walk, run};

/// What is accumulated, from elements held as `A`.
pub(crate) trait Fold<A>: Sync {
    type State: Copy + Send + Sync;

    /// Of no elements.
    const NOTHING: Self::State;

    fn read(element: A) -> Self::State;
    fn join(left: Self::State, right: Self::State) -> Self::State;
    fn value(state: Self::State) -> A;

    /// Whether joining `right` stands for joining its elements one by one.
    fn is_regular(left: Self::State, right: Self::State) -> bool;

    /// Of all elements, in an order of its own.
    fn of_all(elements: &[A]) -> Self::State;

    /// Joins an element to each state.
    fn add_all(states: &mut [Self::State], elements: &[A]);
}

/// Elements themselves, by one of the four operators.
pub(crate) struct Plain<O>(PhantomData<O>);

impl<A: Accumulator, O: Operator<A>> Fold<A> for Plain<O> {
    type State = A;

    const NOTHING: A = O::IDENTITY;

    #[inline(always)]
    fn read(element: A) -> A {
        element
    }

    #[inline(always)]
    fn join(left: A, right: A) -> A {
        O::combine(left, right)
    }

    #[inline(always)]
    fn value(state: A) -> A {
        state
    }

    #[inline(always)]
    fn is_regular(left: A, right: A) -> bool {
        O::is_regular(left, right)
    }

    #[inline(always)]
    fn of_all(elements: &[A]) -> A {
        lanes::run::<A, _>(Total::<A, O>(elements, PhantomData))
    }

    #[inline(always)]
    fn add_all(states: &mut [A], elements: &[A]) {
        vectorize(
            #[inline(always)]
            || {
                for (state, &element) in states.iter_mut().zip(elements) {
                    *state = O::combine(*state, element);
                }
            },
        );
    }
}

/// Totals that [`Total`] keeps apart, which hides the latency of the operator: four vectors of `f32`.
const APART: usize = 32;

/// Fewer of them, for what is left behind the last group.
const FEWER: usize = 8;

/// The total of some elements: every thirty-second one on its own, then these in pairs, then the few that are left.
///
/// In lanes, since a loop over an array of totals becomes pairs of floats: the compiler takes the pairs of the end for those of the loop. It took
/// three times as long.
struct Total<'a, A, O>(&'a [A], PhantomData<O>);

impl<A: Accumulator, O: Operator<A>> Kernel<A> for Total<'_, A, O> {
    type Output = A;

    #[inline(always)]
    fn run<L: Lanes<A>>(self) -> A {
        const {
            assert!(FEWER % L::COUNT == 0 && APART % FEWER == 0);
        }
        // As many as there are of the fewest lanes; lanes of two are not.
        let mut totals = [L::splat(O::IDENTITY); APART / 4];
        let add = |totals: &mut [L], elements: &[A]| {
            for (total, vector) in totals.iter_mut().zip(elements.chunks_exact(L::COUNT)) {
                // SAFETY: a vector has `COUNT` elements.
                *total = O::combine_lanes(*total, unsafe { L::load(vector.as_ptr()) });
            }
        };
        let (groups, rest) = self.0.as_chunks::<APART>();
        for group in groups {
            add(&mut totals[..APART / L::COUNT], group);
        }
        let (vectors, rest) = rest.as_chunks::<FEWER>();
        for vector in vectors {
            add(&mut totals[..FEWER / L::COUNT], vector);
        }
        let mut apart = APART / L::COUNT;
        while apart > 1 {
            apart /= 2;
            for at in 0..apart {
                totals[at] = O::combine_lanes(totals[at], totals[at + apart]);
            }
        }
        let mut lanes = [O::IDENTITY; FEWER];
        let mut filled = 0;
        totals[0].for_each(|lane| {
            lanes[filled] = lane;
            filled += 1;
        });
        let mut apart = L::COUNT;
        while apart > 1 {
            apart /= 2;
            for at in 0..apart {
                lanes[at] = O::combine(lanes[at], lanes[at + apart]);
            }
        }
        rest.iter()
            .fold(lanes[0], |total, &element| O::combine(total, element))
    }
}

/// Scans `values` along the axis of `lines`, each segment on its own where `starts` says where one begins in the order of memory. The result is
/// contiguous.
///
/// # Panics
///
/// If an input has another shape.
pub(crate) fn fold_scan<T: Element, F: Fold<T::Acc>>(
    values: &View<'_, T>,
    starts: Option<&View<'_, u8>>,
    exclusive: bool,
    lines: Lines,
) -> Vec<T> {
    assert!(values.fits(&lines) && starts.is_none_or(|starts| starts.fits(&lines)));
    let mut output = Output::new(lines.elements());
    run(&FoldScan::<T, F> {
        values,
        starts,
        exclusive,
        output: Shared::new(output.slots()),
        lines,
        fold: PhantomData,
    });
    // SAFETY: every line of every column has had its result written.
    unsafe { output.finish() }
}

struct FoldScan<'a, T: Element, F> {
    values: &'a View<'a, T>,
    starts: Option<&'a View<'a, u8>>,
    exclusive: bool,
    output: Shared<'a, T>,
    lines: Lines,
    fold: PhantomData<F>,
}

/// What was accumulated since the last segment began, if one did.
#[derive(Clone, Copy)]
struct Since<S> {
    began: bool,
    state: S,
}

impl<T: Element, F: Fold<T::Acc>> FoldScan<'_, T, F> {
    const NOTHING: Since<F::State> = Since {
        began: false,
        state: F::NOTHING,
    };

    /// The line that tells whether a segment of the walk begins at a line in memory: in reverse the one behind it.
    fn telling(&self, line: usize) -> Option<usize> {
        match self.lines.reverse {
            false => Some(line),
            true => (line + 1 < self.lines.len).then_some(line + 1),
        }
    }
}

impl<T: Element, F: Fold<T::Acc>> Walk for FoldScan<'_, T, F> {
    type State = Since<F::State>;

    fn lines(&self) -> Lines {
        self.lines
    }

    fn begin(&self, _plane: usize, _column: usize) -> Self::State {
        Self::NOTHING
    }

    fn identity(&self) -> Self::State {
        Self::NOTHING
    }

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        // SAFETY: nothing is written.
        unsafe { self.walk(block, totals, false) };
    }

    fn behind(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        if total.began {
            return Some(total);
        }
        F::is_regular(state.state, total.state).then(|| Since {
            began: state.began,
            state: F::join(state.state, total.state),
        })
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        let mut room = [T::from_acc(T::Acc::ZERO); TILE];
        let mut starts_room = [0; TILE];
        let mut nowhere = [const { MaybeUninit::uninit() }; TILE];
        let Block {
            plane,
            lines,
            columns,
        } = block;
        for line in lines {
            let line = self.lines.stored(line);
            let values = self.values.line(plane, line, columns.clone(), &mut room);
            let starts = self
                .starts
                .zip(self.telling(line))
                .map(|(starts, line)| starts.line(plane, line, columns.clone(), &mut starts_room));
            let output = match writes {
                // SAFETY: the caller has these columns to itself.
                true => unsafe { self.output.slice(self.lines.place(plane, line, &columns)) },
                false => &mut nowhere[..values.len()],
            };
            for (column, (state, slot)) in states.iter_mut().zip(output).enumerate() {
                let starts = starts.is_some_and(|starts| starts[column] != 0);
                let before = if starts { F::NOTHING } else { state.state };
                let with = F::join(before, F::read(values[column].to_acc()));
                *state = Since {
                    began: state.began | starts,
                    state: with,
                };
                if writes {
                    let shown = if self.exclusive { before } else { with };
                    slot.write(T::from_acc(F::value(shown)));
                }
            }
        }
    }
}
