//! `column_tiles`: columns in one pass, each element read once. A cube takes a tile of a strip of columns, and tiles look back along their
//! strip: see [`column_lookback`](crate::scan::components::column_lookback).
//!
//! ```text
//!              a strip of columns →
//!   axis   u0  u1  u2  u3      each unit: a vector of columns, some rows    ─┐
//!    ↓     u4  u5  u6  u7      the next rows                                 ├ a tile, one cube
//!          u8  u9  u10 u11     the last of the tile                         ─┘
//!
//! cube:   ticket → load rows → totals of units meet ─→ those of earlier rows of units ───────────→ scan → store
//!                                  └ a unit a column: publish its aggregate → look back ─┘
//! ```
//!
//! Beyond the last row a tile holds that row over and over, as [`tile`](crate::scan::components::tile) does.

use crate::monoid::{Monoid, Operator, State, join};
use crate::scan::call::Call;
use crate::scan::components::column_lookback::{
    StripConfig, StripLookback, StripTile, launch_words,
};
use crate::scan::components::columns::{
    Column, ColumnsConfig, ColumnsView, columns_arg, fold_rows, load_ahead, scan_row, splat,
};
use crate::scan::components::lookback::take_ticket;
use crate::scan::components::mute::Mute;
use crate::scan::components::parts::Cut;
use crate::scan::components::tensors::{Reads, Writes, begin_of_line};
use crate::scan::components::tile::{TileConfig, elements, park, parking};
use crate::scan::components::tile_state::{TileWords, TileWordsLaunch};
use crate::scan::grid::cube_count;
use crate::scan::scratch;
use crate::scan::split::Split;
use crate::scan::tuning::{COLUMN_TILE_UNITS, COLUMN_TILE_WIDTH};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The comptime facts of a tile.
#[derive_cube_comptime]
pub(crate) struct ColumnTileConfig {
    /// Units side by side, and one behind the other along the axis.
    width: usize,
    height: usize,
    /// What each unit holds, and where it waits.
    rows: ColumnsConfig,
    wait: TileConfig,
    mute: Option<Mute>,
}

impl ColumnTileConfig {
    /// Whole tiles, and the last as it was loaded: nobody asks for the total of that.
    fn whole(&self) -> ColumnsConfig {
        ColumnsConfig {
            overshoots: false,
            ..self.rows
        }
    }

    /// Rows one by one: a fallback is seldom taken, and its loads would cost all others registers.
    fn a_row(&self) -> ColumnsConfig {
        ColumnsConfig {
            ahead: 1,
            ..self.whole()
        }
    }

    fn strip(&self, lanes: usize) -> StripConfig {
        StripConfig {
            columns: columns_of(lanes, *self),
            mute: self.mute,
        }
    }
}

/// Columns of a strip: those of a row of units.
fn columns_of(lanes: usize, config: ColumnTileConfig) -> usize {
    lanes * config.width
}

/// Where one tile's units and columns lie.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Place {
    own: StripTile,
    /// Groups of columns before this one, and the first vector of columns of the strip in its group.
    outer: usize,
    first: usize,
    /// Tiles of a strip.
    tiles: usize,
}

#[cube]
impl Place {
    /// The vector of columns of the `x`-th units; beyond the last, that again.
    fn vector(&self, view: &ColumnsView, x: usize) -> usize {
        min(self.first + x, view.width - 1)
    }

    /// What the `x`-th unit of row `y` walks in the strip's tile `tile`.
    fn column(
        &self,
        view: &ColumnsView,
        tile: usize,
        x: usize,
        y: usize,
        #[comptime] config: ColumnTileConfig,
    ) -> Column {
        let chunk = (self.outer * self.tiles + tile) * config.height + y;
        view.column(chunk * view.width + self.vector(view, x))
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
pub(crate) fn column_tiles_kernel<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    O: Operator,
>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    state: &[Atomic<u32>],
    view: &ColumnsView,
    strips: usize,
    words: TileWords,
    seed: InputScalar,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: O::Config,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(B)] _begins: ElemType,
    #[define(P)] _positions: ElemType,
) {
    let number = take_ticket(state, CUBE_COUNT as u32);
    if number < words.tiles {
        // Strips side by side first: a tile comes after those above it.
        let above = number / strips;
        let beside = number - above * strips;
        let outer = above / words.per_row;
        let place = Place {
            own: StripTile {
                number,
                strip: outer * strips + beside,
                tile: above - outer * words.per_row,
            },
            outer,
            first: beside * config.width,
            tiles: words.per_row,
        };
        let seed = seed.get::<A>();
        scan_tile::<T, A, N, B, P, O::Monoid<A>>(
            reads, writes, state, view, place, words, seed, config, op,
        );
    }
}

#[cube]
fn scan_tile<T: Numeric, A: Numeric, N: Size, B: Numeric, P: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    state: &[Atomic<u32>],
    view: &ColumnsView,
    place: Place,
    words: TileWords,
    seed: A,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let columns = comptime!(columns_of(lanes, config));
    let x = UNIT_POS as usize % config.width;
    let y = UNIT_POS as usize / config.width;
    let identity = M::identity(seed, op);
    let column = place.column(view, place.own.tile, x, y, config);
    let loaded = load_ahead::<T, N, B>(reads, view, &column, column.first, config.rows);
    let inputs = reads.inputs.len().comptime();
    let mut parked = Shared::<[Vector<T, N>]>::new_slice(comptime!(parking(inputs, config.wait)));
    #[unroll]
    for k in 0..config.wait.parked {
        park::<T, N>(&mut parked, &loaded[k], k, config.wait);
    }
    let mut total = splat::<M::State>(&identity, lanes);
    let whole = comptime!(config.whole());
    fold_rows::<T, A, N, M>(
        &mut total,
        0usize,
        &loaded,
        &column,
        column.first,
        whole,
        op,
    );

    // Of each row of units. What precedes the tile takes the place of the last, which nobody else reads.
    let mut shared = M::State::allocate(comptime!(config.height * columns));
    let last = comptime!((config.height - 1) * columns);
    #[unroll]
    for lane in 0..lanes {
        let at = y * columns + comptime!(lane * config.width) + x;
        M::State::set(&mut shared, at, &total[lane]);
    }
    sync_cube();
    let mut column_of_strip = UNIT_POS as usize;
    while column_of_strip < columns {
        let mut aggregate = M::State::copy(&identity);
        for row in 0..config.height {
            let state = M::State::get(&shared, row * columns + column_of_strip);
            aggregate = join::<A, M>(&aggregate, &state, op);
        }
        let before = look_back::<T, A, N, B, M>(
            reads,
            state,
            view,
            place,
            column_of_strip,
            &aggregate,
            words,
            &identity,
            config,
            op,
        );
        M::State::set(&mut shared, last + column_of_strip, &before);
        column_of_strip += comptime!(config.width * config.height);
    }
    let mut earlier = splat::<M::State>(&identity, lanes);
    for row in 0..y {
        #[unroll]
        for lane in 0..lanes {
            let at = row * columns + comptime!(lane * config.width) + x;
            let state = M::State::get(&shared, at);
            earlier[lane] = join::<A, M>(&earlier[lane], &state, op);
        }
    }
    sync_cube();
    let mut running = splat::<M::State>(&identity, lanes);
    #[unroll]
    for lane in 0..lanes {
        let at = comptime!(last + lane * config.width) + x;
        let before = M::State::get(&shared, at);
        running[lane] = join::<A, M>(&before, &earlier[lane], op);
    }
    if place.first + x < view.width {
        #[unroll]
        for k in 0..config.rows.ahead {
            let row = elements::<T, N>(&loaded[k], &parked, k, config.wait);
            scan_row::<T, A, N, P, M>(
                writes,
                &mut running,
                0usize,
                &row,
                view,
                &column,
                column.first + k,
                &identity,
                config.rows,
                op,
            );
        }
    }
}

/// What precedes the tile in a column of the strip.
#[cube]
fn look_back<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    state: &[Atomic<u32>],
    view: &ColumnsView,
    place: Place,
    column: usize,
    aggregate: &M::State,
    words: TileWords,
    identity: &M::State,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let lanes = N::value().comptime();
    let lane = column / config.width;
    let x = column % config.width;
    let line = (place.outer * view.width + place.vector(view, x)) * lanes + lane;
    let first = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
    let mut search = StripLookback::<M::State>::new(place.own, column, &first);
    let strip = comptime!(config.strip(lanes));
    search.publish_aggregate(state, words, aggregate, strip);
    search.find_prefix(state, words, strip);
    while search.advance::<A, M>(state, words, strip, op) {
        let missing = search.missing();
        let other = total_of_tile::<T, A, N, B, M>(
            reads, view, place, missing, x, lane, identity, config, op,
        );
        search.publish_fallback::<A, M>(state, words, &other, strip, op);
    }
    search.publish_prefix::<A, M>(state, words, aggregate, strip, op);
    search.before()
}

/// The aggregate of another tile of the strip in one lane of the `x`-th units, combined as they do.
#[cube]
fn total_of_tile<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    place: Place,
    tile: usize,
    x: usize,
    lane: usize,
    identity: &M::State,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let lanes = N::value().comptime();
    let one = comptime!(config.a_row());
    let mut total = M::State::copy(identity);
    let mut rows = splat::<M::State>(identity, lanes);
    let column = place.column(view, tile, x, 0usize, config);
    let end = column.first + comptime!(config.height * config.rows.ahead);
    let mut at = column.first;
    while at < end {
        let loaded = load_ahead::<T, N, B>(reads, view, &column, at, one);
        fold_rows::<T, A, N, M>(&mut rows, 0usize, &loaded, &column, at, one, op);
        at += 1;
        if at % config.rows.ahead == 0 {
            let mut own = M::State::copy(identity);
            #[unroll]
            for other in 0..lanes {
                own = M::State::select(lane == other, &rows[other], &own);
                rows[other] = M::State::copy(identity);
            }
            total = join::<A, M>(&total, &own, op);
        }
    }
    total
}

/// The shape of the tiles of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    /// Units side by side, and one behind the other.
    width: usize,
    height: usize,
    /// Rows of a unit.
    rows: usize,
}

impl Shape {
    fn of<O: Operator>(call: &Call<O>) -> Self {
        let units = match call.launch.units {
            Some(_) => call.tuning.units,
            None => call.tuning.units.min(COLUMN_TILE_UNITS),
        };
        let columns = call.lines.inner_count() / call.lanes;
        let width = columns
            .next_power_of_two()
            .min(COLUMN_TILE_WIDTH)
            .min(units);
        let inputs = call.tensors.inputs.len();
        Self {
            width,
            height: units / width,
            rows: call
                .launch
                .vectors
                .unwrap_or((call.tuning.ahead / inputs).max(1)),
        }
    }

    /// Rows that wait in shared memory where it is large. Compiled for sm_80 and sm_90, elements and states of 32 bits take 64 registers and no
    /// spills with half of them there, so that two cubes share a multiprocessor with 96 KiB. All others take up to 103 or spill; with all there,
    /// 64, and two cubes share the 164 KiB of an A100.
    fn parked<O: Operator>(&self, call: &Call<O>) -> usize {
        match (call.tensors.dtype.size(), call.state_words()) {
            (4, 1) => self.rows / 2,
            _ => self.rows,
        }
    }
}

/// Whether tiles keep a device busy that whole columns would not, and lines of memory are read whole.
pub(crate) fn serves<O: Operator>(call: &Call<O>) -> bool {
    let shape = Shape::of(call);
    let columns = call.rows() * (call.lines.inner_count() / call.lanes);
    !call.tuning.unit_runs
        && columns < call.tuning.fill
        && 2 * shape.width > COLUMN_TILE_WIDTH
        && call.len() > shape.height * shape.rows
}

pub(crate) fn launch<O: Operator>(call: Call<O>) {
    let [dtype, accumulator, begins, positions] = call.types();
    let shape = Shape::of(&call);
    let tile_rows = shape.height * shape.rows;
    let tiles = call.len().div_ceil(tile_rows);
    let strips = (call.lines.inner_count() / call.lanes).div_ceil(shape.width);
    let all_strips = call.rows() * strips;
    let columns = shape.width * call.lanes;
    let words = launch_words(all_strips, tiles, columns, call.state_words());
    let (state, tag) = scratch::take(call.client, words);
    let config = ColumnTileConfig {
        width: shape.width,
        height: shape.height,
        rows: ColumnsConfig {
            exclusive: call.options.exclusive,
            reverse: call.options.reverse,
            cut: Cut::Whole,
            ahead: shape.rows,
            overshoots: true,
            abreast: 1,
            units: shape.width * shape.height,
        },
        wait: call.waiting(shape.width * shape.height, shape.rows, shape.parked(&call)),
        mute: call.mute(),
    };
    let split = Split {
        len: shape.rows,
        parts: tiles * shape.height,
    };
    // SAFETY: the state holds the values of all tiles of all strips, and as many behind them as a lookback reads beyond its own; columns and rows beyond the last are loaded as the last and not written.
    unsafe {
        column_tiles_kernel::launch_unchecked::<O>(
            call.client,
            cube_count(call.client, all_strips * tiles),
            CubeDim::new_1d((shape.width * shape.height) as u32),
            call.address_type,
            call.lanes,
            call.reads(),
            call.writes(),
            state,
            columns_arg(&call, split, call.lines.inner_count() / call.lanes),
            strips,
            TileWordsLaunch::new(all_strips * tiles, tiles, tag, call.tuning.spins),
            call.seed(),
            config,
            call.op,
            dtype,
            accumulator,
            begins,
            positions,
        );
    }
}
