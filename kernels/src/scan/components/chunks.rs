//! Chunks of a row's vectors. A unit walks a chunk, one vector after the other.

use super::parts::CarryIn;
use super::tensors::{Reads, Writes, lane_at, state_of, write_vector};
use super::tile::{Row, load_vectors, stored_vector};
use crate::monoid::{Monoid, Operator, State, join};
use crate::scan::call::Call;
use crate::scan::grid::cube_count;
use cubecl::prelude::*;

/// Units of a cube.
const UNITS: usize = 64;

/// The comptime facts of the kernels.
#[derive_cube_comptime]
pub(crate) struct PerUnitConfig {
    pub exclusive: bool,
    pub reverse: bool,
    /// Whether rows are split, so that a chunk has a prefix.
    pub carry_in: CarryIn,
}

/// How rows are split.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct Chunks {
    /// Vectors of a chunk.
    pub vectors: usize,
    /// Chunks of a row.
    pub per_row: usize,
    /// Chunks of all rows.
    pub count: usize,
}

/// The chunk of its row that a unit walks, in the order of the scan. A unit's place in memory is the same in reverse as
/// forward.
#[cube]
pub(crate) fn chunk_of(unit: usize, chunks: Chunks, #[comptime] reverse: bool) -> usize {
    let in_row = unit % chunks.per_row;
    if comptime!(reverse) {
        chunks.per_row - 1 - in_row
    } else {
        in_row
    }
}

/// Adds a logical vector of a row to what precedes it.
#[cube]
pub(crate) fn fold_vector<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    row: &Row,
    logical: usize,
    before: &M::State,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let lanes = N::value().comptime();
    let loaded = load_vectors::<T, N, B>(reads, row, logical, config.reverse);
    let mut running = M::State::copy(before);
    #[unroll]
    for step in 0..lanes {
        let lane = comptime!(lane_at(step, lanes, config.reverse));
        let state = state_of::<T, A, N, M>(&loaded, lane, op);
        running = join::<A, M>(&running, &state, op);
    }
    running
}

/// Where another chunk begins in a vector, in the order of the scan, and what precedes that chunk.
#[derive(CubeType)]
pub(crate) struct Seam<S: State> {
    pub step: usize,
    pub before: S,
}

/// Writes the scan of a logical vector of a row and returns what precedes the next vector. At a `seam` another chunk
/// begins in the vector.
#[cube]
#[allow(
    clippy::too_many_arguments,
    reason = "what a vector is scanned from, and the facts of a kernel"
)]
pub(crate) fn scan_vector<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    row: &Row,
    logical: usize,
    before: &M::State,
    seam: &Sequence<Seam<M::State>>,
    identity: &M::State,
    #[comptime] config: PerUnitConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let lanes = N::value().comptime();
    let loaded = load_vectors::<T, N, B>(reads, row, logical, config.reverse);
    let mut running = M::State::copy(before);
    let mut results = Sequence::<M::State>::new();
    #[unroll]
    for step in 0..lanes {
        let lane = comptime!(lane_at(step, lanes, config.reverse));
        let state = state_of::<T, A, N, M>(&loaded, lane, op);
        #[unroll]
        for i in 0..seam.len().comptime() {
            let next = &seam[i];
            running = M::State::select(next.step == step, &next.before, &running);
        }
        let with = join::<A, M>(&running, &state, op);
        if comptime!(config.exclusive) {
            let edges = &loaded.edges;
            results.push(edges.before::<M::State>(&running, identity, lane));
        } else {
            results.push(M::State::copy(&with));
        }
        running = with;
    }
    let to = row.output + stored_vector(logical, row, config.reverse);
    write_vector::<T, A, N, P, M>(writes, to, &results, config.reverse, op);
    running
}

/// The launch of `count` units.
pub(crate) fn grid<O: Operator>(call: &Call<O>, count: usize) -> (CubeCount, CubeDim) {
    let units = call.launch.units.unwrap_or(UNITS);
    let cubes = cube_count(call.client, count.div_ceil(units));
    (cubes, CubeDim::new_1d(units as u32))
}

pub(crate) fn config<O: Operator>(call: &Call<O>, carry_in: CarryIn) -> PerUnitConfig {
    PerUnitConfig {
        exclusive: call.options.exclusive,
        reverse: call.options.reverse,
        carry_in,
    }
}
