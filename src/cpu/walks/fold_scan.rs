//! Scans of segments, and of operators whose state is more than an element.
//!
//! A state remembers whether a segment started in its elements (Schwartz 1980; Blelloch 1990): what precedes the start
//! does not reach it. Without segments, nothing starts.
//!
//! Sums of floats, and of exponentials, are added up in tiles of lines, and what precedes a tile is added to each of
//! its sums: small elements are not lost in a large sum, and sums of elements that are not negative do not fall.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::Output;
use super::super::element::TILE;
use super::super::processor::vectorize;
use super::super::traits::{Accumulator, ElementType};
use super::abreast::Turned;
use super::fold::{Since, StateFold, step_alone, step_in_tile};
use super::lines::CHUNK;
use super::row_part::RowPart;
use super::sink::{Sink, room};
use super::{Block, PIECE, PIECE_OF_COLUMNS, View, Walk, WalkShape, run, states_of};

/// Scans `values` along the axis of `lines`, each segment on its own if `starts` is given, which marks where segments
/// start in the order of memory. Each line begins with its element of `initial`, if there are some. The result is
/// contiguous.
///
/// # Panics
///
/// If an input has another shape.
pub(crate) fn fold_scan<T: ElementType, F: StateFold<T::Acc>>(
    values: &View<'_, T>,
    starts: Option<&View<'_, u8>>,
    initial: Option<&[T]>,
    exclusive: bool,
    lines: WalkShape,
) -> Vec<T> {
    assert!(values.fits(&lines) && starts.is_none_or(|starts| starts.fits(&lines)));
    assert!(initial.is_none_or(|initial| initial.len() == lines.outer * lines.inner));
    let mut output = Output::new(lines.elements());
    let lines = lines.abreast();
    run(&FoldScan::<T, F> {
        values: values.along(&lines),
        starts: starts.map(|starts| starts.along(&lines)),
        initial,
        exclusive,
        output: Sink::new(output.slots(), lines),
        lines,
        fold: PhantomData,
    });
    // SAFETY: the walk has written every line of every column.
    unsafe { output.finish() }
}

struct FoldScan<'a, T: ElementType, F> {
    values: View<'a, T>,
    starts: Option<View<'a, u8>>,
    initial: Option<&'a [T]>,
    exclusive: bool,
    output: Sink<'a, T>,
    lines: WalkShape,
    fold: PhantomData<F>,
}

impl<T: ElementType, F: StateFold<T::Acc>> FoldScan<'_, T, F> {
    const NOTHING: Since<F::State> = Since::nothing::<T::Acc, F>();

    /// Where `starts` says whether a segment of the walk starts at a line in memory: in reverse at the next line.
    fn start_of(&self, line: usize) -> usize {
        line + usize::from(self.lines.reverse)
    }
}

impl<T: ElementType, F: StateFold<T::Acc>> Walk for FoldScan<'_, T, F> {
    type State = Since<F::State>;

    // A tile is a piece, and ends by joining its total.
    fn rounds(&self) -> bool {
        F::ROUNDS && !F::IN_TILES
    }

    fn lines(&self) -> WalkShape {
        self.lines
    }

    fn piece(&self) -> usize {
        if self.lines.are_rows() && !F::IN_TILES {
            PIECE
        } else {
            PIECE_OF_COLUMNS
        }
    }

    fn begin(&self, plane: usize, columns: Range<usize>) -> Vec<Self::State> {
        let Some(initial) = self.initial else {
            return vec![Self::NOTHING; columns.len()];
        };
        states_of(initial, self.lines.inner, plane, columns, |initial| Since {
            state: F::read(initial),
            ..Self::NOTHING
        })
    }

    fn identity(&self) -> Self::State {
        Self::NOTHING
    }

    fn after(&self, state: Self::State, total: Self::State) -> Option<Self::State> {
        if total.started {
            return Some(total);
        }
        F::is_regular(state.state, total.state).then(|| Since {
            state: F::join(state.state, total.state),
            ..state
        })
    }

    fn fold(&self, block: Block, totals: &mut [Self::State]) {
        // SAFETY: nothing is written.
        unsafe { self.walk_by::<F::Parts>(block, totals, false) };
    }

    unsafe fn walk(&self, block: Block, states: &mut [Self::State], writes: bool) {
        // SAFETY: the caller's promise.
        unsafe { self.walk_by::<F>(block, states, writes) };
    }
}

impl<T: ElementType, F: StateFold<T::Acc>> FoldScan<'_, T, F> {
    /// [`Walk::walk`], by `G` in place of `F`.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn walk_by<G: StateFold<T::Acc, State = F::State>>(
        &self,
        block: Block,
        states: &mut [Since<F::State>],
        writes: bool,
    ) {
        if self.lines.are_few() {
            // SAFETY: the caller's promise.
            return unsafe { self.walk_in_chunks::<G>(block, states, writes) };
        }
        let exclusive = self.exclusive;
        let (mut gathered, mut nowhere) = (Turned::default(), Turned::default());
        let mut marks = Turned::default();
        let mut scratch = T::Scratch::default();
        let (plane, columns) = (block.plane, block.columns);
        let mut columns_of = Columns::<T::Acc, G>::of(states);
        // The only tile may have nothing before it.
        let follows = self.initial.is_some() || self.lines.len > PIECE_OF_COLUMNS;
        let in_tiles = G::IN_TILES && follows;
        let first = block.lines.start;
        let goes_on = block.lines.end < self.lines.len;
        for line in block.lines {
            if in_tiles && line > first && line.is_multiple_of(PIECE_OF_COLUMNS) {
                columns_of.close();
            }
            let line = self.lines.stored(line);
            let values = (self.values).line(plane, line, columns.clone(), &mut gathered);
            let start = Some(self.start_of(line)).filter(|&line| line < self.lines.len);
            let starts = (self.starts.as_ref().zip(start))
                .map(|(starts, line)| starts.line(plane, line, columns.clone(), &mut marks));
            let at = (plane, line, &columns);
            // SAFETY: the caller has these columns to itself, and each of them is written.
            unsafe {
                self.output.line(at, writes, &mut nowhere, &mut |slots| {
                    T::map(values, slots, &mut scratch, |values, slots| {
                        columns_of.walk(values, starts, in_tiles, exclusive, slots);
                    });
                });
            }
        }
        if goes_on {
            columns_of.close();
            columns_of.give(states);
        }
    }

    /// Walks chunks of lines, in each one column after the other.
    ///
    /// # Safety
    ///
    /// As [`Walk::walk`].
    unsafe fn walk_in_chunks<G: StateFold<T::Acc, State = F::State>>(
        &self,
        block: Block,
        states: &mut [Since<F::State>],
        writes: bool,
    ) {
        let (plane, exclusive, reverse) = (block.plane, self.exclusive, self.lines.reverse);
        let (mut gathered, mut marks, mut nowhere) = (room(), room(), room());
        let mut scratch = T::Scratch::default();
        const { assert!(CHUNK == PIECE_OF_COLUMNS, "a chunk is a tile") };
        for chunk in self.lines.chunks(block.lines) {
            let marked = self.start_of(chunk.start)..self.start_of(chunk.end).min(self.lines.len);
            for (column, state) in block.columns.clone().zip(&mut *states) {
                let at = (plane, column);
                let values = self.values.chunk(at, chunk.clone(), &mut gathered);
                let starts = (self.starts.as_ref()).map_or(&[][..], |starts| {
                    starts.chunk(at, marked.clone(), &mut marks)
                });
                let mut walk = |elements: &[T::Acc], slots: &mut [_]| {
                    let part = RowPart {
                        elements,
                        starts,
                        reverse,
                        exclusive,
                        slots,
                    };
                    G::walk_row(state, part);
                };
                if writes {
                    let at = (plane, column, &chunk);
                    // SAFETY: the caller has these lines of the column to itself.
                    unsafe {
                        self.output.column(at, true, &mut nowhere, |slots| {
                            T::map(values, slots, &mut scratch, walk);
                        });
                    }
                } else {
                    walk(T::widen(values, &mut scratch), &mut []);
                }
                state.close::<T::Acc, G>();
            }
        }
    }
}

/// The states of several columns, each part side by side for vector loops.
struct Columns<A, F: StateFold<A>> {
    started: [u8; TILE],
    states: [F::State; TILE],
    tiles: [F::State; TILE],
    len: usize,
}

impl<A: Accumulator, F: StateFold<A>> Columns<A, F> {
    /// A state has several numbers.
    const IS_APART: bool = size_of::<F::State>() > size_of::<A>();

    fn of(states: &[Since<F::State>]) -> Self {
        let mut columns = Self {
            started: [0; TILE],
            states: [F::NOTHING; TILE],
            tiles: [F::NOTHING; TILE],
            len: states.len(),
        };
        for (column, since) in states.iter().enumerate() {
            columns.started[column] = u8::from(since.started);
            columns.states[column] = since.state;
            columns.tiles[column] = since.tile;
        }
        columns
    }

    fn give(&self, states: &mut [Since<F::State>]) {
        for (column, since) in states.iter_mut().enumerate() {
            *since = Since {
                started: self.started[column] != 0,
                state: self.states[column],
                tile: self.tiles[column],
            };
        }
    }

    /// Ends the tiles.
    fn close(&mut self) {
        if !F::IN_TILES {
            return;
        }
        vectorize!({
            let columns = self.states.iter_mut().zip(&mut self.tiles);
            for (state, tile) in columns.take(self.len) {
                (*state, *tile) = (F::join(*state, *tile), F::NOTHING);
            }
        });
    }

    #[inline(always)]
    fn start(&mut self, column: usize, starts: bool) {
        let (state, tile) = (self.states[column], self.tiles[column]);
        self.started[column] |= u8::from(starts);
        self.states[column] = if starts { F::NOTHING } else { state };
        self.tiles[column] = if starts { F::NOTHING } else { tile };
    }

    /// Takes in an element of each column, after the start of a segment where `starts` says so.
    #[inline(never)]
    fn walk(
        &mut self,
        values: &[A],
        starts: Option<&[u8]>,
        in_tiles: bool,
        exclusive: bool,
        slots: &mut [MaybeUninit<A>],
    ) {
        // A scan of plain elements always has segments. None start at the last line in memory of a reverse one.
        let starts = match starts {
            None if !Self::IS_APART => Some(&const { [0; TILE] }[..self.len]),
            starts => starts,
        };
        vectorize!({
            match (starts, F::IN_TILES && in_tiles) {
                (Some(starts), true) => self.step::<true, true>(values, starts, exclusive, slots),
                (Some(starts), false) => self.step::<true, false>(values, starts, exclusive, slots),
                _ if !Self::IS_APART => unreachable!("plain elements have segments"),
                (None, true) => self.step::<false, true>(values, &[], exclusive, slots),
                (None, false) => self.step::<false, false>(values, &[], exclusive, slots),
            }
        });
    }

    /// As [`walk`](Self::walk).
    ///
    /// If a state has several numbers, segments start in a separate loop: the compiler makes no vector instructions if
    /// one loop does both.
    #[inline(always)]
    fn step<const STARTS: bool, const IN_TILES: bool>(
        &mut self,
        values: &[A],
        starts: &[u8],
        exclusive: bool,
        slots: &mut [MaybeUninit<A>],
    ) {
        let len = self.len;
        assert!(len <= TILE && values.len() == len && slots.len() == len);
        assert!(!STARTS || starts.len() == len);
        if STARTS && Self::IS_APART {
            for (column, &starts) in starts.iter().enumerate() {
                self.start(column, starts != 0);
            }
        }
        for column in 0..len {
            if STARTS && !Self::IS_APART {
                self.start(column, starts[column] != 0);
            }
            let (mut state, mut tile) = (self.states[column], self.tiles[column]);
            let result = if IN_TILES {
                step_in_tile::<A, F>([&mut state, &mut tile], values[column], exclusive)
            } else {
                step_alone::<A, F>(&mut state, values[column], exclusive)
            };
            slots[column].write(result);
            self.states[column] = state;
            if IN_TILES {
                self.tiles[column] = tile;
            }
        }
    }
}
