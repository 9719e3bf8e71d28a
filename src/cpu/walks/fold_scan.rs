//! Scans of segments, and of operators whose state is more than an element.
//!
//! A state remembers whether a segment started in its elements (Schwartz 1980; Blelloch 1990): what precedes the start
//! does not reach it. Without segments, nothing starts.
//!
//! Sums of floats, and of exponentials, are added up in tiles of lines, and what precedes a tile is added to each of its sums: small elements
//! are not lost beside a large sum, and sums of elements that are not negative do not fall.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::super::buffer::{Output, Shared};
use super::super::element::TILE;
use super::super::traits::{Accumulator, Element};
use super::fold::Fold;
use super::{Block, Lines, PIECE, PIECE_OF_COLUMNS, View, Walk, run};

/// Scans `values` along the axis of `lines`, each segment on its own if `starts` is given, which marks where segments
/// start in the order of memory. The result is contiguous.
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
    // SAFETY: the walk has written every line of every column.
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

/// The state since the last segment started, and whether one did.
#[derive(Clone, Copy)]
struct Since<S> {
    started: bool,
    /// Of the tiles before this one.
    state: S,
    /// Of the elements of this tile, if there are tiles.
    tile: S,
}

impl<T: Element, F: Fold<T::Acc>> FoldScan<'_, T, F> {
    const NOTHING: Since<F::State> = Since {
        started: false,
        state: F::NOTHING,
        tile: F::NOTHING,
    };

    /// The state of all elements.
    #[inline(always)]
    fn all(since: &Since<F::State>) -> F::State {
        match F::IN_TILES {
            true => F::join(since.state, since.tile),
            false => since.state,
        }
    }

    /// Ends the tile.
    fn close(states: &mut [Since<F::State>]) {
        for state in states {
            state.state = Self::all(state);
            state.tile = F::NOTHING;
        }
    }

    /// The line of `starts` that says whether a segment of the walk starts at a line in memory: in reverse the next
    /// line.
    fn start_of(&self, line: usize) -> Option<usize> {
        match self.lines.reverse {
            false => Some(line),
            true => (line + 1 < self.lines.len).then_some(line + 1),
        }
    }
}

impl<T: Element, F: Fold<T::Acc>> Walk for FoldScan<'_, T, F> {
    type State = Since<F::State>;

    // A tile is a piece, and ends by joining its total.
    const ROUNDS: bool = F::ROUNDS && !F::IN_TILES;

    fn lines(&self) -> Lines {
        self.lines
    }

    fn piece(&self) -> usize {
        match self.lines.inner {
            1 if !F::IN_TILES => PIECE,
            _ => PIECE_OF_COLUMNS,
        }
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
        if total.started {
            return Some(total);
        }
        F::is_regular(state.state, total.state).then(|| Since {
            state: F::join(state.state, total.state),
            ..state
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
            if F::IN_TILES && line.is_multiple_of(PIECE_OF_COLUMNS) {
                Self::close(states);
            }
            let line = self.lines.stored(line);
            let values = self.values.line(plane, line, columns.clone(), &mut room);
            let starts = self
                .starts
                .zip(self.start_of(line))
                .map(|(starts, line)| starts.line(plane, line, columns.clone(), &mut starts_room));
            let output = match writes {
                // SAFETY: the caller has these columns to itself.
                true => unsafe { self.output.slice(self.lines.place(plane, line, &columns)) },
                false => &mut nowhere[..values.len()],
            };
            for (column, (state, slot)) in states.iter_mut().zip(output).enumerate() {
                let starts = starts.is_some_and(|starts| starts[column] != 0);
                if starts {
                    *state = Since {
                        started: true,
                        ..Self::NOTHING
                    };
                }
                let before = Self::all(state);
                let open = match F::IN_TILES {
                    true => &mut state.tile,
                    false => &mut state.state,
                };
                *open = F::join(*open, F::read(values[column].to_acc()));
                if writes {
                    let shown = match self.exclusive {
                        true => before,
                        false => Self::all(state),
                    };
                    slot.write(T::from_acc(F::value(shown)));
                }
            }
        }
        Self::close(states);
    }
}
