//! `single_cube` for rows much shorter than a tile: several rows a cube, one launch, every load a full vector.
//!
//! The tensor is read as one flat run. A cube takes a span of whole rows; a unit takes consecutive vectors of the span and begins
//! anew at every row start among its elements:
//!
//! ```text
//! rows of 5        a b c d e f g h i j k l m n o
//! units of 4       ├ unit 0┤├ unit 1┤├ unit 2┤…
//! row starts       ^         ^         ^
//! total of a unit  the part behind its last row start
//! ```
//!
//! The elements before a unit's first row start still lack what the units before hold of that row: a Kogge-Stone ladder over the
//! unit totals (1973) that never reaches across the unit in which the row begins.

use crate::operator::{ScanOp, combine};
use crate::scan::launch::{Call, cube_count};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The comptime facts of the kernel.
#[derive_cube_comptime]
pub(crate) struct ShortRowsConfig {
    pub op: ScanOp,
    pub exclusive: bool,
    pub reverse: bool,
    /// Vectors held by a unit.
    pub vectors: usize,
    /// Units of a cube.
    pub units: usize,
}

/// The sizes of one launch.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct ShortRows {
    /// Elements of a row.
    pub len: usize,
    /// Vectors of a cube's span, which is a whole number of rows.
    pub span: usize,
    /// Vectors of the tensor.
    pub vectors: usize,
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn short_rows_kernel<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    output: &mut [Vector<T, N>],
    rows: ShortRows,
    identity: InputScalar,
    #[comptime] config: ShortRowsConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    let lanes = N::value().comptime();
    let identity = identity.get::<A>();
    let per_unit = comptime!(config.vectors * lanes);
    let start = UNIT_POS as usize * per_unit;
    let phase = start % rows.len;
    let first = CUBE_POS * rows.span;

    let mut scanned = Array::<Vector<A, N>>::new(config.vectors);
    let mut running = identity;
    let mut position = phase;
    #[unroll]
    for k in 0..config.vectors {
        let in_span = UNIT_POS as usize * config.vectors + k;
        let logical = first + in_span;
        let mut value = Vector::<A, N>::new(identity);
        if in_span < rows.span && logical < rows.vectors {
            value = Vector::cast_from(input[stored(logical, rows, config)]);
        }
        let mut result = Vector::<A, N>::new(identity);
        #[unroll]
        for step in 0..lanes {
            let at = comptime!(if config.reverse {
                lanes - 1 - step
            } else {
                step
            });
            let element = value.extract(at);
            let starts = position == 0;
            let before = select(starts, identity, running);
            running = select(starts, element, combine::<A>(running, element, config.op));
            result.insert(
                at,
                if comptime!(config.exclusive) {
                    before
                } else {
                    running
                },
            );
            position = select(position + 1 == rows.len, 0, position + 1);
        }
        scanned[k] = result;
    }

    let prefix = prefix_of_unit::<A>(running, identity, start, phase, per_unit, rows, config);
    let lacking = select(phase == 0, 0, rows.len - phase);

    #[unroll]
    for k in 0..config.vectors {
        let in_span = UNIT_POS as usize * config.vectors + k;
        let logical = first + in_span;
        if in_span < rows.span && logical < rows.vectors {
            let mut result = scanned[k];
            #[unroll]
            for step in 0..lanes {
                let at = comptime!(if config.reverse {
                    lanes - 1 - step
                } else {
                    step
                });
                let value = result.extract(at);
                let full = combine::<A>(prefix, value, config.op);
                let lacks = comptime!(k * lanes + step).runtime() < lacking;
                result.insert(at, select(lacks, full, value));
            }
            output[stored(logical, rows, config)] = Vector::cast_from(result);
        }
    }
}

#[cube]
fn stored(logical: usize, rows: ShortRows, #[comptime] config: ShortRowsConfig) -> usize {
    if comptime!(config.reverse) {
        rows.vectors - 1 - logical
    } else {
        logical
    }
}

/// What the units before hold of the row in which this unit begins.
#[cube]
fn prefix_of_unit<A: Numeric>(
    total: A,
    identity: A,
    start: usize,
    phase: usize,
    #[comptime] per_unit: usize,
    rows: ShortRows,
    #[comptime] config: ShortRowsConfig,
) -> A {
    let mut shared = Shared::<[A]>::new_slice(config.units);
    let unit = UNIT_POS as usize;
    let last = start + comptime!(per_unit - 1);
    let row_unit = (last - last % rows.len) / per_unit;
    let reach = unit - row_unit;

    let mut covered = total;
    let mut distance = 1usize;
    shared[unit] = covered;
    sync_cube();
    while distance * per_unit < rows.len {
        if distance <= reach {
            covered = combine::<A>(shared[unit - distance], covered, config.op);
        }
        sync_cube();
        shared[unit] = covered;
        sync_cube();
        distance *= 2;
    }
    let mut prefix = identity;
    if phase != 0 {
        prefix = shared[unit - 1];
    }
    prefix
}

/// Rows of a cube's span, or none where not even two fit.
fn rows_per_span(call: &Call) -> usize {
    let lanes = call.vector_size_flat();
    // A span is whole vectors: with lanes of 4, rows of 6 come in pairs and rows of 7 in fours.
    let together = lanes / gcd(lanes, call.problem.len());
    call.tuning.units * call.tuning.vectors * lanes / call.problem.len() / together * together
}

/// Whether the tensor is one flat run of rows of which several fit a cube.
pub(crate) fn fits(call: &Call) -> bool {
    call.problem.is_contiguous_rows() && rows_per_span(call) >= 2
}

pub(crate) fn launch(call: Call) {
    let lanes = call.vector_size_flat();
    let problem = &call.problem;
    let total = problem.elements() / lanes;
    let span = rows_per_span(&call) * problem.len() / lanes;
    let config = ShortRowsConfig {
        op: problem.op,
        exclusive: problem.options.exclusive,
        reverse: problem.options.reverse,
        vectors: call.tuning.vectors,
        units: call.tuning.units,
    };
    // SAFETY: both buffers hold `total` vectors and the kernel guards each access by that bound.
    unsafe {
        short_rows_kernel::launch_unchecked(
            call.client,
            cube_count(call.client, total.div_ceil(span)),
            CubeDim::new_1d(call.tuning.units as u32),
            call.address_type,
            lanes,
            call.input.into_buffer_arg(),
            call.output.into_buffer_arg(),
            ShortRowsLaunch::new(problem.len(), span, total),
            problem.op.identity(problem.dtype, problem.accumulator()),
            config,
            problem.dtype,
            problem.accumulator(),
        );
    }
}

pub(crate) fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
