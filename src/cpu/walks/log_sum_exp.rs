//! The logarithm of a running sum of exponentials, stable for any range.
//!
//! The state is the largest element so far and the sum of `exp(x − largest)` (Milakov & Gimelshein, "Online normalizer calculation for
//! softmax", 2018). It takes in an element with one exponential: of the two factors one is 1.

use core::mem::MaybeUninit;

use super::super::buffer::{Output, Shared};
use super::super::element::{Accumulator, Element, TILE};
use super::{Block, Lines, View, Walk, run};

/// Numbers with exponentials.
pub(crate) trait Real: Accumulator {
    fn sub(self, other: Self) -> Self;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
}

macro_rules! real {
    ($($T:ty),*) => {$(
        impl Real for $T {
            fn sub(self, other: Self) -> Self {
                self - other
            }
            fn exp(self) -> Self {
                <$T>::exp(self)
            }
            fn ln(self) -> Self {
                <$T>::ln(self)
            }
        }
    )*};
}

real!(f32, f64);

/// Scans `values` along the axis of `lines`: −∞ where nothing but −∞ was met, and NaN from the first NaN on. The result is contiguous.
///
/// # Panics
///
/// If the values have another shape.
pub(crate) fn log_sum_exp<T: Element<Acc: Real>>(
    values: &View<'_, T>,
    exclusive: bool,
    lines: Lines,
) -> Vec<T> {
    assert!(values.fits(&lines));
    let mut output = Output::new(lines.elements());
    run(&LogSumExp {
        values,
        exclusive,
        output: Shared::new(output.slots()),
        lines,
    });
    // SAFETY: every line of every column has had its result written.
    unsafe { output.finish() }
}

struct LogSumExp<'a, T: Element> {
    values: &'a View<'a, T>,
    exclusive: bool,
    output: Shared<'a, T>,
    lines: Lines,
}

/// `sum` exponentials of what is relative to `largest`.
#[derive(Clone, Copy, Debug)]
struct Sum<A> {
    largest: A,
    sum: A,
}

impl<A: Real> Sum<A> {
    const NOTHING: Self = Self {
        largest: A::LOWEST,
        sum: A::ZERO,
    };

    #[inline]
    fn join(self, other: Self) -> Self {
        let largest = self.largest.max(other.largest);
        let scaled = |part: Self| part.sum.mul(relative(part.largest, largest));
        Self {
            largest,
            sum: scaled(self).add(scaled(other)),
        }
    }

    #[inline]
    fn value(self) -> A {
        match self.sum == A::ZERO {
            // Nothing was met: the largest is −∞.
            true => self.largest,
            false => self.largest.add(self.sum.ln()),
        }
    }
}

/// `exp(x − largest)`; 1 for the largest itself, infinite or not.
#[inline]
fn relative<A: Real>(x: A, largest: A) -> A {
    match x == largest {
        true => A::ONE,
        false => x.sub(largest).exp(),
    }
}

impl<T: Element<Acc: Real>> LogSumExp<'_, T> {
    /// Line after line, each with its states.
    fn each(&self, block: &Block, mut take: impl FnMut(usize, &[T])) {
        let mut room = [T::from_acc(T::Acc::ZERO); TILE];
        if self.lines.inner == 1 {
            for run in self.lines.runs(block.lines.clone()) {
                let values = self.values.run(block.plane, run.clone(), &mut room);
                let mut one = |at: usize| take(run.start + at, &values[at..at + 1]);
                match self.lines.reverse {
                    true => (0..values.len()).rev().for_each(&mut one),
                    false => (0..values.len()).for_each(&mut one),
                }
            }
            return;
        }
        for line in block.lines.clone() {
            let line = self.lines.stored(line);
            let columns = block.columns.clone();
            take(
                line,
                self.values.line(block.plane, line, columns, &mut room),
            );
        }
    }
}

impl<T: Element<Acc: Real>> Walk for LogSumExp<'_, T> {
    type State = Sum<T::Acc>;

    fn lines(&self) -> Lines {
        self.lines
    }

    fn begin(&self, _plane: usize, _column: usize) -> Self::State {
        Sum::NOTHING
    }

    fn identity(&self) -> Self::State {
        Sum::NOTHING
    }

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        // SAFETY: nothing is written.
        unsafe { self.walk(block, totals, false) };
    }

    fn behind(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        Some(state.join(total))
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        let mut nowhere = [const { MaybeUninit::uninit() }; TILE];
        self.each(&block, |line, values| {
            let place = self.lines.place(block.plane, line, &block.columns);
            let output = match writes {
                // SAFETY: the caller has these columns to itself.
                true => unsafe { self.output.slice(place) },
                false => &mut nowhere[..values.len()],
            };
            for ((state, value), slot) in states.iter_mut().zip(values).zip(output) {
                let before = *state;
                *state = before.join(Sum {
                    largest: value.to_acc(),
                    sum: T::Acc::ONE,
                });
                if writes {
                    let shown = if self.exclusive { before } else { *state };
                    slot.write(T::from_acc(shown.value()));
                }
            }
        });
    }
}
