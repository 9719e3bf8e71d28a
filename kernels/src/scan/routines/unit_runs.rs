//! `unit_runs`: every unit scans a run of its own; no barrier, no shared memory, no atomics.
//!
//! ```text
//! whole rows    unit u: walk a row, or several short ones, from end to end                   one launch
//! cut rows      launch 1  unit u: walk run u, write its total
//!               launch 2  the exclusive scan of the totals of each row, where they are many
//!               launch 3  unit u: walk run u again and write its scan
//! ```
//!
//! The raking of Blelloch (1990) with a rake per unit. On a GPU neighbouring units would read far apart; a device that is no card runs a
//! cube as a few loops over vectors of units, where that costs nothing, but every barrier parks and wakes those loops: a second reading
//! of the input is cheaper than the barriers of a tile.

use super::short_rows::gcd;
use super::straddled_rows;
use crate::monoid::{Monoid, Operator, State, join, write_state};
use crate::scan::LaunchOptions;
use crate::scan::call::Call;
use crate::scan::components::{
    flat_rows::{FlatRows, FlatRowsLaunch, flat_vectors},
    parts::{Cut, before_part},
    rows::RowsView,
    runs::{
        Runs, RunsLaunch, Seam, UnitRunsConfig, config, fold_vector, grid, run_of, scan_vector,
    },
    tensors::{Reads, Writes, begin_of_line, lane_at, state_at, write_vector},
};
use crate::scan::parts::Parts;
use crate::scan::split::{Split, longest_in_rows};
use crate::scan::tuning::ROW_PART;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn run_totals_kernel<T: Numeric, A: Numeric, N: Size, B: Numeric, O: Operator>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    rows: &RowsView,
    runs: Runs,
    seed: InputScalar,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _begins: ElemType,
) {
    if ABSOLUTE_POS < runs.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        total_of_run::<T, A, N, B, O::Monoid<A>>(reads, states, rows, runs, &identity, config, op);
    }
}

#[cube]
fn total_of_run<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    rows: &RowsView,
    runs: Runs,
    identity: &M::State,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: M::Config,
) {
    let line = ABSOLUTE_POS / runs.per_row;
    let row = rows.row(line);
    let run = run_of(ABSOLUTE_POS, runs, config.reverse);
    let first = run * runs.vectors;
    let mut running = M::State::copy(identity);
    for logical in first..min(first + runs.vectors, row.vectors) {
        running = fold_vector::<T, A, N, B, M>(reads, &row, logical, &running, config, op);
    }
    write_state::<M::State>(states, line * runs.per_row + run, &running);
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn run_scan_kernel<
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
    rows: &RowsView,
    runs: Runs,
    seed: InputScalar,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _begins: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < runs.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        scan_run::<T, A, N, B, P, O::Monoid<A>>(
            reads, writes, states, rows, runs, &identity, config, op,
        );
    }
}

#[cube]
fn scan_run<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    rows: &RowsView,
    runs: Runs,
    identity: &M::State,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: M::Config,
) {
    let line = ABSOLUTE_POS / runs.per_row;
    let row = rows.row(line);
    let run = run_of(ABSOLUTE_POS, runs, config.reverse);
    let first = run * runs.vectors;
    let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
    let at = line * runs.per_row;
    let mut running = before_part::<A, M>(states, at, 1usize, run, &begin, config.cut, op);
    let whole = Sequence::<Seam<M::State>>::new();
    for logical in first..min(first + runs.vectors, row.vectors) {
        running = scan_vector::<T, A, N, B, P, M>(
            reads, writes, &row, logical, &running, &whole, identity, config, op,
        );
    }
}

/// Rows too short for a run of their own, read as one flat run of vectors in which rows begin anywhere. `runs.vectors` is a whole number of
/// rows.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn run_short_rows_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    flat: FlatRows,
    runs: Runs,
    seed: InputScalar,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _begins: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < runs.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        scan_short_rows::<T, A, N, B, P, O::Monoid<A>>(
            reads, writes, flat, runs, &identity, config, op,
        );
    }
}

#[cube]
fn scan_short_rows<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    flat: FlatRows,
    runs: Runs,
    identity: &M::State,
    #[comptime] config: UnitRunsConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let first = ABSOLUTE_POS * runs.vectors;
    let mut running = M::State::copy(identity);
    let mut place = flat.place(first * lanes);
    for logical in first..min(first + runs.vectors, flat.vectors) {
        let stored = flat.stored(logical, config.reverse);
        let vectors = flat_vectors::<T, N, B>(reads, stored);
        let mut results = Sequence::<M::State>::new();
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(lane_at(step, lanes, config.reverse));
            let line = flat.line(&place, config.reverse);
            let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
            let before = M::State::select(place.within == 0, &begin, &running);
            let at = stored * lanes + lane;
            let edges = flat.edges::<T, N, B>(reads, at, &place, config.reverse);
            let position = flat.position(&place, config.reverse);
            let state = state_at::<T, A, N, M>(&vectors, lane, &edges, 0usize, position, op);
            let with = join::<A, M>(&before, &state, op);
            if comptime!(config.exclusive) {
                results.push(edges.before::<M::State>(&before, identity, 0usize));
            } else {
                results.push(M::State::copy(&with));
            }
            running = with;
            place.advance(flat.len);
        }
        write_vector::<T, A, N, P, M>(writes, stored, &results, config.reverse, op);
    }
}

/// Elements of a row below which it shares a run with others: [2^14, 256] takes 1.3 times an addition on lavapipe with a run each, 0.7 times with
/// runs of four.
const SHORT: usize = 1 << 10;

/// Elements from which on cutting rows is worth its two launches more on lavapipe: 2^14 takes 1.1 times a single pass, 2^16
/// 0.8 times.
const MIN_CUT: usize = 1 << 16;

/// Whether this is the better way on the device at hand.
pub(crate) fn serves<O: Operator>(call: &Call<O>) -> bool {
    // A caller who tunes or mutes tiles wants tiles.
    call.tuning.unit_runs
        && call.launch == LaunchOptions::default()
        && (is_short(call) || row_vectors(call) <= run(call) || call.lines.elements() >= MIN_CUT)
}

pub(crate) fn launch<O: Operator>(call: Call<O>) {
    if is_short(&call) {
        short_rows(call);
    } else if straddled_rows::serves(&call) {
        let split = Split::of(straddled_rows::vectors(&call), run(&call));
        straddled_rows::launch(call, split);
    } else {
        rows(call);
    }
}

fn row_vectors<O: Operator>(call: &Call<O>) -> usize {
    call.len() / call.lanes
}

/// The most vectors of a run.
fn run<O: Operator>(call: &Call<O>) -> usize {
    let tuned = longest_in_rows(&call.tuning, call.rows());
    call.launch.vectors.unwrap_or(tuned)
}

/// The most vectors of a run of several rows.
fn run_of_short_rows<O: Operator>(call: &Call<O>) -> usize {
    call.launch.vectors.unwrap_or(ROW_PART)
}

fn is_short<O: Operator>(call: &Call<O>) -> bool {
    let longest = SHORT.min(run_of_short_rows(call) * call.flat_lanes);
    call.lines.is_contiguous_rows() && call.len() <= longest
}

fn rows<O: Operator>(call: Call<O>) {
    let [dtype, accumulator, begins, positions] = call.types();
    let split = Split::of(row_vectors(&call), run(&call));
    let parts = Parts {
        outer: call.rows(),
        parts: split.parts,
        inner: 1,
    };
    let count = parts.count();
    let config = config(&call, parts.cut());
    let runs = || RunsLaunch::new(split.len, split.parts, count);
    // SAFETY: there is one state per run; a run ends with its row, and the view addresses exactly the tensors' rows.
    let totals = |states| unsafe {
        let (cubes, cube_dim) = grid(&call, count);
        run_totals_kernel::launch_unchecked::<O>(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.lanes,
            call.reads_of_totals(),
            states,
            call.rows_arg(),
            runs(),
            call.seed(),
            UnitRunsConfig {
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
        let (cubes, cube_dim) = grid(&call, count);
        run_scan_kernel::launch_unchecked::<O>(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.lanes,
            call.reads(),
            call.writes(),
            states,
            call.rows_arg(),
            runs(),
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

fn short_rows<O: Operator>(call: Call<O>) {
    let [dtype, accumulator, begins, positions] = call.types();
    let vectors = call.lines.elements() / call.flat_lanes;
    // Whole vectors of whole rows: with lanes of 4, rows of 6 come in pairs and rows of 7 in fours.
    let together = call.len() / gcd(call.flat_lanes, call.len());
    let per_run = (run_of_short_rows(&call) / together).max(1) * together;
    let count = vectors.div_ceil(per_run);
    let (cubes, cube_dim) = grid(&call, count);
    // SAFETY: all tensors hold `vectors` vectors, and a run ends with them.
    unsafe {
        run_short_rows_kernel::launch_unchecked::<O>(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.flat_lanes,
            call.reads(),
            call.writes(),
            FlatRowsLaunch::new(call.len(), vectors, call.rows()),
            RunsLaunch::new(per_run, 1, count),
            call.seed(),
            config(&call, Cut::Whole),
            call.op,
            dtype,
            accumulator,
            begins,
            positions,
        );
    }
}
