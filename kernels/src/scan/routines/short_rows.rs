//! `single_cube` for rows much shorter than a tile: several rows a cube, one launch, every load a full vector.
//!
//! The tensor is read as one flat sequence. A cube takes a span of whole rows. A unit takes consecutive vectors of the
//! span, and begins anew at every row start among its elements:
//!
//! ```text
//! rows of 5        a b c d e f g h i j k l m n o
//! units of 4       ├ unit 0┤├ unit 1┤├ unit 2┤…
//! row starts       ^         ^         ^
//! total of a unit  the part behind its last row start
//! ```
//!
//! The elements before a unit's first row start still lack what earlier units hold of that row. A Kogge-Stone ladder
//! (1973) over the totals of units adds it. It never reaches beyond the unit in which the row begins.

use crate::monoid::{Monoid, Operator, State, join};
use crate::scan::call::Call;
use crate::scan::components::{
    flat_rows::{FlatRows, FlatRowsLaunch, flat_vectors},
    tensors::{Edges, Reads, Writes, begin_of_line, lane_at, state_at, write_vector},
};
use crate::scan::grid::cube_count;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The comptime facts of the kernel.
#[derive_cube_comptime]
pub(crate) struct ShortRowsConfig {
    pub exclusive: bool,
    pub reverse: bool,
    /// Vectors held by a unit.
    pub vectors: usize,
    /// Units of a cube.
    pub units: usize,
}

/// `span` is the number of vectors of a cube. They are whole rows.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn short_rows_kernel<
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
    span: usize,
    seed: InputScalar,
    #[comptime] config: ShortRowsConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _starts_type: ElemType,
    #[define(P)] _positions: ElemType,
) {
    let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
    scan_span::<T, A, N, B, P, O::Monoid<A>>(reads, writes, flat, span, &identity, config, op);
}

#[cube]
fn scan_span<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    flat: FlatRows,
    span: usize,
    identity: &M::State,
    #[comptime] config: ShortRowsConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let per_unit = comptime!(config.vectors * lanes);
    let start = UNIT_POS as usize * per_unit;
    let phase = start % flat.len;
    let first = CUBE_POS * span + UNIT_POS as usize * config.vectors;

    let mut scanned = Sequence::<M::State>::new();
    let mut edges = Sequence::<Edges>::new();
    let mut running = M::State::copy(identity);
    let mut place = flat.place(first * lanes);
    #[unroll]
    for k in 0..config.vectors {
        let stored = flat.stored(min(first + k, flat.vectors - 1), config.reverse);
        let vectors = flat_vectors::<T, N, B>(reads, stored);
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(lane_at(step, lanes, config.reverse));
            let starts = place.within == 0;
            let line = flat.line(&place, config.reverse);
            let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
            let before = M::State::select(starts, &begin, &running);
            let at = stored * lanes + lane;
            let own = flat.edges::<T, N, B>(reads, at, &place, config.reverse);
            let position = flat.position(&place, config.reverse);
            let state = state_at::<T, A, N, M>(&vectors, lane, &own, 0usize, position, op);
            running = join::<A, M>(&before, &state, op);
            if comptime!(config.exclusive) {
                scanned.push(before);
                edges.push(own);
            } else {
                scanned.push(M::State::copy(&running));
            }
            place.advance(flat.len);
        }
    }

    let prefix = prefix_of_unit::<A, M>(
        &running, identity, start, phase, per_unit, flat.len, config, op,
    );
    let lacking = select(phase == 0, 0, flat.len - phase);

    #[unroll]
    for k in 0..config.vectors {
        let in_span = UNIT_POS as usize * config.vectors + k;
        if in_span < span && first + k < flat.vectors {
            let mut results = Sequence::<M::State>::new();
            #[unroll]
            for step in 0..lanes {
                let element = comptime!(k * lanes + step);
                let value = &scanned[element];
                let full = join::<A, M>(&prefix, value, op);
                let lacks = element.runtime() < lacking;
                let result = M::State::select(lacks, &full, value);
                if comptime!(config.exclusive) {
                    let own = &edges[element];
                    results.push(own.before::<M::State>(&result, identity, 0usize));
                } else {
                    results.push(result);
                }
            }
            let to = flat.stored(first + k, config.reverse);
            write_vector::<T, A, N, P, M>(writes, to, &results, config.reverse, op);
        }
    }
}

/// What earlier units hold of the row in which this unit begins.
#[cube]
fn prefix_of_unit<A: Numeric, M: Monoid<A>>(
    total: &M::State,
    identity: &M::State,
    start: usize,
    phase: usize,
    #[comptime] per_unit: usize,
    len: usize,
    #[comptime] config: ShortRowsConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let mut shared = M::State::allocate(config.units);
    let unit = UNIT_POS as usize;
    let last = start + comptime!(per_unit - 1);
    let row_unit = (last - last % len) / per_unit;
    let reach = unit - row_unit;

    let mut covered = M::State::copy(total);
    let mut distance = 1usize;
    M::State::set(&mut shared, unit, &covered);
    sync_cube();
    while distance * per_unit < len {
        if distance <= reach {
            let left = M::State::get(&shared, unit - distance);
            covered = join::<A, M>(&left, &covered, op);
        }
        sync_cube();
        M::State::set(&mut shared, unit, &covered);
        sync_cube();
        distance *= 2;
    }
    let before = M::State::get(&shared, max(unit, 1) - 1);
    M::State::select(phase != 0, &before, identity)
}

/// Rows of a cube's span. Fewer than two if two do not fit.
fn rows_per_span<O: Operator>(call: &Call<O>) -> usize {
    let lanes = call.flat_lanes;
    // A span is whole vectors: with vectors of 4, rows of 6 come in pairs and rows of 7 in fours.
    let together = lanes / gcd(lanes, call.len());
    call.tuning.units * call.tuning.vectors * lanes / call.len() / together * together
}

/// Whether rows lie one behind the other without gaps, and several fit a cube.
pub(crate) fn fits<O: Operator>(call: &Call<O>) -> bool {
    call.lines.is_contiguous_rows() && rows_per_span(call) >= 2
}

pub(crate) fn launch<O: Operator>(call: Call<O>) {
    let [dtype, accumulator, starts, positions] = call.types();
    let vectors = call.lines.elements() / call.flat_lanes;
    let span = rows_per_span(&call) * call.len() / call.flat_lanes;
    let config = ShortRowsConfig {
        exclusive: call.options.exclusive,
        reverse: call.options.reverse,
        vectors: call.tuning.vectors,
        units: call.tuning.units,
    };
    // SAFETY: all tensors hold `vectors` vectors. Beyond them the kernel reads the last again, and writes nothing.
    unsafe {
        short_rows_kernel::launch_unchecked::<O>(
            call.client,
            cube_count(call.client, vectors.div_ceil(span)),
            CubeDim::new_1d(call.tuning.units as u32),
            call.address_type,
            call.flat_lanes,
            call.reads(),
            call.writes(),
            FlatRowsLaunch::new(call.len(), vectors, call.rows()),
            span,
            call.seed(),
            config,
            call.op,
            dtype,
            accumulator,
            starts,
            positions,
        );
    }
}

pub(crate) fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
