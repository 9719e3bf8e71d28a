//! `reduce_then_scan`: rows cut into chunks, two launches, no communication within a launch (3n memory traffic).
//!
//! ```text
//! launch 1   cube c: walk the tiles of chunk c, write the chunk's total
//! launch 2   cube c: fold the totals of the chunks before c, then walk the tiles again and write the scan
//! ```
//!
//! Chunks are about as many as cubes fit the device. A row of one chunk needs the second launch only; with one tile a
//! chunk that is `single_cube`. Needs nothing of the device: no atomics, no order among cubes.

use crate::operator::combine;
use crate::scan::components::{
    cube_totals::scan_totals,
    rows::RowsView,
    tile::{TileConfig, UnitTile},
};
use crate::scan::launch::{Call, cube_count};
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
pub(crate) fn chunk_totals_kernel<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    totals: &mut [A],
    rows: &RowsView,
    chunks: Chunks,
    identity: InputScalar,
    #[comptime] config: TileConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    let chunk = CUBE_POS;
    if chunk < chunks.count {
        let identity = identity.get::<A>();
        let mut shared = Shared::<[A]>::new_slice(comptime!(config.totals() + 1));
        let row = rows.row(chunk / chunks.per_row);
        let vectors_per_tile = comptime!(config.units * config.vectors).runtime();
        let first = chunk % chunks.per_row * chunks.tiles * vectors_per_tile;

        let mut running = identity;
        let mut tile = 0usize;
        loop {
            let at = first + tile * vectors_per_tile;
            let total = UnitTile::<A, N>::total_of::<T>(input, row, at, identity, config);
            let own = scan_totals::<A>(total, identity, &mut shared, config);
            running = combine::<A>(running, own.aggregate, config.op);
            tile += 1;
            if tile >= chunks.tiles {
                break;
            }
        }
        if UNIT_POS == 0 {
            totals[chunk] = running;
        }
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn chunk_scan_kernel<T: Numeric, A: Numeric, N: Size>(
    input: &[Vector<T, N>],
    output: &mut [Vector<T, N>],
    totals: &[A],
    rows: &RowsView,
    chunks: Chunks,
    identity: InputScalar,
    #[comptime] config: TileConfig,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    let chunk = CUBE_POS;
    if chunk < chunks.count {
        let identity = identity.get::<A>();
        let mut shared = Shared::<[A]>::new_slice(comptime!(config.totals() + 1));
        let row = rows.row(chunk / chunks.per_row);
        let vectors_per_tile = comptime!(config.units * config.vectors).runtime();
        let in_row = chunk % chunks.per_row;
        let first = in_row * chunks.tiles * vectors_per_tile;

        let mut running = identity;
        for earlier in 0..in_row {
            running = combine::<A>(running, totals[chunk - in_row + earlier], config.op);
        }
        let mut tile = 0usize;
        loop {
            let at = first + tile * vectors_per_tile;
            let unit = UnitTile::<A, N>::load::<T>(input, row, at, identity, config);
            let own = scan_totals::<A>(unit.total, identity, &mut shared, config);
            let prefix = combine::<A>(running, own.exclusive, config.op);
            unit.store::<T>(output, row, at, prefix, config);
            running = combine::<A>(running, own.aggregate, config.op);
            tile += 1;
            if tile >= chunks.tiles {
                break;
            }
        }
    }
}

/// Chunks of a row that fill the device with about one wave of cubes.
pub(crate) fn chunks_per_row(call: &Call) -> usize {
    let tiles = call.problem.len().div_ceil(call.tile_elements());
    let wave = call.tuning.fill.div_ceil(call.tuning.units).max(2);
    wave.div_ceil(call.problem.outer_count()).min(tiles)
}

/// Launches with rows cut in `chunks_per_row`.
pub(crate) fn launch(call: Call, chunks_per_row: usize) {
    let problem = &call.problem;
    let lanes = call.vector_size;
    let tiles_per_row = problem.len().div_ceil(call.tile_elements());
    let tiles = tiles_per_row.div_ceil(chunks_per_row);
    let per_row = tiles_per_row.div_ceil(tiles);
    let count = per_row * problem.outer_count();
    let config = call.tile_config();
    let accumulator = problem.accumulator();
    let identity = problem.op.identity(problem.dtype, accumulator);
    let cube_dim = CubeDim::new_1d(call.tuning.units as u32);
    let totals = scratch::temporary(call.client, count * accumulator.size());
    // SAFETY: `totals` holds one value per chunk; the view addresses exactly the tensors' rows, and tiles guard each vector by
    // the length of its row.
    unsafe {
        let totals = || BufferArg::from_raw_parts(totals.clone(), count);
        if per_row > 1 {
            chunk_totals_kernel::launch_unchecked(
                call.client,
                cube_count(call.client, count),
                cube_dim,
                call.address_type,
                lanes,
                call.input.clone().into_buffer_arg(),
                totals(),
                call.rows_arg(),
                ChunksLaunch::new(tiles, per_row, count),
                identity,
                config,
                problem.dtype,
                accumulator,
            );
        }
        chunk_scan_kernel::launch_unchecked(
            call.client,
            cube_count(call.client, count),
            cube_dim,
            call.address_type,
            lanes,
            call.input.clone().into_buffer_arg(),
            call.output.clone().into_buffer_arg(),
            totals(),
            call.rows_arg(),
            ChunksLaunch::new(tiles, per_row, count),
            identity,
            config,
            problem.dtype,
            accumulator,
        );
    }
}
