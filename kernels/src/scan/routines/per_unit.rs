//! `per_unit`: every unit scans a chunk of its own; no barrier, no shared memory, no atomics.
//!
//! ```text
//! whole rows    unit u: walk a row, or several short ones, from end to end                   one launch
//! split rows    launch 1  unit u: walk chunk u, write its total
//!               launch 2  the exclusive scan of the totals of each row, if they are many
//!               launch 3  unit u: walk chunk u again and write its scan
//! ```
//!
//! The raking of Blelloch (1990), where each unit rakes. On a GPU neighbouring units would read far apart. A software
//! adapter runs a cube as a few loops over vectors of units. There distance costs nothing, but every barrier suspends
//! and wakes these loops. Reading the input twice is cheaper than the barriers of a tile.

use super::short_rows::gcd;
use super::straddled_rows;
use crate::monoid::{Monoid, Operator, State, join, write_state};
use crate::scan::LaunchOptions;
use crate::scan::call::Call;
use crate::scan::components::{
    chunks::{
        Chunks, ChunksLaunch, PerUnitConfig, Seam, chunk_of, config, fold_vector, grid, scan_vector,
    },
    flat_rows::{FlatRows, FlatRowsLaunch, flat_vectors},
    parts::{CarryIn, before_part},
    rows::RowsView,
    tensors::{Reads, Writes, begin_of_line, lane_at, state_at, write_vector},
};
use crate::scan::parts::Parts;
use crate::scan::split::{Split, longest_in_rows};
use crate::scan::tuning::ROW_PART;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn chunk_totals_kernel<T: Numeric, A: Numeric, N: Size, B: Numeric, O: Operator>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    rows: &RowsView,
    chunks: Chunks,
    seed: InputScalar,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
) {
    if ABSOLUTE_POS < chunks.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        total_of_chunk::<T, A, N, B, O::Monoid<A>>(
            reads, states, rows, chunks, &identity, config, op,
        );
    }
}

#[cube]
fn total_of_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    states: &mut [u32],
    rows: &RowsView,
    chunks: Chunks,
    identity: &M::State,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: M::Config,
) {
    let line = ABSOLUTE_POS / chunks.per_row;
    let row = rows.row(line);
    let chunk = chunk_of(ABSOLUTE_POS, chunks, config.reverse);
    let first = chunk * chunks.vectors;
    let mut running = M::State::copy(identity);
    for logical in first..min(first + chunks.vectors, row.vectors) {
        running = fold_vector::<T, A, N, B, M>(reads, &row, logical, &running, config, op);
    }
    write_state::<M::State>(states, line * chunks.per_row + chunk, &running);
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn chunk_scan_kernel<
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
    chunks: Chunks,
    seed: InputScalar,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < chunks.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        scan_chunk::<T, A, N, B, P, O::Monoid<A>>(
            reads, writes, states, rows, chunks, &identity, config, op,
        );
    }
}

#[cube]
fn scan_chunk<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    states: &[u32],
    rows: &RowsView,
    chunks: Chunks,
    identity: &M::State,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: M::Config,
) {
    let line = ABSOLUTE_POS / chunks.per_row;
    let row = rows.row(line);
    let chunk = chunk_of(ABSOLUTE_POS, chunks, config.reverse);
    let first = chunk * chunks.vectors;
    let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
    let at = line * chunks.per_row;
    let mut running = before_part::<A, M>(states, at, 1usize, chunk, &begin, config.carry_in, op);
    let whole = Sequence::<Seam<M::State>>::new();
    for logical in first..min(first + chunks.vectors, row.vectors) {
        running = scan_vector::<T, A, N, B, P, M>(
            reads, writes, &row, logical, &running, &whole, identity, config, op,
        );
    }
}

/// Rows too short for a chunk of their own, read as one flat sequence of vectors. A row may begin in the middle of a
/// vector. `chunks.vectors` is a whole number of rows.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn short_rows_per_unit_kernel<
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
    chunks: Chunks,
    seed: InputScalar,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
    #[define(P)] _positions: ElemType,
) {
    if ABSOLUTE_POS < chunks.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        scan_short_rows::<T, A, N, B, P, O::Monoid<A>>(
            reads, writes, flat, chunks, &identity, config, op,
        );
    }
}

#[cube]
fn scan_short_rows<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    flat: FlatRows,
    chunks: Chunks,
    identity: &M::State,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let first = ABSOLUTE_POS * chunks.vectors;
    let mut running = M::State::copy(identity);
    let mut place = flat.place(first * lanes);
    for logical in first..min(first + chunks.vectors, flat.vectors) {
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

/// The most elements of a row that shares a chunk with others. On lavapipe, [2^14, 256] takes 1.3 times an addition
/// with a chunk for each row, and 0.7 times with four rows a chunk.
const SHORT: usize = 1 << 10;

/// The fewest elements for which splitting rows is worth two more launches. On lavapipe, 2^14 take 1.1 times a single
/// pass, 2^16 0.8 times.
const MIN_SPLIT: usize = 1 << 16;

/// Whether this routine is the best for the device and the call.
pub(crate) fn serves<O: Operator>(call: &Call<O>) -> bool {
    // A caller who tunes or stalls tiles wants tiles.
    call.tuning.per_unit
        && call.launch == LaunchOptions::default()
        && (is_short(call)
            || row_vectors(call) <= chunk(call)
            || call.lines.elements() >= MIN_SPLIT)
}

pub(crate) fn launch<O: Operator>(call: Call<O>) {
    if is_short(&call) {
        short_rows(call);
    } else if straddled_rows::serves(&call) {
        let split = Split::of(straddled_rows::vectors(&call), chunk(&call));
        straddled_rows::launch(call, split);
    } else {
        rows(call);
    }
}

fn row_vectors<O: Operator>(call: &Call<O>) -> usize {
    call.len() / call.lanes
}

/// The most vectors of a chunk.
fn chunk<O: Operator>(call: &Call<O>) -> usize {
    let tuned = longest_in_rows(&call.tuning, call.rows());
    call.launch.vectors.unwrap_or(tuned)
}

/// The most vectors of a chunk of several rows.
fn chunk_of_short_rows<O: Operator>(call: &Call<O>) -> usize {
    call.launch.vectors.unwrap_or(ROW_PART)
}

fn is_short<O: Operator>(call: &Call<O>) -> bool {
    let longest = SHORT.min(chunk_of_short_rows(call) * call.flat_lanes);
    call.lines.is_contiguous_rows() && call.len() <= longest
}

fn rows<O: Operator>(call: Call<O>) {
    let [dtype, accumulator, starts, positions] = call.types();
    let split = Split::of(row_vectors(&call), chunk(&call));
    let parts = Parts {
        outer: call.rows(),
        parts: split.parts,
        inner: 1,
    };
    let count = parts.count();
    let config = config(&call, parts.carry_in());
    let chunks = || ChunksLaunch::new(split.len, split.parts, count);
    // SAFETY: there is one state per chunk; a chunk ends with its row, and the view addresses exactly the tensors'
    // rows.
    let totals = |states| unsafe {
        let (cubes, cube_dim) = grid(&call, count);
        chunk_totals_kernel::launch_unchecked::<O>(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.lanes,
            call.reads_of_totals(),
            states,
            call.rows_arg(),
            chunks(),
            call.seed(),
            PerUnitConfig {
                exclusive: false,
                carry_in: CarryIn::Whole,
                ..config
            },
            call.op,
            dtype,
            accumulator,
            starts,
        );
    };
    // SAFETY: as above; the outputs hold the same elements as the inputs.
    let scan = |states| unsafe {
        let (cubes, cube_dim) = grid(&call, count);
        chunk_scan_kernel::launch_unchecked::<O>(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.lanes,
            call.reads(),
            call.writes(),
            states,
            call.rows_arg(),
            chunks(),
            call.seed(),
            config,
            call.op,
            dtype,
            accumulator,
            starts,
            positions,
        );
    };
    parts.launch::<O>(call.client, [dtype, accumulator], call.op, totals, scan);
}

fn short_rows<O: Operator>(call: Call<O>) {
    let [dtype, accumulator, starts, positions] = call.types();
    let vectors = call.lines.elements() / call.flat_lanes;
    // Whole vectors of whole rows: with vectors of 4, rows of 6 come in pairs and rows of 7 in fours.
    let together = call.len() / gcd(call.flat_lanes, call.len());
    let per_chunk = (chunk_of_short_rows(&call) / together).max(1) * together;
    let count = vectors.div_ceil(per_chunk);
    let (cubes, cube_dim) = grid(&call, count);
    // SAFETY: all tensors hold `vectors` vectors, and a chunk ends with them.
    unsafe {
        short_rows_per_unit_kernel::launch_unchecked::<O>(
            call.client,
            cubes,
            cube_dim,
            call.address_type,
            call.flat_lanes,
            call.reads(),
            call.writes(),
            FlatRowsLaunch::new(call.len(), vectors, call.rows()),
            ChunksLaunch::new(per_chunk, 1, count),
            call.seed(),
            config(&call, CarryIn::Whole),
            call.op,
            dtype,
            accumulator,
            starts,
            positions,
        );
    }
}
