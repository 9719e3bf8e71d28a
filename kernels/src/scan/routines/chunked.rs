//! `reduce_then_scan`: rows split into chunks, two launches or three, no communication within a launch (3n memory
//! traffic).
//!
//! ```text
//! launch 1   cube c: walk the tiles of chunk c, write the chunk's total
//! launch 2   the exclusive scan of the totals of each row, if they are many
//! launch 3   cube c: begin with what precedes chunk c, walk its tiles again and write the scan
//! ```
//!
//! There are about as many chunks as cubes that fit the device. A row of one chunk needs the last launch only. If that
//! chunk is one tile, this is `single_cube`. It needs nothing from the device: no atomics, no order among cubes.
//! Launches 1 and 3 are two forms of one kernel.

use super::{Routine, unless_rows};
use crate::monoid::{Monoid, Operator, State, StateOf, join, write_state};
use crate::scan::call::Call;
use crate::scan::components::{
    args::{Access, Operands, ScanArgs},
    plane_scan::reconverge,
    rows::RowsView,
    tensors::begin_of_line,
    tile::{TileConfig, UnitTile, total_of},
};
use crate::scan::grid::cube_count;
use crate::scan::parts::{CarryIn, Parts, before_part};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// How rows are split.
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

/// Walks the tiles of a chunk. Without `carry_in` this writes the total of the chunk, else its scan.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn chunks_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
    R: ScanArgs,
>(
    tensors: &mut R::Tensors<T, N, B, P>,
    totals: &mut [u32],
    rows: &RowsView,
    chunks: Chunks,
    seed: InputScalar,
    #[comptime] config: TileConfig,
    #[comptime] carry_in: Option<CarryIn>,
    #[comptime] op: O::Config,
    #[define(T, A, B, P)] _types: [ElemType; 4],
) {
    let (reads, mut writes) = R::open::<T, N, B, P>(tensors);
    if CUBE_POS < chunks.count {
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        let mut shared = StateOf::<O, A>::allocate(comptime!(config.shared_states()));
        let line = CUBE_POS / chunks.per_row;
        let row = rows.row(line);
        let vectors_per_tile = comptime!(config.units * config.vectors).runtime();
        let chunk = CUBE_POS % chunks.per_row;
        let first = chunk * chunks.tiles * vectors_per_tile;

        let mut running = if comptime!(carry_in.is_some()) {
            let begin = begin_of_line::<T, A, O::Monoid<A>>(&reads.initial, line, &identity, op);
            before_part::<A, O::Monoid<A>>(
                &*totals,
                CUBE_POS - chunk,
                1usize,
                chunk,
                &begin,
                comptime!(carry_in.unwrap()),
                op,
            )
        } else {
            StateOf::<O, A>::copy(&identity)
        };
        let mut tile = 0usize;
        loop {
            let at = first + tile * vectors_per_tile;
            if comptime!(carry_in.is_some()) {
                let unit = UnitTile::<T, N, StateOf<O, A>>::load::<A, B, O::Monoid<A>>(
                    &reads,
                    &row,
                    at,
                    &identity,
                    &mut shared,
                    config,
                    op,
                );
                let prefix = join::<A, O::Monoid<A>>(&running, &unit.totals.exclusive, op);
                unit.store::<A, P, O::Monoid<A>>(
                    &mut writes,
                    &row,
                    at,
                    &prefix,
                    &identity,
                    config,
                    op,
                );
                running = join::<A, O::Monoid<A>>(&running, &unit.totals.aggregate, op);
                // Units beyond the end of the row have skipped their writes.
                reconverge(config.planes_meet);
            } else {
                let total = total_of::<T, A, N, B, O::Monoid<A>>(
                    &reads,
                    &row,
                    at,
                    &identity,
                    &mut shared,
                    config,
                    op,
                );
                running = join::<A, O::Monoid<A>>(&running, &total, op);
            }
            tile += 1;
            if tile >= chunks.tiles {
                break;
            }
        }
        if comptime!(carry_in.is_none()) && UNIT_POS == 0 {
            write_state::<StateOf<O, A>>(totals, CUBE_POS, &running);
        }
    }
}

pub(crate) struct ReduceThenScan;

impl Routine for ReduceThenScan {
    fn refusal<O: Operator>(call: &Call<O>) -> Option<String> {
        unless_rows(call)
    }

    fn launch<O: Operator, D: Operands>(call: Call<O>, operands: &D) {
        let chunks = chunks_per_row(&call);
        launch(call.in_tiles(), operands, chunks);
    }
}

/// Chunks of a row. The chunks of all rows saturate the device with about one wave of cubes.
fn chunks_per_row<O: Operator>(call: &Call<O>) -> usize {
    if call.launch.batch_invariant {
        return 1;
    }
    let tuning = &call.tuning;
    let wave = tuning.units_to_saturate.div_ceil(tuning.units).max(2);
    wave.div_ceil(call.rows()).min(call.tiles_per_row())
}

use chunks_kernel as kernel;

/// Launches with each row split into at most `chunks_per_row` chunks.
pub(super) fn launch<O: Operator, D: Operands>(call: Call<O>, operands: &D, chunks_per_row: usize) {
    let [dtype, accumulator, ..] = call.types;
    let tiles_per_row = call.tiles_per_row();
    let tiles = tiles_per_row.div_ceil(chunks_per_row);
    let per_row = tiles_per_row.div_ceil(tiles);
    let parts = Parts {
        outer: call.rows(),
        parts: per_row,
        inner: 1,
    };
    let count = parts.count();
    // SAFETY: there is one state per chunk; the view addresses exactly the tensors' rows, and tiles guard each vector
    // by the length of its row; the outputs of a scan hold the same elements as the inputs.
    let walk = |states: BufferArg, carry_in: Option<CarryIn>| unsafe {
        chunks_kernel::launch_unchecked::<O, D::Args>(
            call.client,
            cube_count(call.client, count),
            CubeDim::new_1d(call.tuning.units as u32),
            call.address_type,
            call.lanes,
            operands.tensors::<kernel::T, kernel::N, kernel::B, kernel::P>(Access {
                for_totals: carry_in.is_none(),
                ..call.access()
            }),
            states,
            call.rows_arg(),
            ChunksLaunch::new(tiles, per_row, count),
            call.seed(),
            TileConfig {
                exclusive: call.options.exclusive && carry_in.is_some(),
                ..call.tile_config()
            },
            carry_in,
            call.op,
            call.types,
        );
    };
    parts.launch::<O>(call.client, [dtype, accumulator], call.op, walk);
}
