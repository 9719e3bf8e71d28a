//! `columns`: a scan with dimensions behind its axis. Neighbouring units take neighbouring columns with vector loads and walk the
//! axis, so that every load of a plane is one coalesced run; the scan itself needs no communication.
//!
//! ```text
//!              columns →            few columns: the axis is cut in chunks
//!   axis   u0 u1 u2 u3 …            launch 1  totals of every chunk of every column
//!    ↓     ↓  ↓  ↓  ↓               launch 2  their exclusive scan, where they are many
//!                                   launch 3  begin with what precedes the chunk, then walk
//! ```

use crate::monoid::{Monoid, Operator, State, join, write_state};
use crate::scan::call::Call;
use crate::scan::components::parts::{Cut, before_part};
use crate::scan::components::tensors::{
    Edges, Loaded, Reads, Writes, begin_of_line, state_of, write_vector,
};
use crate::scan::grid::cube_count;
use crate::scan::parts::Parts;
use crate::scan::split::Split;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// The comptime facts of the kernels.
#[derive_cube_comptime]
pub(crate) struct ColumnsConfig {
    pub exclusive: bool,
    pub reverse: bool,
    /// Whether the axis is cut.
    pub cut: Cut,
    /// Rows loaded before the first is combined, so that their latencies overlap.
    pub ahead: usize,
}

impl ColumnsConfig {
    /// Whether a step may reach beyond the last row.
    fn overshoots(&self) -> bool {
        self.ahead > 1
    }
}

/// `[outer…, len, columns]`, columns in vectors.
#[derive(CubeType, CubeLaunch)]
pub(crate) struct ColumnsView {
    outer_shape: Sequence<FastDivmod<usize>>,
    /// Of each input, in vectors.
    outer_strides: Sequence<Sequence<usize>>,
    /// Vectors side by side.
    width: usize,
    by_width: FastDivmod<usize>,
    /// The axis' stride in each input, in vectors.
    strides: Sequence<usize>,
    len: usize,
    chunk_len: usize,
    /// Chunks of a column.
    chunks: usize,
    by_chunks: FastDivmod<usize>,
    /// Units with work.
    units: usize,
}

/// The work of one unit: one chunk of one column vector.
#[derive(CubeType)]
struct Column {
    inputs: Sequence<usize>,
    output: usize,
    first: usize,
    end: usize,
    /// The first of the lines that this unit walks, lane by lane.
    line: usize,
    /// Where the states of its chunks begin, `width` vectors apart.
    states: usize,
    chunk: usize,
}

#[cube]
impl ColumnsView {
    fn column(&self, unit: usize) -> Column {
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
        let first = chunk * self.chunk_len;
        Column {
            inputs,
            output: outer * self.len * self.width + column,
            first,
            end: min(first + self.chunk_len, self.len),
            line: outer * self.width + column,
            states: outer * self.chunks * self.width + column,
            chunk,
        }
    }

    fn stored(&self, logical: usize, #[comptime] reverse: bool) -> usize {
        if comptime!(reverse) {
            self.len - 1 - logical
        } else {
            logical
        }
    }
}

#[cube]
fn is_inside(logical: usize, column: &Column, #[comptime] config: ColumnsConfig) -> bool {
    if comptime!(config.overshoots()) {
        logical < column.end
    } else {
        true.runtime()
    }
}

/// Loads up to `ahead` rows from logical row `at`, of each input; the last row again beyond it.
#[cube]
fn load_ahead<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    column: &Column,
    at: usize,
    #[comptime] config: ColumnsConfig,
) -> Sequence<Loaded<T, N>> {
    let mut rows = Sequence::<Loaded<T, N>>::new();
    #[unroll]
    for k in 0..config.ahead {
        let mut logical = at + k;
        if comptime!(config.overshoots()) {
            logical = min(logical, column.end - 1);
        }
        rows.push(load_row::<T, N, B>(
            reads,
            view,
            column,
            logical,
            config.reverse,
        ));
    }
    rows
}

#[cube]
fn load_row<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    column: &Column,
    logical: usize,
    #[comptime] reverse: bool,
) -> Loaded<T, N> {
    let lanes = N::value().comptime();
    let position = view.stored(logical, reverse);
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
fn splat<S: State>(state: &S, #[comptime] lanes: usize) -> Sequence<S> {
    let mut states = Sequence::<S>::new();
    #[unroll]
    for _ in 0..lanes {
        states.push(S::copy(state));
    }
    states
}

/// What precedes a chunk in each lane.
#[cube]
fn before_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    states: &[u32],
    view: &ColumnsView,
    column: &Column,
    identity: &M::State,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) -> Sequence<M::State> {
    let lanes = N::value().comptime();
    let apart = view.width * lanes;
    let mut before = Sequence::<M::State>::new();
    #[unroll]
    for lane in 0..lanes {
        let line = column.line * lanes + lane;
        let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
        let at = column.states * lanes + lane;
        let (cut, chunk) = (comptime!(config.cut), column.chunk);
        before.push(before_part::<A, M>(
            states, at, apart, chunk, &begin, cut, op,
        ));
    }
    before
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_totals_kernel<T: Numeric, A: Numeric, N: Size, B: Numeric, O: Operator>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    view: &ColumnsView,
    seed: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _begins: ElemType,
) {
    if ABSOLUTE_POS < view.units {
        let seed = seed.get::<A>();
        total_of_chunk::<T, A, N, B, O::Monoid<A>>(reads, states, view, seed, config, op);
    }
}

#[cube]
fn total_of_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    view: &ColumnsView,
    seed: A,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let column = view.column(ABSOLUTE_POS);
    let identity = M::identity(seed, op);
    let mut running = splat::<M::State>(&identity, lanes);
    let mut at = column.first;
    while at < column.end {
        let loaded = load_ahead::<T, N, B>(reads, view, &column, at, config);
        #[unroll]
        for k in 0..config.ahead {
            let inside = is_inside(at + k, &column, config);
            #[unroll]
            for lane in 0..lanes {
                let state = state_of::<T, A, N, M>(&loaded[k], lane, op);
                let with = join::<A, M>(&running[lane], &state, op);
                running[lane] = M::State::select(inside, &with, &running[lane]);
            }
        }
        at += config.ahead;
    }
    let at = column.states + column.chunk * view.width;
    #[unroll]
    for lane in 0..lanes {
        write_state::<M::State>(states, at * lanes + lane, &running[lane]);
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_scan_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    view: &ColumnsView,
    seed: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _begins: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < view.units {
        let seed = seed.get::<A>();
        scan_chunk::<T, A, N, B, P, O::Monoid<A>>(reads, writes, states, view, seed, config, op);
    }
}

#[cube]
fn scan_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    view: &ColumnsView,
    seed: A,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let column = view.column(ABSOLUTE_POS);
    let identity = M::identity(seed, op);
    let mut running =
        before_chunk::<T, A, N, B, M>(reads, states, view, &column, &identity, config, op);
    let mut at = column.first;
    while at < column.end {
        let loaded = load_ahead::<T, N, B>(reads, view, &column, at, config);
        #[unroll]
        for k in 0..config.ahead {
            let mut results = Sequence::<M::State>::new();
            #[unroll]
            for lane in 0..lanes {
                let state = state_of::<T, A, N, M>(&loaded[k], lane, op);
                let with = join::<A, M>(&running[lane], &state, op);
                if comptime!(config.exclusive) {
                    let row = &loaded[k];
                    let edges = &row.edges;
                    results.push(edges.before::<M::State>(&running[lane], &identity, lane));
                } else {
                    results.push(M::State::copy(&with));
                }
                running[lane] = with;
            }
            if is_inside(at + k, &column, config) {
                let to = column.output + view.stored(at + k, config.reverse) * view.width;
                write_vector::<T, A, N, P, M>(writes, to, &results, false, op);
            }
        }
        at += config.ahead;
    }
}

pub(crate) fn launch<O: Operator>(call: Call<O>) {
    let [dtype, accumulator, begins, positions] = call.types();
    let columns = call.lines.inner_count() / call.lanes;
    let outer = call.rows();
    let stride = call.lines.axis.strides[0] * call.tensors.dtype.size();
    let split = Split::of_columns(&call.tuning, columns * outer, call.len(), stride);
    let units = outer * split.parts * columns;
    let parts = Parts {
        outer,
        parts: split.parts,
        inner: columns * call.lanes,
    };
    let config = ColumnsConfig {
        exclusive: call.options.exclusive,
        reverse: call.options.reverse,
        cut: parts.cut(),
        ahead: call.ahead().min(split.len.next_power_of_two()),
    };
    let cube_dim = CubeDim::new_1d(call.tuning.units as u32);
    let cubes = || cube_count(call.client, units.div_ceil(call.tuning.units));
    let view = || view(&call, columns, split);
    // SAFETY: there is a state for each lane of each unit with work; the view addresses exactly the tensors' elements, and the kernel does
    // nothing in units beyond them.
    let totals = |states| unsafe {
        column_totals_kernel::launch_unchecked::<O>(
            call.client,
            cubes(),
            cube_dim,
            call.address_type,
            call.lanes,
            call.reads_of_totals(),
            states,
            view(),
            call.seed(),
            ColumnsConfig {
                exclusive: false,
                cut: Cut::Whole,
                ..config
            },
            call.op,
            dtype,
            accumulator,
            begins,
        );
    };
    // SAFETY: as above; the outputs hold the same elements as the inputs.
    let scan = |states| unsafe {
        column_scan_kernel::launch_unchecked::<O>(
            call.client,
            cubes(),
            cube_dim,
            call.address_type,
            call.lanes,
            call.reads(),
            call.writes(),
            states,
            view(),
            call.seed(),
            config,
            call.op,
            dtype,
            accumulator,
            begins,
            positions,
        );
    };
    parts.launch::<O>(call.client, [dtype, accumulator], call.op, totals, scan);
}

fn view<O: Operator>(call: &Call<O>, columns: usize, split: Split) -> ColumnsViewLaunch {
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
        call.rows() * split.parts * columns,
    )
}
