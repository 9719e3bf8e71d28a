//! `unit_runs`: every unit scans a run of its own; no barrier, no shared memory, no atomics.
//!
//! ```text
//! whole rows    unit u: walk a row, or several short ones, from end to end                   one launch
//! cut rows      launch 1  unit u: walk run u, write its total
//!               scan      exclusive, of the totals of each row
//!               launch 2  unit u: walk run u again and write its scan
//! ```
//!
//! The raking of Blelloch (1990) with a rake per unit. On a GPU neighbouring units would read far apart; a device that is no card runs a
//! cube as a few loops over vectors of units, where that costs nothing, but every barrier parks and wakes those loops: a second reading
//! of the input is cheaper than the barriers of a tile.

use super::short_rows::gcd;
use crate::ScanError;
use crate::operator::{ScanOp, combine};
use crate::scan::components::{rows::RowsView, tile::stored_vector};
use crate::scan::launch::{Call, cube_count};
use crate::scan::{LaunchOptions, scratch};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The comptime facts of the kernels.
#[derive_cube_comptime]
pub(crate) struct UnitRunsConfig {
    pub op: ScanOp,
    pub exclusive: bool,
    pub reverse: bool,
    /// Whether rows are cut, so that a run has a prefix.
    pub cut: bool,
}

/// How rows are cut.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct Runs {
    /// Vectors of a run.
    pub vectors: usize,
    /// Runs of a row.
    pub per_row: usize,
    /// Runs of all rows.
    pub count: usize,
}

/// The run, in logical order, that a unit walks of its row: in reverse units mirror those of a forward scan, and so does the scan of their
/// totals, which makes the two the same sums.
#[cube]
fn run_of(unit: usize, runs: Runs, #[comptime] reverse: bool) -> usize {
    let in_row = unit % runs.per_row;
    if comptime!(reverse) {
        runs.per_row - 1 - in_row
    } else {
        in_row
    }
}

/// The lane that is `step`-th in logical order.
fn lane(step: usize, lanes: usize, reverse: bool) -> usize {
    if reverse { lanes - 1 - step } else { step }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn run_totals_kernel<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    totals: &mut [A],
    rows: &RowsView,
    runs: Runs,
    identity: InputScalar,
    #[comptime] config: UnitRunsConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if ABSOLUTE_POS < runs.count {
        let lanes = N::value().comptime();
        let row = rows.row(ABSOLUTE_POS / runs.per_row);
        let first = run_of(ABSOLUTE_POS, runs, config.reverse) * runs.vectors;
        let mut running = identity.get::<A>();
        for logical in first..min(first + runs.vectors, row.vectors) {
            let at = row.inputs[0] + stored_vector(logical, &row, config.reverse);
            let value = Vector::<A, N>::cast_from(input[at]);
            #[unroll]
            for step in 0..lanes {
                let lane = comptime!(lane(step, lanes, config.reverse));
                running = combine::<A>(running, value.extract(lane), config.op);
            }
        }
        totals[ABSOLUTE_POS] = running;
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn run_scan_kernel<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    output: &mut [Vector<T, N>],
    prefixes: &[A],
    rows: &RowsView,
    runs: Runs,
    identity: InputScalar,
    #[comptime] config: UnitRunsConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if ABSOLUTE_POS < runs.count {
        let lanes = N::value().comptime();
        let row = rows.row(ABSOLUTE_POS / runs.per_row);
        let first = run_of(ABSOLUTE_POS, runs, config.reverse) * runs.vectors;
        let identity = identity.get::<A>();
        let mut running = identity;
        if comptime!(config.cut) {
            running = prefixes[ABSOLUTE_POS];
        }
        for logical in first..min(first + runs.vectors, row.vectors) {
            let stored = stored_vector(logical, &row, config.reverse);
            let value = Vector::<A, N>::cast_from(input[row.inputs[0] + stored]);
            let mut result = Vector::<A, N>::new(identity);
            #[unroll]
            for step in 0..lanes {
                let lane = comptime!(lane(step, lanes, config.reverse));
                let before = running;
                running = combine::<A>(before, value.extract(lane), config.op);
                let kept = if comptime!(config.exclusive) {
                    before
                } else {
                    running
                };
                result.insert(lane, kept);
            }
            output[row.output + stored] = Vector::cast_from(result);
        }
    }
}

/// Rows too short for a run of their own, read as one flat run of vectors in which rows begin anywhere. `runs.vectors` is a whole number of
/// rows, `vectors` the length of the tensor.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn run_short_rows_kernel<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    output: &mut [Vector<T, N>],
    len: usize,
    vectors: usize,
    runs: Runs,
    identity: InputScalar,
    #[comptime] config: UnitRunsConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if ABSOLUTE_POS < runs.count {
        let lanes = N::value().comptime();
        let first = ABSOLUTE_POS * runs.vectors;
        let identity = identity.get::<A>();
        let mut running = identity;
        let mut position = 0usize;
        for logical in first..min(first + runs.vectors, vectors) {
            let stored = if comptime!(config.reverse) {
                vectors - 1 - logical
            } else {
                logical
            };
            let value = Vector::<A, N>::cast_from(input[stored]);
            let mut result = Vector::<A, N>::new(identity);
            #[unroll]
            for step in 0..lanes {
                let lane = comptime!(lane(step, lanes, config.reverse));
                let before = select(position == 0, identity, running);
                running = combine::<A>(before, value.extract(lane), config.op);
                let kept = if comptime!(config.exclusive) {
                    before
                } else {
                    running
                };
                result.insert(lane, kept);
                position = select(position + 1 == len, 0, position + 1);
            }
            output[stored] = Vector::cast_from(result);
        }
    }
}

/// Vectors of a run of a row that is cut. Not a power of two, which would make neighbouring units meet in one set of the cache. On lavapipe, 2^22
/// elements take 0.95 to 1.04 times an addition with 252 or 300, between which this lies, and 1.09 times with 200 or 508.
const RUN: usize = 260;

/// Vectors of a row that one unit walks where rows are enough for all units. Cut, [1024, 4096] takes 1.0 times an addition on lavapipe, whole
/// 0.8 times. No loop may come near the 65,535 rounds after which some drivers end it.
const WHOLE: usize = 1 << 14;

/// Elements of a row below which it shares a run with others: [2^14, 256] takes 1.3 times an addition on lavapipe with a run each, 0.7 times with
/// runs of four.
const SHORT: usize = 1 << 10;

/// Units of a cube.
const UNITS: usize = 64;

/// Elements from which on cutting rows is worth its two launches more on lavapipe: 2^14 takes 1.1 times a single pass, 2^16
/// 0.8 times.
const MIN_CUT: usize = 1 << 16;

/// Whether this is the better way on the device at hand.
pub(crate) fn serves(call: &Call) -> bool {
    // A caller who tunes or mutes tiles wants tiles.
    call.tuning.unit_runs
        && call.launch == LaunchOptions::default()
        && (is_short(call) || row_vectors(call) <= run(call) || call.problem.elements() >= MIN_CUT)
}

pub(crate) fn launch(call: Call) -> Result<(), ScanError> {
    if is_short(&call) {
        short_rows(call);
        Ok(())
    } else {
        rows(call)
    }
}

fn row_vectors(call: &Call) -> usize {
    call.problem.len() / call.vector_size
}

/// The most vectors of a run.
fn run(call: &Call) -> usize {
    let filled = call.problem.outer_count() >= call.tuning.fill;
    let tuned = if filled { WHOLE } else { RUN };
    call.launch.vectors.unwrap_or(tuned)
}

/// The most vectors of a run of several rows.
fn run_of_short_rows(call: &Call) -> usize {
    call.launch.vectors.unwrap_or(RUN)
}

fn is_short(call: &Call) -> bool {
    let longest = SHORT.min(run_of_short_rows(call) * call.vector_size_flat());
    call.problem.is_contiguous_rows() && call.problem.len() <= longest
}

/// The launch of `count` units.
fn grid(call: &Call, count: usize) -> (CubeCount, CubeDim) {
    let units = call.launch.units.unwrap_or(UNITS);
    let cubes = cube_count(call.client, count.div_ceil(units));
    (cubes, CubeDim::new_1d(units as u32))
}

fn config(call: &Call, cut: bool) -> UnitRunsConfig {
    UnitRunsConfig {
        op: call.problem.op,
        exclusive: call.problem.options.exclusive,
        reverse: call.problem.options.reverse,
        cut,
    }
}

fn rows(call: Call) -> Result<(), ScanError> {
    let problem = &call.problem;
    let outer = problem.outer_count();
    let row = row_vectors(&call);
    let per_row = row.div_ceil(run(&call));
    let vectors = row.div_ceil(per_row);
    let per_row = row.div_ceil(vectors);
    let count = per_row * outer;
    let cut = per_row > 1;
    let config = config(&call, cut);
    let accumulator = problem.accumulator();
    let identity = problem.op.identity(problem.dtype, accumulator);
    let runs = || RunsLaunch::new(vectors, per_row, count);
    let values = if cut { count } else { 1 };
    let buffer = || scratch::temporary(call.client, values * accumulator.size());
    let prefixes = buffer();
    if cut {
        let totals = buffer();
        let (cubes, cube_dim) = grid(&call, count);
        // SAFETY: one total per run; a run ends with its row, and the view addresses exactly the tensor's rows.
        unsafe {
            run_totals_kernel::launch_unchecked(
                call.client,
                cubes,
                cube_dim,
                call.address_type,
                call.vector_size,
                call.input.clone().into_buffer_arg(),
                BufferArg::from_raw_parts(totals.clone(), values),
                call.rows_arg(),
                runs(),
                identity,
                config,
                problem.dtype,
                accumulator,
            );
        }
        let shape = [outer, per_row, 1];
        scratch::prefixes_of(
            call.client,
            &totals,
            &prefixes,
            shape,
            accumulator,
            problem.op,
            config.reverse,
        )?;
    }
    let (cubes, cube_dim) = grid(&call, count);
    // SAFETY: as above, one prefix per run where rows are cut; the output holds the same elements.
    unsafe {
        run_scan_kernel::launch_unchecked(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.vector_size,
            call.input.clone().into_buffer_arg(),
            call.output.clone().into_buffer_arg(),
            BufferArg::from_raw_parts(prefixes, values),
            call.rows_arg(),
            runs(),
            identity,
            config,
            problem.dtype,
            accumulator,
        );
    }
    Ok(())
}

fn short_rows(call: Call) {
    let problem = &call.problem;
    let lanes = call.vector_size_flat();
    let vectors = problem.elements() / lanes;
    // Whole vectors of whole rows: with lanes of 4, rows of 6 come in pairs and rows of 7 in fours.
    let together = problem.len() / gcd(lanes, problem.len());
    let per_run = (run_of_short_rows(&call) / together).max(1) * together;
    let count = vectors.div_ceil(per_run);
    let (cubes, cube_dim) = grid(&call, count);
    // SAFETY: both buffers hold `vectors` vectors, and a run ends with them.
    unsafe {
        run_short_rows_kernel::launch_unchecked(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            lanes,
            call.input.clone().into_buffer_arg(),
            call.output.clone().into_buffer_arg(),
            problem.len(),
            vectors,
            RunsLaunch::new(per_run, 1, count),
            problem.op.identity(problem.dtype, problem.accumulator()),
            config(&call, false),
            problem.dtype,
            problem.accumulator(),
        );
    }
}
