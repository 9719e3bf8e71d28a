//! The shape of the tiles of a call, and all else that its kernel is compiled with.

use crate::monoid::Operator;
use crate::scan::call::Call;
use crate::scan::components::column_lookback::StripConfig;
use crate::scan::components::columns::ColumnsConfig;
use crate::scan::components::tile::TileConfig;
use crate::scan::tuning::{COLUMN_TILE_UNITS, COLUMN_TILE_WIDTH, PREFETCH_DEPTH};
use cubecl::prelude::*;

#[derive_cube_comptime]
pub(crate) struct ColumnTileConfig {
    /// Units side by side, and one after the other along the axis.
    pub width: usize,
    pub height: usize,
    /// What each unit holds, and where its rows wait.
    pub rows: ColumnsConfig,
    pub wait: TileConfig,
    /// A strip has the columns of one row of units.
    pub strip: StripConfig,
    /// As in [`LookbackConfig`](crate::scan::components::tile_state::LookbackConfig).
    pub cubes_in_order: bool,
}

impl ColumnTileConfig {
    /// For the tiles of a call.
    pub fn of<O: Operator>(call: &Call<O>) -> Self {
        let columns = call.lines.inner_count() / call.lanes;
        let invariant = call.launch.batch_invariant;
        let lanes = if invariant {
            call.widest_vector
        } else {
            call.lanes
        };
        // Units exchange a state for each lane. On small devices the lookback needs some of the rest.
        let state = lanes * O::state_size(call.types[1]);
        let shared = call.client.properties().hardware.max_shared_memory_size;
        let mut units = call.units_up_to(COLUMN_TILE_UNITS);
        while units * state > shared - shared / 4 {
            units /= 2;
        }
        let is_roomy = 2 * units * state < shared;
        let widest = COLUMN_TILE_WIDTH.min(units);
        let width = columns.next_power_of_two().min(widest);
        // The height decides the bits of a column.
        let height = units / if invariant { widest } else { width };
        let most = PREFETCH_DEPTH / O::INPUTS;
        let rows = call.launch.vectors.unwrap_or(most).max(1);
        let (strips, size) = (call.rows() * columns.div_ceil(width), call.types[0].size());
        let strip = StripConfig::new(width * call.lanes, strips, size, &call.launch);
        let staged = staged(call, rows, strip);
        Self {
            width,
            height,
            rows: ColumnsConfig {
                exclusive: call.options.exclusive,
                reverse: call.options.reverse,
                prefetch_depth: rows,
                overshoots: true,
            },
            wait: call.waiting(width * height, rows, if is_roomy { staged } else { 0 }),
            strip,
            cubes_in_order: call.tuning.lookback.cubes_in_order,
        }
    }

    /// The strips of a call, and the tiles of each.
    pub fn tiles<O: Operator>(&self, call: &Call<O>) -> [usize; 2] {
        let columns = call.lines.inner_count() / call.lanes;
        let tile = self.height * self.rows.prefetch_depth;
        let strips = call.rows() * columns.div_ceil(self.width);
        [strips, call.len().div_ceil(tile)]
    }

    /// The words of a call, without the header.
    pub fn words<O: Operator>(&self, call: &Call<O>) -> usize {
        self.strip
            .launch_words(self.tiles(call), call.state_words())
    }

    /// Takes all rows of a tile as they were loaded. In a last tile that repeats rows, but its total is not used.
    pub fn whole(&self) -> ColumnsConfig {
        ColumnsConfig {
            overshoots: false,
            ..self.rows
        }
    }

    /// Takes rows one by one. A fallback is rare, and prefetching in it would cost the whole kernel registers.
    pub fn a_row(&self) -> ColumnsConfig {
        ColumnsConfig {
            prefetch_depth: 1,
            ..self.whole()
        }
    }
}

/// How many of the `rows` rows of a unit wait in shared memory if it is large. Compiled for sm_80 and sm_90, elements
/// and states of 32 bits take 64 registers and no spills with half of their rows there, and two cubes share a
/// multiprocessor with 96 KiB. In long blocks that takes six of eight rows. Other types take up to 103 registers, or
/// spill. With all rows there they take 64, and two cubes share the 164 KiB of an A100. With all rows of 64 bits there,
/// the compiler aims at three cubes, with 40 registers and spills; with one of eight left it does not.
fn staged<O: Operator>(call: &Call<O>, rows: usize, strip: StripConfig) -> usize {
    match (call.types[0].size(), call.state_words()) {
        (4, 1) if strip.folds_blocks() => rows - rows / 4,
        (4, 1) => rows / 2,
        (8, 2) => rows - rows / 8,
        _ => rows,
    }
}
