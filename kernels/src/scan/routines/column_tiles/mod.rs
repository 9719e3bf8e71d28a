//! `column_tiles`: columns in one pass, each element read once. A cube takes a tile of a strip of columns. Tiles look
//! back along their strip: see [`column_lookback`](crate::scan::components::column_lookback).
//!
//! ```text
//!              a strip of columns →
//!   axis   u0  u1  u2  u3      each unit: a vector of columns, some rows    ─┐
//!    ↓     u4  u5  u6  u7      the next rows                                 ├ a tile, one cube
//!          u8  u9  u10 u11     the last of the tile                         ─┘
//!
//! cube:   ticket → load rows → exchange totals ─→ fold those of earlier rows of units ────────────→ scan → store
//!                                  └ a unit for each column: publish aggregate → look back ─┘
//! ```
//!
//! Beyond the last row a tile repeats it, as [`tile`](crate::scan::components::tile) does.

mod before;
mod place;
mod shape;
mod tile;

use super::{Routine, unless_columns, unless_words};
use crate::monoid::Operator;
use crate::scan::call::Call;
use crate::scan::components::args::{Operands, ScanArgs};
use crate::scan::components::column_lookback::StripTile;
use crate::scan::components::columns::{ColumnsView, columns_arg};
use crate::scan::components::lookback::tile_of_cube;
use crate::scan::components::tile_state::TileWords;
use crate::scan::grid::cube_count;
use crate::scan::scratch;
use crate::scan::split::Split;
use crate::scan::tuning::{COLUMN_CHAIN, COLUMN_STRIPS};
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use place::TilePlace;
use shape::ColumnTileConfig;
use tile::scan_tile;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_tiles_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
    R: ScanArgs,
>(
    tensors: &mut R::Tensors<T, N, B, P>,
    state: &[Atomic<u32>],
    view: &ColumnsView,
    strips: usize,
    words: TileWords,
    seed: InputScalar,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: O::Config,
    #[define(T, A, B, P)] _types: [ElemType; 4],
) {
    let (reads, mut writes) = R::open::<T, N, B, P>(tensors);
    let number = tile_of_cube(state, CUBE_COUNT as u32, config.cubes_in_order);
    if number < words.tiles {
        // Tickets go across all strips first: a tile comes after the tiles above it.
        let above = number / strips;
        let across = number - above * strips;
        let outer = above / words.per_row;
        let place = TilePlace {
            own: StripTile {
                number,
                strip: outer * strips + across,
                tile: above - outer * words.per_row,
            },
            outer,
            first: across * config.width,
            tiles: words.per_row,
        };
        let seed = seed.get::<A>();
        scan_tile::<T, A, N, B, P, O::Monoid<A>>(
            &reads,
            &mut writes,
            state,
            view,
            place,
            words,
            seed,
            config,
            op,
        );
    }
}

/// Whether tiles serve better than columns walked whole or in parts: too few columns to saturate the device, and strips
/// in which tiles need not look far back.
pub(crate) fn serves<O: Operator>(call: &Call<O>) -> bool {
    let config = ColumnTileConfig::of(call);
    let [strips, tiles] = config.tiles(call);
    if call.launch.batch_invariant {
        // A group of one column is a row that a unit walks. Units walk columns of a tile, too: their strips may be many,
        // and words for each would take more than the tensor.
        return call.lines.inner_count() > 1 && tiles > 1;
    }
    let width = call.lines.inner_count() / call.lanes;
    call.rows() * width < call.tuning.units_to_saturate
        && tiles > 1
        && (tiles <= COLUMN_CHAIN || strips >= COLUMN_STRIPS)
        && scratch::too_many_words(call.client, config.words(call)).is_none()
}

use column_tiles_kernel as kernel;

pub(crate) struct ColumnTiles;

impl Routine for ColumnTiles {
    fn refusal<O: Operator>(call: &Call<O>) -> Option<String> {
        let words = || ColumnTileConfig::of(call).words(call);
        unless_columns(call)
            .or_else(|| unless_words(call))
            .or_else(|| scratch::too_many_words(call.client, words()))
    }

    fn width<O: Operator>(call: &Call<O>) -> usize {
        call.lanes
    }

    fn launch<O: Operator, D: Operands>(call: Call<O>, operands: &D) {
        let config = ColumnTileConfig::of(&call);
        let all_tiles = config.tiles(&call);
        let [strips, tiles] = all_tiles;
        let words = config.words(&call);
        let (state, words) = scratch::take(call.client, words, all_tiles, call.tuning.spin_limit);
        let split = Split {
            len: config.rows.prefetch_depth,
            parts: tiles * config.height,
        };
        // SAFETY: the state holds the values of all tiles of all strips, and as many more as a lookback reads beyond its
        // own. Columns and rows beyond the last load the last again, and are not written.
        unsafe {
            column_tiles_kernel::launch_unchecked::<O, D::Args>(
                call.client,
                cube_count(call.client, strips * tiles),
                CubeDim::new_1d((config.width * config.height) as u32),
                call.address_type,
                call.lanes,
                operands.tensors::<kernel::T, kernel::N, kernel::B, kernel::P>(call.access()),
                state,
                columns_arg(&call, split),
                strips / call.rows(),
                words,
                call.seed(),
                config,
                call.op,
                call.types,
            );
        }
    }
}
