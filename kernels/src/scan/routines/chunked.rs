//! `reduce_then_scan`: rows cut into chunks, two launches, no communication within a launch (3n memory traffic).
//!
//! ```text
//! launch 1   cube c: walk the tiles of chunk c, write the chunk's total
//! launch 2   cube c: fold the totals of the chunks before c, then walk the tiles again and write the scan
//! ```
//!
//! Chunks are about as many as cubes fit the device. A row of one chunk needs the second launch only; with one tile a
//! chunk that is `single_cube`. Needs nothing of the device: no atomics, no order among cubes.

use crate::monoid::{Monoid, Operator, State, join, read_state, write_state};
use crate::scan::components::{
    cube_totals::scan_totals,
    rows::RowsView,
    tile::{Inputs, Outputs, TileConfig, UnitTile},
};
use crate::scan::launch::cube_count;
use crate::scan::lines_call::{LinesCall, buffers};
use crate::scan::scratch;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// How rows are cut.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct Chunks {
    /// Tiles of a chunk.
    pub tiles: usize,
    /// Chunks of a row.
    pub per_row: usize,
    /// Chunks of all rows.
    pub count: usize,
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn chunk_totals_kernel<T: Numeric, A: Numeric, N: Size, O: Operator>(
    inputs: &Inputs<T, N>,
    totals: &mut [u32],
    rows: &RowsView,
    chunks: Chunks,
    seed: InputScalar,
    #[comptime] config: TileConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if CUBE_POS < chunks.count {
        let seed = seed.get::<A>();
        total_of_chunk::<T, A, N, O::Monoid<A>>(inputs, totals, rows, chunks, seed, config, op);
    }
}

#[cube]
fn total_of_chunk<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    inputs: &Inputs<T, N>,
    totals: &mut [u32],
    rows: &RowsView,
    chunks: Chunks,
    seed: A,
    #[comptime] config: TileConfig,
    #[comptime] op: M::Config,
) {
    let identity = M::identity(seed, op);
    let mut shared = M::State::allocate(comptime!(config.totals() + 1));
    let row = rows.row(CUBE_POS / chunks.per_row);
    let vectors_per_tile = comptime!(config.units * config.vectors).runtime();
    let first = CUBE_POS % chunks.per_row * chunks.tiles * vectors_per_tile;

    let mut running = M::State::copy(&identity);
    let mut tile = 0usize;
    loop {
        let at = first + tile * vectors_per_tile;
        let total =
            UnitTile::<M::State>::total_of::<T, A, N, M>(inputs, &row, at, &identity, config, op);
        let own = scan_totals::<A, M>(&total, &identity, &mut shared, config, op);
        running = join::<A, M>(&running, &own.aggregate, op);
        tile += 1;
        if tile >= chunks.tiles {
            break;
        }
    }
    if UNIT_POS == 0 {
        write_state::<M::State>(totals, CUBE_POS, &running);
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn chunk_scan_kernel<T: Numeric, A: Numeric, N: Size, O: Operator>(
    inputs: &Inputs<T, N>,
    outputs: &mut Outputs<T, N>,
    totals: &[u32],
    rows: &RowsView,
    chunks: Chunks,
    seed: InputScalar,
    #[comptime] config: TileConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if CUBE_POS < chunks.count {
        let seed = seed.get::<A>();
        scan_chunk::<T, A, N, O::Monoid<A>>(
            inputs, outputs, totals, rows, chunks, seed, config, op,
        );
    }
}

#[cube]
fn scan_chunk<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    inputs: &Inputs<T, N>,
    outputs: &mut Outputs<T, N>,
    totals: &[u32],
    rows: &RowsView,
    chunks: Chunks,
    seed: A,
    #[comptime] config: TileConfig,
    #[comptime] op: M::Config,
) {
    let identity = M::identity(seed, op);
    let mut shared = M::State::allocate(comptime!(config.totals() + 1));
    let row = rows.row(CUBE_POS / chunks.per_row);
    let vectors_per_tile = comptime!(config.units * config.vectors).runtime();
    let in_row = CUBE_POS % chunks.per_row;
    let first = in_row * chunks.tiles * vectors_per_tile;

    let mut running = M::State::copy(&identity);
    for earlier in 0..in_row {
        let total = read_state::<M::State>(totals, CUBE_POS - in_row + earlier);
        running = join::<A, M>(&running, &total, op);
    }
    let mut tile = 0usize;
    loop {
        let at = first + tile * vectors_per_tile;
        let unit =
            UnitTile::<M::State>::load::<T, A, N, M>(inputs, &row, at, &identity, config, op);
        let own = scan_totals::<A, M>(&unit.total, &identity, &mut shared, config, op);
        let prefix = join::<A, M>(&running, &own.exclusive, op);
        unit.store::<T, A, N, M>(outputs, &row, at, &prefix, config, op);
        running = join::<A, M>(&running, &own.aggregate, op);
        tile += 1;
        if tile >= chunks.tiles {
            break;
        }
    }
}

/// Chunks of a row that fill the device with about one wave of cubes.
pub(crate) fn chunks_per_row<O: Operator>(call: &LinesCall<O>) -> usize {
    let wave = call.tuning.fill.div_ceil(call.tuning.units).max(2);
    wave.div_ceil(call.rows()).min(call.tiles_per_row())
}

/// Launches with rows cut in `chunks_per_row`.
pub(crate) fn launch<O: Operator>(call: LinesCall<O>, chunks_per_row: usize) {
    let tiles_per_row = call.tiles_per_row();
    let tiles = tiles_per_row.div_ceil(chunks_per_row);
    let per_row = tiles_per_row.div_ceil(tiles);
    let count = per_row * call.rows();
    let cube_dim = CubeDim::new_1d(call.tuning.units as u32);
    let words = call.state_words() * count;
    let totals = scratch::temporary(call.client, words * size_of::<u32>());
    // SAFETY: `totals` holds one state per chunk; the view addresses exactly the tensors' rows, and tiles guard each vector by
    // the length of its row.
    unsafe {
        let totals = || BufferArg::from_raw_parts(totals.clone(), words);
        if per_row > 1 {
            chunk_totals_kernel::launch_unchecked::<O>(
                call.client,
                cube_count(call.client, count),
                cube_dim,
                call.address_type,
                call.lanes,
                buffers(&call.inputs),
                totals(),
                call.rows_arg(),
                ChunksLaunch::new(tiles, per_row, count),
                call.seed(),
                call.tile_config(),
                call.op,
                call.dtype,
                call.accumulator,
            );
        }
        chunk_scan_kernel::launch_unchecked::<O>(
            call.client,
            cube_count(call.client, count),
            cube_dim,
            call.address_type,
            call.lanes,
            buffers(&call.inputs),
            buffers(&call.outputs),
            totals(),
            call.rows_arg(),
            ChunksLaunch::new(tiles, per_row, count),
            call.seed(),
            call.tile_config(),
            call.op,
            call.dtype,
            call.accumulator,
        );
    }
}
