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
use crate::operator::{ScanOp, combine};
use crate::scan::launch::{Call, cube_count};
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
    pub op: ScanOp,
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
    /// In vectors.
    outer_strides: Sequence<usize>,
    /// Vectors side by side.
    width: usize,
    by_width: FastDivmod<usize>,
    /// The axis' stride in the input, in vectors.
    stride: usize,
    len: usize,
    chunk_len: usize,
    /// Chunks of a column.
    chunks: usize,
    by_chunks: FastDivmod<usize>,
    /// Units with work.
    units: usize,
}

/// The work of one unit: one chunk of one column vector.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Column {
    input: usize,
    output: usize,
    width: usize,
    stride: usize,
    len: usize,
    first: usize,
    end: usize,
    /// Where the column's totals begin, one per chunk and `width` apart.
    totals: usize,
    chunk: usize,
}

#[cube]
impl ColumnsView {
    fn column(&self, unit: usize) -> Column {
        let (rest, column) = self.by_width.div_mod(unit);
        let (outer, chunk) = self.by_chunks.div_mod(rest);
        let width = self.width;
        let rank = self.outer_shape.len().comptime();
        let mut input = column;
        let mut index = outer;
        #[unroll]
        for i in 0..rank {
            let dim = comptime!(rank - 1 - i);
            let (quotient, position) = self.outer_shape[dim].div_mod(index);
            input += position * self.outer_strides[dim];
            index = quotient;
        }
        let first = chunk * self.chunk_len;
        Column {
            input,
            output: outer * self.len * width + column,
            width,
            stride: self.stride,
            len: self.len,
            first,
            end: min(first + self.chunk_len, self.len),
            totals: outer * self.chunks * width + column,
            chunk,
        }
    }
}

#[cube]
fn stored(logical: usize, column: Column, #[comptime] config: ColumnsConfig) -> usize {
    if comptime!(config.reverse) {
        column.len - 1 - logical
    } else {
        logical
    }
}

#[cube]
fn is_inside(logical: usize, column: Column, #[comptime] config: ColumnsConfig) -> bool {
    if comptime!(config.overshoots()) {
        logical < column.end
    } else {
        true.runtime()
    }
}

#[cube]
fn combine_lanes<A: Numeric, N: Size>(
    lhs: Vector<A, N>,
    rhs: Vector<A, N>,
    #[comptime] op: ScanOp,
) -> Vector<A, N> {
    match op {
        ScanOp::Sum => lhs + rhs,
        ScanOp::Prod => lhs * rhs,
        _ => {
            let mut result = lhs;
            #[unroll]
            for lane in 0..N::value().comptime() {
                result.insert(lane, combine::<A>(lhs.extract(lane), rhs.extract(lane), op));
            }
            result
        }
    }
}

/// Loads up to `ahead` rows from logical row `at`.
#[cube]
fn load_ahead<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    column: Column,
    at: usize,
    identity: A,
    #[comptime] config: ColumnsConfig,
) -> Array<Vector<A, N>> {
    let mut loaded = Array::<Vector<A, N>>::new(config.ahead);
    #[unroll]
    for k in 0..config.ahead {
        let mut value = Vector::<A, N>::new(identity);
        if is_inside(at + k, column, config) {
            value = Vector::cast_from(
                input[column.input + stored(at + k, column, config) * column.stride],
            );
        }
        loaded[k] = value;
    }
    loaded
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_totals_kernel<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    totals: &mut [Vector<A, N>],
    view: &ColumnsView,
    identity: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if ABSOLUTE_POS < view.units {
        let identity = identity.get::<A>();
        let column = view.column(ABSOLUTE_POS);
        let mut running = Vector::<A, N>::new(identity);
        let mut at = column.first;
        while at < column.end {
            let loaded = load_ahead::<T, A, N>(input, column, at, identity, config);
            #[unroll]
            for k in 0..config.ahead {
                running = combine_lanes::<A, N>(running, loaded[k], config.op);
            }
            at += config.ahead;
        }
        totals[column.totals + column.chunk * column.width] = running;
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_scan_kernel<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    output: &mut [Vector<T, N>],
    totals: &[Vector<A, N>],
    view: &ColumnsView,
    identity: InputScalar,
    #[comptime] config: ColumnsConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if ABSOLUTE_POS < view.units {
        let identity = identity.get::<A>();
        let column = view.column(ABSOLUTE_POS);
        let mut running = Vector::<A, N>::new(identity);
        match config.chunks {
            Chunked::No => {}
            Chunked::Totals => {
                for earlier in 0..column.chunk {
                    let total = totals[column.totals + earlier * column.width];
                    running = combine_lanes::<A, N>(running, total, config.op);
                }
            }
            Chunked::Prefixes => {
                running = totals[column.totals + column.chunk * column.width];
            }
        }
        let mut at = column.first;
        while at < column.end {
            let loaded = load_ahead::<T, A, N>(input, column, at, identity, config);
            #[unroll]
            for k in 0..config.ahead {
                let before = running;
                running = combine_lanes::<A, N>(running, loaded[k], config.op);
                if is_inside(at + k, column, config) {
                    let result = if comptime!(config.exclusive) {
                        before
                    } else {
                        running
                    };
                    output[column.output + stored(at + k, column, config) * column.width] =
                        Vector::cast_from(result);
                }
            }
            at += config.ahead;
        }
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

/// Rows of a chunk: as few as it takes to give every unit of the device a column, within the bounds.
fn chunk_len(call: &Call, columns: usize) -> usize {
    let len = call.problem.len();
    let wanted = call.tuning.fill.div_ceil(columns);
    let most = len.div_ceil(MIN_CHUNK);
    let paged = call.problem.axis.1 * call.problem.dtype.size() >= PAGE;
    let chunks = if call.tuning.unit_runs && paged {
        most
    } else {
        wanted.min(most).max(len.div_ceil(MAX_CHUNK))
    };
    len.div_ceil(chunks)
}

pub(crate) fn launch(call: Call) -> Result<(), ScanError> {
    let problem = &call.problem;
    let (client, lanes) = (call.client, call.vector_size);
    let columns = problem.inner_count() / lanes;
    let outer = problem.outer_count();
    let chunk_len = chunk_len(&call, columns * outer);
    let chunks = problem.len().div_ceil(chunk_len);
    let units = outer * chunks * columns;
    let ahead = call.launch.vectors.unwrap_or(call.tuning.ahead);
    let view = || view(&call, columns, chunk_len, chunks);
    let config = ColumnsConfig {
        op: problem.op,
        exclusive: problem.options.exclusive,
        reverse: problem.options.reverse,
        chunks: match chunks {
            1 => Chunked::No,
            ..=MAX_FOLD => Chunked::Totals,
            _ => Chunked::Prefixes,
        },
        ahead: ahead.min(chunk_len.next_power_of_two()),
    };
    let accumulator = problem.accumulator();
    let identity = problem.op.identity(problem.dtype, accumulator);
    let cube_dim = CubeDim::new_1d(call.tuning.units as u32);
    let cubes = || cube_count(client, units.div_ceil(call.tuning.units));
    let values = if chunks > 1 { units * lanes } else { lanes };
    let buffer = || scratch::temporary(client, values * accumulator.size());
    let mut totals = buffer();
    if chunks > 1 {
        // SAFETY: one vector of totals per unit with work; the view addresses exactly the tensor's elements, and the kernel does
        // nothing in units beyond them.
        unsafe {
            column_totals_kernel::launch_unchecked(
                client,
                cubes(),
                cube_dim,
                call.address_type,
                lanes,
                call.input.clone().into_buffer_arg(),
                BufferArg::from_raw_parts(totals.clone(), values),
                view(),
                identity,
                config,
                problem.dtype,
                accumulator,
            );
        }
    }
    if config.chunks == Chunked::Prefixes {
        let prefixes = buffer();
        let shape = [outer, chunks, columns * lanes];
        scratch::prefixes_of(
            client,
            &totals,
            &prefixes,
            shape,
            accumulator,
            problem.op,
            false,
        )?;
        totals = prefixes;
    }
    // SAFETY: as above; the output holds the same elements as the input.
    unsafe {
        column_scan_kernel::launch_unchecked(
            client,
            cubes(),
            cube_dim,
            call.address_type,
            lanes,
            call.input.clone().into_buffer_arg(),
            call.output.clone().into_buffer_arg(),
            BufferArg::from_raw_parts(totals, values),
            view(),
            identity,
            config,
            problem.dtype,
            accumulator,
        );
    }
    Ok(())
}

fn view(call: &Call, columns: usize, chunk_len: usize, chunks: usize) -> ColumnsViewLaunch {
    let (problem, lanes) = (&call.problem, call.vector_size);
    let mut shape = SequenceArg::new();
    let mut strides = SequenceArg::new();
    for (size, stride) in &problem.outer {
        shape.push(*size);
        strides.push(stride / lanes);
    }
    ColumnsViewLaunch::new(
        shape,
        strides,
        columns,
        columns,
        problem.axis.1 / lanes,
        problem.len(),
        chunk_len,
        chunks,
        chunks,
        problem.outer_count() * chunks * columns,
    )
}
