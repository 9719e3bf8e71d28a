//! `columns`: a scan with dimensions behind its axis. Neighbouring units take neighbouring columns with vector loads and walk the
//! axis, so that every load of a plane is one coalesced run; the scan itself needs no communication.
//!
//! ```text
//!              columns →            few columns: the axis is cut in chunks
//!   axis   u0 u1 u2 u3 …            launch 1  totals of every chunk of every column
//!    ↓     ↓  ↓  ↓  ↓               scan      exclusive, of the totals, where there are many
//!                                   launch 2  begin with the totals of the chunks before, then walk
//! ```

use crate::ScanError;
use crate::monoid::{Monoid, Operator, State, join, read_state, write_state};
use crate::scan::components::tile::{Inputs, Outputs, state_of};
use crate::scan::launch::cube_count;
use crate::scan::lines_call::{LinesCall, buffers};
use crate::scan::scratch;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// What a chunk starts from.
#[derive_cube_comptime]
pub(crate) enum Chunked {
    /// The axis is one chunk.
    No,
    /// Each unit folds the totals of the chunks before its own.
    Totals,
    /// A scan has done it.
    Prefixes,
}

/// The comptime facts of the kernels.
#[derive_cube_comptime]
pub(crate) struct ColumnsConfig {
    pub exclusive: bool,
    pub reverse: bool,
    /// Whether the axis is cut, and who folds the totals of the chunks before.
    pub chunks: Chunked,
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
    /// Where the column's totals begin, one vector per chunk and `width` apart.
    totals: usize,
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
            totals: outer * self.chunks * self.width + column,
            chunk,
        }
    }

    fn stored(&self, logical: usize, #[comptime] config: ColumnsConfig) -> usize {
        if comptime!(config.reverse) {
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
fn load_ahead<T: Numeric, N: Size>(
    inputs: &Inputs<T, N>,
    view: &ColumnsView,
    column: &Column,
    at: usize,
    #[comptime] config: ColumnsConfig,
) -> Sequence<Sequence<Vector<T, N>>> {
    let mut rows = Sequence::<Sequence<Vector<T, N>>>::new();
    #[unroll]
    for k in 0..config.ahead {
        let mut logical = at + k;
        if comptime!(config.overshoots()) {
            logical = min(logical, column.end - 1);
        }
        let stored = view.stored(logical, config);
        let mut row = Sequence::<Vector<T, N>>::new();
        #[unroll]
        for i in 0..inputs.len().comptime() {
            row.push(inputs[i][column.inputs[i] + stored * view.strides[i]]);
        }
        rows.push(row);
    }
    rows
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

/// The totals of one chunk of neighbouring columns.
#[cube]
fn read_totals<S: State>(totals: &[u32], at: usize, #[comptime] lanes: usize) -> Sequence<S> {
    let mut states = Sequence::<S>::new();
    #[unroll]
    for lane in 0..lanes {
        states.push(read_state::<S>(totals, at * lanes + lane));
    }
    states
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_totals_kernel<T: Numeric, A: Numeric, N: Size, O: Operator>(
    inputs: &Inputs<T, N>,
    totals: &mut [u32],
    view: &ColumnsView,
    seed: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if ABSOLUTE_POS < view.units {
        let seed = seed.get::<A>();
        total_of_chunk::<T, A, N, O::Monoid<A>>(inputs, totals, view, seed, config, op);
    }
}

#[cube]
fn total_of_chunk<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    inputs: &Inputs<T, N>,
    totals: &mut [u32],
    view: &ColumnsView,
    seed: A,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let column = view.column(ABSOLUTE_POS);
    let mut running = splat::<M::State>(&M::identity(seed, op), lanes);
    let mut at = column.first;
    while at < column.end {
        let loaded = load_ahead::<T, N>(inputs, view, &column, at, config);
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
    let at = column.totals + column.chunk * view.width;
    #[unroll]
    for lane in 0..lanes {
        write_state::<M::State>(totals, at * lanes + lane, &running[lane]);
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_scan_kernel<T: Numeric, A: Numeric, N: Size, O: Operator>(
    inputs: &Inputs<T, N>,
    outputs: &mut Outputs<T, N>,
    totals: &[u32],
    view: &ColumnsView,
    seed: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if ABSOLUTE_POS < view.units {
        let seed = seed.get::<A>();
        scan_chunk::<T, A, N, O::Monoid<A>>(inputs, outputs, totals, view, seed, config, op);
    }
}

#[cube]
fn scan_chunk<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    inputs: &Inputs<T, N>,
    outputs: &mut Outputs<T, N>,
    totals: &[u32],
    view: &ColumnsView,
    seed: A,
    #[comptime] config: ColumnsConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let column = view.column(ABSOLUTE_POS);
    let mut running = splat::<M::State>(&M::identity(seed, op), lanes);
    match config.chunks {
        Chunked::No => {}
        Chunked::Totals => {
            for earlier in 0..column.chunk {
                let at = column.totals + earlier * view.width;
                let total = read_totals::<M::State>(totals, at, lanes);
                #[unroll]
                for lane in 0..lanes {
                    running[lane] = join::<A, M>(&running[lane], &total[lane], op);
                }
            }
        }
        Chunked::Prefixes => {
            let at = column.totals + column.chunk * view.width;
            let prefix = read_totals::<M::State>(totals, at, lanes);
            #[unroll]
            for lane in 0..lanes {
                running[lane] = M::State::copy(&prefix[lane]);
            }
        }
    }
    let mut at = column.first;
    while at < column.end {
        let loaded = load_ahead::<T, N>(inputs, view, &column, at, config);
        #[unroll]
        for k in 0..config.ahead {
            let mut written = Sequence::<Sequence<A>>::new();
            #[unroll]
            for lane in 0..lanes {
                let state = state_of::<T, A, N, M>(&loaded[k], lane, op);
                let with = join::<A, M>(&running[lane], &state, op);
                if comptime!(config.exclusive) {
                    let before = M::State::copy(&running[lane]);
                    written.push(M::write(&before, op));
                } else {
                    written.push(M::write(&with, op));
                }
                running[lane] = with;
            }
            if is_inside(at + k, &column, config) {
                let to = column.output + view.stored(at + k, config) * view.width;
                #[unroll]
                for i in 0..outputs.len().comptime() {
                    let mut result = Vector::<T, N>::new(T::from_int(0));
                    #[unroll]
                    for lane in 0..lanes {
                        result.insert(lane, T::cast_from(written[lane][i]));
                    }
                    let output = &mut outputs[i];
                    output[to] = result;
                }
            }
        }
        at += config.ahead;
    }
}

/// The fewest rows of a chunk.
const MIN_CHUNK: usize = 32;

/// The most: software adapters end every loop after 65,535 rounds.
const MAX_CHUNK: usize = 1 << 14;

/// The most totals that a unit folds itself; one scan of them all costs a launch, but reads each total once.
const MAX_FOLD: usize = 16;

/// Bytes from row to row from which on every row is a page of its own. Units that walk many rows then fall out of the translation buffer of
/// a processor, and short chunks are worth the second reading: [2^11, 2^11] takes 1.5 times Burn's addition on lavapipe, in one
/// chunk twice.
const PAGE: usize = 4096;

/// The most totals that a unit folds where no scan can: operators other than those of [`ScanOp`](crate::ScanOp). Not measured.
const MOST_FOLDED: usize = 64;

/// Rows of a chunk: as few as it takes to give every unit of the device a column, within the bounds.
fn chunk_len<O: Operator>(call: &LinesCall<O>, columns: usize) -> usize {
    let wanted = call.tuning.fill.div_ceil(columns);
    let most = call.len.div_ceil(MIN_CHUNK);
    let paged = call.axis[0] * call.dtype.size() >= PAGE;
    let chunks = if call.tuning.unit_runs && paged {
        most
    } else {
        wanted.min(most)
    };
    let chunks = match O::scan_op(call.op) {
        Some(_) => chunks,
        None => chunks.min(MOST_FOLDED),
    };
    call.len.div_ceil(chunks.max(call.len.div_ceil(MAX_CHUNK)))
}

pub(crate) fn launch<O: Operator>(call: LinesCall<O>) -> Result<(), ScanError> {
    let (client, lanes) = (call.client, call.lanes);
    let columns = call.inner / lanes;
    let outer = call.rows();
    let chunk_len = chunk_len(&call, columns * outer);
    let chunks = call.len.div_ceil(chunk_len);
    let units = outer * chunks * columns;
    let view = || view(&call, columns, chunk_len, chunks);
    let scan_op = O::scan_op(call.op);
    let config = ColumnsConfig {
        exclusive: call.options.exclusive,
        reverse: call.options.reverse,
        chunks: match (chunks, scan_op) {
            (1, _) => Chunked::No,
            (..=MAX_FOLD, _) | (_, None) => Chunked::Totals,
            _ => Chunked::Prefixes,
        },
        ahead: call.ahead.min(chunk_len.next_power_of_two()),
    };
    let cube_dim = CubeDim::new_1d(call.tuning.units as u32);
    let cubes = || cube_count(client, units.div_ceil(call.tuning.units));
    let words = call.state_words() * if chunks > 1 { units * lanes } else { lanes };
    let buffer = || scratch::temporary(client, words * size_of::<u32>());
    let mut totals = buffer();
    if chunks > 1 {
        // SAFETY: a state for each lane of each unit with work; the view addresses exactly the tensors' elements, and the kernel does
        // nothing in units beyond them.
        unsafe {
            column_totals_kernel::launch_unchecked::<O>(
                client,
                cubes(),
                cube_dim,
                call.address_type,
                lanes,
                buffers(&call.inputs),
                BufferArg::from_raw_parts(totals.clone(), words),
                view(),
                call.seed(),
                config,
                call.op,
                call.dtype,
                call.accumulator,
            );
        }
    }
    if config.chunks == Chunked::Prefixes
        && let Some(op) = scan_op
    {
        // The words of such a state are the bytes of one accumulator.
        let prefixes = buffer();
        let shape = [outer, chunks, columns * lanes];
        let dtype = call.accumulator;
        scratch::prefixes_of(client, &totals, &prefixes, shape, dtype, op, false)?;
        totals = prefixes;
    }
    // SAFETY: as above; the outputs hold the same elements as the inputs.
    unsafe {
        column_scan_kernel::launch_unchecked::<O>(
            client,
            cubes(),
            cube_dim,
            call.address_type,
            lanes,
            buffers(&call.inputs),
            buffers(&call.outputs),
            BufferArg::from_raw_parts(totals, words),
            view(),
            call.seed(),
            config,
            call.op,
            call.dtype,
            call.accumulator,
        );
    }
    Ok(())
}

fn view<O: Operator>(
    call: &LinesCall<O>,
    columns: usize,
    chunk_len: usize,
    chunks: usize,
) -> ColumnsViewLaunch {
    let mut shape = SequenceArg::new();
    call.outer.iter().for_each(|size| shape.push(*size));
    let mut outer_strides = SequenceArg::new();
    for strides in call.outer_strides() {
        let mut of_input = SequenceArg::new();
        strides.into_iter().for_each(|stride| of_input.push(stride));
        outer_strides.push(of_input);
    }
    let mut strides = SequenceArg::new();
    call.axis
        .iter()
        .for_each(|stride| strides.push(stride / call.lanes));
    ColumnsViewLaunch::new(
        shape,
        outer_strides,
        columns,
        columns,
        strides,
        call.len,
        chunk_len,
        chunks,
        chunks,
        call.rows() * chunks * columns,
    )
}
