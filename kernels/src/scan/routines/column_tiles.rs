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
//! Beyond the last row a tile holds that row over and over, as [`tile`](crate::scan::components::tile) does. Where a strip would be narrow, a tile has whole
//! rows, and units [exchange](crate::scan::components::column_exchange) what they load. The totals of many rows of units are then folded in groups.

use crate::monoid::{Monoid, Operator, State, join};
use crate::scan::call::Call;
use crate::scan::components::column_exchange::{
    ExchangeConfig, NarrowTile, leave_row, load_tile, own_row, room, store_tile,
};
use crate::scan::components::column_lookback::{
    StripConfig, StripLookback, StripTile, launch_words,
};
use crate::scan::components::columns::{
    Column, ColumnsConfig, ColumnsView, columns_arg, fold_rows, load_ahead, results_of_row,
    scan_row, splat,
};
use crate::scan::components::lookback::take_ticket;
use crate::scan::components::mute::Mute;
use crate::scan::components::parts::Cut;
use crate::scan::components::tensors::{Loaded, Reads, Writes, begin_of_line, vectors_of};
use crate::scan::components::tile::{TileConfig, elements, park, parking};
use crate::scan::components::tile_state::{TileWords, TileWordsLaunch};
use crate::scan::grid::cube_count;
use crate::scan::scratch;
use crate::scan::split::Split;
use crate::scan::tuning::{COLUMN_TILE_UNITS, COLUMN_TILE_WIDTH, NARROW_TILE_ROWS};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The comptime facts of a tile.
#[derive_cube_comptime]
pub(crate) struct ColumnTileConfig {
    /// Units side by side, and one behind the other along the axis.
    width: usize,
    height: usize,
    /// Rows of units whose totals are folded first.
    group: usize,
    /// What each unit holds, and where it waits.
    rows: ColumnsConfig,
    wait: TileConfig,
    /// Whether units exchange what they load.
    narrow: bool,
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

    fn exchange(&self) -> ExchangeConfig {
        ExchangeConfig {
            units: self.rows.units,
            rows: self.rows.ahead,
            reverse: self.rows.reverse,
        }
    }

    /// Groups of rows of units, and where in shared memory their totals begin, in rows of units.
    fn groups(&self) -> usize {
        self.height / self.group
    }

    fn first_group(&self) -> usize {
        if self.group > 1 { self.height } else { 0 }
    }

    /// Shared memory that the tile waits in, in vectors.
    fn waiting_room(&self, inputs: usize, outputs: usize) -> usize {
        match self.narrow {
            true => inputs.max(outputs) * room(self.exchange()),
            false => parking(inputs, self.wait),
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

    /// The tile where it has whole rows.
    fn narrow(&self, view: &ColumnsView, #[comptime] config: ColumnTileConfig) -> NarrowTile {
        let rows = comptime!(config.height * config.rows.ahead);
        NarrowTile {
            first: self.own.tile * rows,
            vectors: rows * view.width,
        }
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
    let inputs = reads.inputs.len().comptime();
    let outputs = writes.outputs.len().comptime();
    let room = comptime!(config.waiting_room(inputs, outputs));
    let mut waiting = Shared::<[Vector<T, N>]>::new_slice(room);
    let tile = place.narrow(view, config);
    let loaded = load_rows::<T, N, B>(&mut waiting, reads, view, &column, tile, y, config);
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

    // Of each row of units, and of each group. What precedes the tile takes the place of the last group, which nobody else reads.
    let totals = comptime!((config.first_group() + config.groups()) * columns);
    let mut shared = M::State::allocate(totals);
    let groups = comptime!(config.first_group() * columns);
    let last = comptime!(groups + (config.groups() - 1) * columns);
    #[unroll]
    for lane in 0..lanes {
        let at = y * columns + comptime!(lane * config.width) + x;
        M::State::set(&mut shared, at, &total[lane]);
    }
    sync_cube();
    if comptime!(config.group > 1) {
        fold_groups::<A, M>(&mut shared, &identity, columns, config, op);
        sync_cube();
    }
    let mut column_of_strip = UNIT_POS as usize;
    while column_of_strip < columns {
        let mut aggregate = M::State::copy(&identity);
        for group in 0..comptime!(config.groups()) {
            let state = M::State::get(&shared, groups + group * columns + column_of_strip);
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
    let group = y / config.group;
    #[unroll]
    for lane in 0..lanes {
        let own = comptime!(lane * config.width) + x;
        for other in 0..group {
            let state = M::State::get(&shared, groups + other * columns + own);
            earlier[lane] = join::<A, M>(&earlier[lane], &state, op);
        }
        if comptime!(config.group > 1) {
            let mut of_group = M::State::copy(&identity);
            for row in group * config.group..y {
                let state = M::State::get(&shared, row * columns + own);
                of_group = join::<A, M>(&of_group, &state, op);
            }
            earlier[lane] = join::<A, M>(&earlier[lane], &of_group, op);
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
            if comptime!(config.narrow) {
                let exchange = comptime!(config.exchange());
                let row = own_row::<T, N>(&waiting, view, &column, y, k, inputs, exchange);
                let results = results_of_row::<T, A, N, M>(
                    &mut running,
                    0usize,
                    &row,
                    &identity,
                    config.rows,
                    op,
                );
                let vectors = vectors_of::<T, A, N, M>(&results, outputs, op);
                leave_row::<T, N>(&mut waiting, &vectors, view, &column, y, k, exchange);
            } else {
                let row = elements::<T, N>(&loaded[k], &waiting, k, config.wait);
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
    if comptime!(config.narrow) {
        sync_cube();
        let exchange = comptime!(config.exchange());
        store_tile::<T, N, P>(&waiting, writes, view, &column, tile, exchange);
    }
}

/// The unit's rows, which wait in shared memory, too, where they are exchanged or parked there.
#[cube]
fn load_rows<T: Numeric, N: Size, B: Numeric>(
    waiting: &mut Shared<[Vector<T, N>]>,
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    column: &Column,
    tile: NarrowTile,
    y: usize,
    #[comptime] config: ColumnTileConfig,
) -> Sequence<Loaded<T, N>> {
    if comptime!(config.narrow) {
        let exchange = comptime!(config.exchange());
        let inputs = reads.inputs.len().comptime();
        load_tile::<T, N, B>(waiting, reads, view, column, tile, exchange);
        sync_cube();
        let mut rows = Sequence::<Loaded<T, N>>::new();
        #[unroll]
        for k in 0..config.rows.ahead {
            let row = own_row::<T, N>(&*waiting, view, column, y, k, inputs, exchange);
            rows.push(row);
        }
        rows
    } else {
        let rows = load_ahead::<T, N, B>(reads, view, column, column.first, config.rows);
        #[unroll]
        for k in 0..config.wait.parked {
            park::<T, N>(waiting, &rows[k], k, config.wait);
        }
        rows
    }
}

/// Folds the totals of the rows of units in groups, a unit for each group and column.
#[cube]
fn fold_groups<A: Numeric, M: Monoid<A>>(
    shared: &mut <M::State as State>::Shared,
    identity: &M::State,
    #[comptime] columns: usize,
    #[comptime] config: ColumnTileConfig,
    #[comptime] op: M::Config,
) {
    let groups = comptime!(config.groups() * columns);
    let mut own = UNIT_POS as usize;
    while own < groups {
        let first = own / columns * config.group;
        let column = own % columns;
        let mut total = M::State::copy(identity);
        for row in first..first + config.group {
            let state = M::State::get(&*shared, row * columns + column);
            total = join::<A, M>(&total, &state, op);
        }
        M::State::set(
            shared,
            comptime!(config.first_group() * columns) + own,
            &total,
        );
        own += config.rows.units;
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
    let mut group = M::State::copy(identity);
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
            if comptime!(config.group > 1) {
                group = join::<A, M>(&group, &own, op);
                if at % comptime!(config.rows.ahead * config.group) == 0 {
                    total = join::<A, M>(&total, &group, op);
                    group = M::State::copy(identity);
                }
            } else {
                total = join::<A, M>(&total, &own, op);
            }
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
    /// Whether tiles have whole rows, which units exchange.
    narrow: bool,
}

impl Shape {
    fn of<O: Operator>(call: &Call<O>) -> Self {
        let columns = call.lines.inner_count() / call.lanes;
        let narrow = Self::is_narrow(call, columns);
        let units = match call.launch.units {
            Some(_) => call.tuning.units,
            None => call.tuning.units.min(COLUMN_TILE_UNITS),
        };
        let width = columns
            .next_power_of_two()
            .min(COLUMN_TILE_WIDTH)
            .min(units);
        let inputs = call.tensors.inputs.len();
        let most = match narrow {
            true => NARROW_TILE_ROWS,
            false => call.tuning.ahead,
        };
        let rows = call.launch.vectors.unwrap_or(most / inputs);
        let shape = Self {
            width,
            height: units / width,
            rows: rows.max(1),
            narrow: narrow && columns <= width,
        };
        match call.launch.vectors {
            None if narrow => shape.with_room(call),
            _ => shape,
        }
    }

    /// Rows that lie within half a strip, none of which says where segments begin or where its elements lie.
    fn is_narrow<O: Operator>(call: &Call<O>, columns: usize) -> bool {
        2 * columns.next_power_of_two() <= COLUMN_TILE_WIDTH
            && call.tensors.begins.is_none()
            && call.tensors.positions.is_none()
    }

    /// With as many rows as find room in shared memory beside another cube's.
    fn with_room<O: Operator>(self, call: &Call<O>) -> Self {
        let there = call.client.properties().hardware.max_shared_memory_size;
        let mut rows = self.rows;
        while rows > 1 && 2 * (Self { rows, ..self }).exchanged_bytes(call) > there {
            rows /= 2;
        }
        Self { rows, ..self }
    }

    /// Bytes of shared memory of a narrow tile: its vectors, and the totals of its units and of groups of them.
    fn exchanged_bytes<O: Operator>(&self, call: &Call<O>) -> usize {
        let tensors = call.tensors.inputs.len().max(call.tensors.outputs.len());
        let vectors = tensors * room(self.exchange(call));
        let totals = (self.height + self.height / self.group()) * self.width * call.lanes;
        vectors * call.lanes * call.tensors.dtype.size()
            + totals * call.state_words() * size_of::<u32>()
    }

    fn exchange<O: Operator>(&self, call: &Call<O>) -> ExchangeConfig {
        ExchangeConfig {
            units: self.units(),
            rows: self.rows,
            reverse: call.options.reverse,
        }
    }

    fn units(&self) -> usize {
        self.width * self.height
    }

    /// Rows of units whose totals are folded first.
    fn group(&self) -> usize {
        match self.height > MOST_TOTALS && self.height.is_multiple_of(GROUP) {
            true => GROUP,
            false => 1,
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

/// The most totals that a unit folds one by one, and how many are folded first where they are more.
const MOST_TOTALS: usize = 32;
const GROUP: usize = 16;

/// Whether tiles keep a device busy that whole columns would not, and lines of memory are read whole.
pub(crate) fn serves<O: Operator>(call: &Call<O>) -> bool {
    let shape = Shape::of(call);
    let columns = call.rows() * (call.lines.inner_count() / call.lanes);
    let there = call.client.properties().hardware.max_shared_memory_size;
    !call.tuning.unit_runs
        && columns < call.tuning.fill
        && match shape.narrow {
            true => shape.exchanged_bytes(call) <= there,
            false => 2 * shape.width > COLUMN_TILE_WIDTH,
        }
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
        group: shape.group(),
        rows: ColumnsConfig {
            exclusive: call.options.exclusive,
            reverse: call.options.reverse,
            cut: Cut::Whole,
            ahead: shape.rows,
            overshoots: true,
            abreast: 1,
            units: shape.units(),
        },
        wait: call.waiting(shape.units(), shape.rows, shape.parked(&call)),
        narrow: shape.narrow,
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
            CubeDim::new_1d(shape.units() as u32),
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
