//! Columns: neighbouring units take neighbouring vectors of columns, and each walks the axis over its own part of them.

use super::parts::CarryIn;
use super::tensors::{Edges, Loaded, Reads, Writes, begin_of_line, state_of, write_vector};
use crate::monoid::{Monoid, Operator, State, join};
use crate::scan::call::Call;
use crate::scan::split::Split;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// The comptime facts of the kernels.
#[derive_cube_comptime]
pub(crate) struct ColumnsConfig {
    pub exclusive: bool,
    pub reverse: bool,
    /// Rows are taken in the order of memory, though the scan goes the other way. Only totals can be.
    pub upwards: bool,
    /// Whether the axis is cut.
    pub carry_in: CarryIn,
    /// Rows loaded before the first is combined, so that their latencies overlap.
    pub prefetch_depth: usize,
    /// Whether they may reach beyond the last row.
    pub overshoots: bool,
    /// Vectors of a row that a unit walks side by side, each as far from the next as a cube is wide.
    pub abreast: usize,
    /// Units of a cube.
    pub units: usize,
}

/// `[outer…, len, columns]`, columns in vectors.
#[derive(CubeType, CubeLaunch)]
pub(crate) struct ColumnsView {
    outer_shape: Sequence<FastDivmod<usize>>,
    /// Of each input, in vectors.
    outer_strides: Sequence<Sequence<usize>>,
    /// Vectors side by side.
    pub width: usize,
    pub by_width: FastDivmod<usize>,
    /// The axis' stride in each input, in vectors.
    pub strides: Sequence<usize>,
    pub len: usize,
    chunk_len: usize,
    /// Chunks of a column.
    chunks: usize,
    by_chunks: FastDivmod<usize>,
    /// Units with work.
    pub units: usize,
    /// Units side by side.
    by_across: FastDivmod<usize>,
}

/// The work of one unit: one chunk of one column vector.
#[derive(CubeType)]
pub(crate) struct Column {
    pub inputs: Sequence<usize>,
    pub output: usize,
    /// The column vector's number in a row.
    pub x: usize,
    pub first: usize,
    pub end: usize,
    /// The first of the lines that this unit walks, lane by lane.
    pub line: usize,
    /// Where the states of its chunks begin, `width` vectors apart.
    pub states: usize,
    pub chunk: usize,
    /// Whether it is one of the row; else it is the row's last.
    pub there: bool,
}

#[cube]
impl ColumnsView {
    /// The work of a unit. Where rows are taken upwards, `first` and `end` are those in memory.
    pub fn column(&self, unit: usize, #[comptime] upwards: bool) -> Column {
        let (rest, column) = self.by_width.div_mod(unit);
        let (outer, chunk) = self.by_chunks.div_mod(rest);
        let rank = self.outer_shape.len().comptime();
        let mut positions = Sequence::<usize>::new();
        let mut index = outer;
        #[unroll]
        for i in 0..rank {
            let (quotient, position) = self.outer_shape[comptime!(rank - 1 - i)].div_mod(index);
            positions.push(position);
            index = quotient;
        }
        let mut inputs = Sequence::<usize>::new();
        #[unroll]
        for input in 0..self.outer_strides.len().comptime() {
            let mut at = column;
            #[unroll]
            for i in 0..rank {
                at += positions[i] * self.outer_strides[input][comptime!(rank - 1 - i)];
            }
            inputs.push(at);
        }
        let of_chunk = chunk * self.chunk_len;
        let behind = min(of_chunk + self.chunk_len, self.len);
        let mut first = of_chunk;
        let mut end = behind;
        if comptime!(upwards) {
            first = self.len - behind;
            end = self.len - of_chunk;
        }
        Column {
            inputs,
            output: outer * self.len * self.width + column,
            x: column,
            first,
            end,
            line: outer * self.width + column,
            states: outer * self.chunks * self.width + column,
            chunk,
            there: true.runtime(),
        }
    }

    /// The work of a unit that walks several columns.
    pub fn columns(&self, unit: usize, #[comptime] config: ColumnsConfig) -> Sequence<Column> {
        let mut columns = Sequence::<Column>::new();
        if comptime!(config.abreast == 1) {
            columns.push(self.column(unit, config.upwards));
        } else {
            let (rest, across) = self.by_across.div_mod(unit);
            let first = across / config.units * comptime!(config.units * config.abreast)
                + across % config.units;
            #[unroll]
            for i in 0..config.abreast {
                let place = first + comptime!(i * config.units);
                let unit = rest * self.width + min(place, self.width - 1);
                let mut column = self.column(unit, config.upwards);
                column.there = place < self.width;
                columns.push(column);
            }
        }
        columns
    }

    pub fn stored(&self, logical: usize, #[comptime] reverse: bool) -> usize {
        if comptime!(reverse) {
            self.len - 1 - logical
        } else {
            logical
        }
    }
}

#[cube]
pub(crate) fn is_inside(
    logical: usize,
    column: &Column,
    #[comptime] config: ColumnsConfig,
) -> bool {
    let mut inside = true.runtime();
    if comptime!(config.abreast > 1) {
        inside = column.there;
    }
    if comptime!(config.overshoots) {
        inside = inside && logical < column.end;
    }
    inside
}

/// Loads up to `ahead` rows from logical row `at`, of each input; the last row again beyond it.
#[cube]
pub(crate) fn load_prefetched<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    column: &Column,
    at: usize,
    #[comptime] config: ColumnsConfig,
) -> Sequence<Loaded<T, N>> {
    let mut rows = Sequence::<Loaded<T, N>>::new();
    #[unroll]
    for k in 0..config.prefetch_depth {
        let logical = within(at + k, column, config);
        rows.push(load_row::<T, N, B>(reads, view, column, logical, config));
    }
    rows
}

/// As [`load_prefetched`], of each of several columns. They are asked for in the order of memory, in which processors fetch ahead.
#[cube]
pub(crate) fn load_abreast<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    columns: &Sequence<Column>,
    at: usize,
    #[comptime] config: ColumnsConfig,
) -> Sequence<Sequence<Loaded<T, N>>> {
    let mut loaded = Sequence::<Sequence<Loaded<T, N>>>::new();
    #[unroll]
    for _ in 0..config.abreast {
        loaded.push(Sequence::<Loaded<T, N>>::new());
    }
    let backwards = comptime!(config.reverse && !config.upwards);
    #[unroll]
    for turn in 0..config.prefetch_depth {
        let k = comptime!(if backwards {
            config.prefetch_depth - 1 - turn
        } else {
            turn
        });
        #[unroll]
        for i in 0..config.abreast {
            let column = &columns[i];
            let logical = within(at + k, column, config);
            let row = load_row::<T, N, B>(reads, view, column, logical, config);
            let rows = &mut loaded[i];
            rows.push(row);
        }
    }
    if comptime!(backwards) {
        #[unroll]
        for i in 0..config.abreast {
            let rows = &mut loaded[i];
            rows.reverse();
        }
    }
    loaded
}

/// A logical row, the last one beyond it.
#[cube]
fn within(logical: usize, column: &Column, #[comptime] config: ColumnsConfig) -> usize {
    if comptime!(config.overshoots) {
        min(logical, column.end - 1)
    } else {
        logical
    }
}

#[cube]
fn load_row<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    column: &Column,
    logical: usize,
    #[comptime] config: ColumnsConfig,
) -> Loaded<T, N> {
    let lanes = N::value().comptime();
    let reverse = comptime!(config.reverse);
    let position = view.stored(logical, comptime!(reverse && !config.upwards));
    let mut vectors = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..reads.inputs.len().comptime() {
        vectors.push(reads.inputs[i][column.inputs[i] + position * view.strides[i]]);
    }
    let mut edges = Edges::new();
    let apart = view.width * lanes;
    #[unroll]
    for lane in 0..lanes {
        let index = (column.output + position * view.width) * lanes + lane;
        edges.push::<T, N, B>(reads, index, position, view.len, apart, reverse);
    }
    Loaded::<T, N> {
        vectors,
        edges,
        position,
        step: 0usize,
    }
}

/// The same state in every lane.
#[cube]
pub(crate) fn splat<S: State>(state: &S, #[comptime] lanes: usize) -> Sequence<S> {
    let mut states = Sequence::<S>::new();
    #[unroll]
    for _ in 0..lanes {
        states.push(S::copy(state));
    }
    states
}

/// What precedes the first row, in each lane.
#[cube]
pub(crate) fn begin_of_lines<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    column: &Column,
    identity: &M::State,
    #[comptime] op: M::Config,
) -> Sequence<M::State> {
    let lanes = N::value().comptime();
    let mut starts = Sequence::<M::State>::new();
    #[unroll]
    for lane in 0..lanes {
        let line = column.line * lanes + lane;
        starts.push(begin_of_line::<T, A, M>(&reads.initial, line, identity, op));
    }
    starts
}

/// Adds the rows that were loaded from logical row `at` to the totals of their columns, of which the first is `totals[first]`.
#[cube]
pub(crate) fn fold_rows<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    totals: &mut Sequence<M::State>,
    #[comptime] first: usize,
    loaded: &Sequence<Loaded<T, N>>,
    column: &Column,
    at: usize,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    #[unroll]
    for k in 0..config.prefetch_depth {
        let inside = is_inside(at + k, column, config);
        #[unroll]
        for lane in 0..N::value().comptime() {
            let state = state_of::<T, A, N, M>(&loaded[k], lane, op);
            let place = comptime!(first + lane);
            let with = if comptime!(config.upwards) {
                join::<A, M>(&state, &totals[place], op)
            } else {
                join::<A, M>(&totals[place], &state, op)
            };
            totals[place] = M::State::select(inside, &with, &totals[place]);
        }
    }
}

/// The scan of one row that was loaded; `running`, from place `first` on, precedes it, and has it added.
#[cube]
pub(crate) fn results_of_row<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    running: &mut Sequence<M::State>,
    #[comptime] first: usize,
    row: &Loaded<T, N>,
    identity: &M::State,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) -> Sequence<M::State> {
    let mut results = Sequence::<M::State>::new();
    #[unroll]
    for lane in 0..N::value().comptime() {
        let state = state_of::<T, A, N, M>(row, lane, op);
        let place = comptime!(first + lane);
        let with = join::<A, M>(&running[place], &state, op);
        if comptime!(config.exclusive) {
            let before = &running[place];
            results.push(row.edges.before::<M::State>(before, identity, lane));
        } else {
            results.push(M::State::copy(&with));
        }
        running[place] = with;
    }
    results
}

/// Writes the scan of one row, as [`results_of_row`] says.
#[cube]
#[allow(
    clippy::too_many_arguments,
    reason = "what a row is written from, and the facts of a kernel"
)]
pub(crate) fn scan_row<T: Numeric, A: Numeric, N: Size, P: Numeric, M: Monoid<A>>(
    writes: &mut Writes<T, N, P>,
    running: &mut Sequence<M::State>,
    #[comptime] first: usize,
    row: &Loaded<T, N>,
    view: &ColumnsView,
    column: &Column,
    logical: usize,
    identity: &M::State,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    let results = results_of_row::<T, A, N, M>(running, first, row, identity, config, op);
    if is_inside(logical, column, config) {
        let to = column.output + view.stored(logical, config.reverse) * view.width;
        write_vector::<T, A, N, P, M>(writes, to, &results, false, op);
    }
}

/// The columns of a call, cut into parts; for so many units side by side.
pub(crate) fn columns_arg<O: Operator>(
    call: &Call<O>,
    split: Split,
    across: usize,
) -> ColumnsViewLaunch {
    let columns = call.lines.inner_count() / call.lanes;
    let mut shape = SequenceArg::new();
    call.lines.outer.iter().for_each(|dim| shape.push(dim.size));
    let mut outer_strides = SequenceArg::new();
    for strides in call.outer_strides() {
        let mut of_input = SequenceArg::new();
        strides.into_iter().for_each(|stride| of_input.push(stride));
        outer_strides.push(of_input);
    }
    let mut strides = SequenceArg::new();
    let axis = call.lines.axis.strides.iter();
    axis.for_each(|stride| strides.push(stride / call.lanes));
    ColumnsViewLaunch::new(
        shape,
        outer_strides,
        columns,
        columns,
        strides,
        call.len(),
        split.len,
        split.parts,
        split.parts,
        call.rows() * split.parts * across,
        across,
    )
}
