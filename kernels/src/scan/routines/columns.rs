//! `columns`: a scan with dimensions behind its axis. Neighbouring units take neighbouring columns with vector loads and walk the
//! axis, so that every load of a plane is one coalesced run; the scan itself needs no communication.
//!
//! ```text
//!              columns →            few columns: the axis is cut in chunks
//!   axis   u0 u1 u2 u3 …            launch 1  totals of every chunk of every column
//!    ↓     ↓  ↓  ↓  ↓               launch 2  fold the totals of the chunks before, then walk
//! ```

use crate::operator::{ScanOp, combine};
use crate::scan::launch::{Call, cube_count};
use crate::scan::scratch;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// Rows loaded before the first is combined, so that their latencies overlap.
const AHEAD: usize = 8;

/// The comptime facts of the kernels.
#[derive_cube_comptime]
pub(crate) struct ColumnsConfig {
    pub op: ScanOp,
    pub exclusive: bool,
    pub reverse: bool,
    /// Whether the axis is cut.
    pub chunked: bool,
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

/// Loads up to [`AHEAD`] rows from logical row `at`.
#[cube]
fn load_ahead<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    column: Column,
    at: usize,
    identity: A,
    #[comptime] config: ColumnsConfig,
) -> Array<Vector<A, N>> {
    let mut loaded = Array::<Vector<A, N>>::new(AHEAD);
    #[unroll]
    for k in 0..AHEAD {
        let mut value = Vector::<A, N>::new(identity);
        if at + k < column.end {
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
            for k in 0..AHEAD {
                running = combine_lanes::<A, N>(running, loaded[k], config.op);
            }
            at += AHEAD;
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
        if comptime!(config.chunked) {
            for earlier in 0..column.chunk {
                let total = totals[column.totals + earlier * column.width];
                running = combine_lanes::<A, N>(running, total, config.op);
            }
        }
        let mut at = column.first;
        while at < column.end {
            let loaded = load_ahead::<T, A, N>(input, column, at, identity, config);
            #[unroll]
            for k in 0..AHEAD {
                let before = running;
                running = combine_lanes::<A, N>(running, loaded[k], config.op);
                if at + k < column.end {
                    let result = if comptime!(config.exclusive) {
                        before
                    } else {
                        running
                    };
                    output[column.output + stored(at + k, column, config) * column.width] =
                        Vector::cast_from(result);
                }
            }
            at += AHEAD;
        }
    }
}

/// Chunks the axis is cut into: as many as it takes to give every unit of the device a column, but none of fewer than
/// [`MIN_CHUNK`] rows, because each chunk folds the totals of those before it.
fn chunks(call: &Call, columns: usize) -> usize {
    let len = call.problem.len();
    call.tuning
        .fill
        .div_ceil(columns)
        .min(len / MIN_CHUNK)
        .clamp(1, MAX_CHUNKS)
}

/// The fewest rows of a chunk.
const MIN_CHUNK: usize = 4 * AHEAD;

/// The most chunks of a column; the last folds as many totals.
const MAX_CHUNKS: usize = 256;

pub(crate) fn launch(call: Call) {
    let problem = &call.problem;
    let lanes = call.vector_size;
    let columns = problem.inner_count() / lanes;
    let per_column = chunks(&call, columns * problem.outer_count());
    let chunk_len = problem.len().div_ceil(per_column);
    let per_column = problem.len().div_ceil(chunk_len);
    let units = problem.outer_count() * per_column * columns;
    let view = || {
        let mut shape = SequenceArg::new();
        let mut strides = SequenceArg::new();
        for (size, stride) in &problem.outer {
            shape.push(*size);
            strides.push(stride / lanes);
        }
        let stride = problem.axis.1 / lanes;
        ColumnsViewLaunch::new(
            shape,
            strides,
            columns,
            columns,
            stride,
            problem.len(),
            chunk_len,
            per_column,
            per_column,
            units,
        )
    };
    let config = ColumnsConfig {
        op: problem.op,
        exclusive: problem.options.exclusive,
        reverse: problem.options.reverse,
        chunked: per_column > 1,
    };
    let accumulator = problem.accumulator();
    let identity = problem.op.identity(problem.dtype, accumulator);
    let cube_dim = CubeDim::new_1d(call.tuning.units as u32);
    let cubes = || cube_count(call.client, units.div_ceil(call.tuning.units));
    let totals_len = if config.chunked { units } else { 1 };
    let totals = scratch::temporary(call.client, totals_len * lanes * accumulator.size());
    // SAFETY: `totals` holds one vector per unit with work; the views address exactly the tensors' elements, and the kernels do nothing
    // in units beyond them.
    unsafe {
        let totals = || BufferArg::from_raw_parts(totals.clone(), totals_len * lanes);
        if config.chunked {
            column_totals_kernel::launch_unchecked(
                call.client,
                cubes(),
                cube_dim,
                call.address_type,
                lanes,
                call.input.clone().into_buffer_arg(),
                totals(),
                view(),
                identity,
                config,
                problem.dtype,
                accumulator,
            );
        }
        column_scan_kernel::launch_unchecked(
            call.client,
            cubes(),
            cube_dim,
            call.address_type,
            lanes,
            call.input.into_buffer_arg(),
            call.output.into_buffer_arg(),
            totals(),
            view(),
            identity,
            config,
            problem.dtype,
            accumulator,
        );
    }
}
