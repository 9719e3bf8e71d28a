//! The kernel of one pass over long lines: a cube takes a tile of a line.
//!
//! ```text
//! place of a key   where its digit begins in the line, or in the line from this tile on
//!                + the keys of the digit in earlier tiles of the line, if the tile looks back
//!                + the rank of the key among those of its digit in the tile
//! ```
//!
//! A tile that looks back takes the counts of its digits as the aggregates of columns, one for each digit: see
//! [`column_lookback`](crate::scan::components::column_lookback). If an earlier tile has not published its count of a
//! digit, the unit counts that digit in the keys of that tile.

use super::schedule::{OwnPass, own_pass};
use super::tile::{KeyDigits, KeyTile, digit_in_pass, read_vector};
use crate::ScanOp;
use crate::compact::digits::config::DigitConfig;
use crate::compact::digits::ranks::RankedTile;
use crate::monoid::Fold;
use crate::scan::components::column_lookback::{StripConfig, StripLookback, StripTile};
use crate::scan::components::lookback::tile_of_cube;
use crate::scan::components::tile_state::TileWords;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The tiles of a turn.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct KeyPass {
    /// Lines, and the keys of one.
    lines: usize,
    len: usize,
    /// The first keys of a line that are written.
    kept: usize,
    /// Its number.
    turn: usize,
    /// Where the schedule begins in the table.
    schedule: usize,
    /// The parts of a line that have offsets: its tiles, unless tiles look back.
    parts: usize,
}

/// What a pass is compiled with.
#[derive_cube_comptime]
pub(super) struct PassConfig {
    pub digits: KeyDigits,
    /// How tiles look back, if they do.
    pub lookback: Option<StripConfig>,
    /// Cubes start in the order of their positions; else they take tickets.
    pub cubes_in_order: bool,
    pub writes_keys: bool,
    pub writes_positions: bool,
}

/// The tile of a cube.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Place {
    /// Its line, and its number there.
    line: usize,
    tile: usize,
    /// The position in the line of its first key, and how many keys it has, 0 after the last tile.
    first: usize,
    count: usize,
}

/// Tiles follow one another across all lines first: a tile comes after those before it.
#[cube]
fn place_of_tile(number: usize, of: KeyPass, #[comptime] config: DigitConfig) -> Place {
    let tile = number / of.lines;
    let first = min(tile * config.tile(), of.len);
    Place {
        line: number - tile * of.lines,
        tile,
        first,
        count: min(of.len - first, config.tile()),
    }
}

/// The lookback for a digit of the tile.
#[cube]
fn lookback_of(
    of: KeyPass,
    place: Place,
    digit: usize,
    words: TileWords,
    #[comptime] strip: StripConfig,
) -> StripLookback<u32> {
    let own = StripTile {
        number: place.tile * of.lines + place.line,
        strip: place.line,
        tile: place.tile,
    };
    StripLookback::<u32>::new(own, digit, &0u32.runtime(), words, strip)
}

/// The keys of a digit in earlier tiles of the line. `aggregate` is their number in this tile, which is published.
#[cube]
fn earlier_keys<K: Numeric, N: Size>(
    keys: &[Vector<K, N>],
    moved: &[Vector<K, N>],
    state: &[Atomic<u32>],
    of: KeyPass,
    place: Place,
    pass: OwnPass,
    digit: usize,
    aggregate: u32,
    words: TileWords,
    #[comptime] config: PassConfig,
    #[comptime] strip: StripConfig,
) -> u32 {
    let sum = comptime!(ScanOp::Sum);
    let mut search = lookback_of(of, place, digit, words, strip);
    while search.advance::<u32, Fold>(state, sum) {
        let begin = place.line * of.len + search.missing() * config.digits.tile.tile();
        let lanes = N::value().comptime();
        let mut missing = 0u32;
        for vector in 0..config.digits.tile.tile() / lanes {
            let at = begin / lanes + vector;
            let read = read_vector::<K, N>(keys, moved, pass.is_first, at);
            #[unroll]
            for lane in 0..lanes {
                let key = read.extract(lane);
                let other = digit_in_pass::<K>(key, pass.number, config.digits);
                missing += u32::cast_from(other == digit as u32);
            }
        }
        search.publish_fallback::<u32, Fold>(state, &missing, sum);
    }
    search.publish_prefix::<u32, Fold>(state, &aggregate, sum);
    search.before::<u32, Fold>(sum)
}

/// Where the keys of a digit begin in the line, or those in this tile unless tiles look back.
#[cube]
fn begin_of_digit(
    table: &[u32],
    of: KeyPass,
    place: Place,
    pass: OwnPass,
    digit: usize,
    #[comptime] config: PassConfig,
) -> u32 {
    let digits = comptime!(config.digits.tile.digits());
    if comptime!(config.lookback.is_some()) {
        let passes = comptime!(config.digits.all_passes());
        table[((place.line * passes + pass.number) * digits + digit) * of.parts]
    } else {
        table[(place.line * digits + digit) * of.parts + place.tile]
    }
}

/// Publishes how often the tile has each digit.
#[cube]
fn publish_counts(
    ranked: &RankedTile,
    state: &[Atomic<u32>],
    of: KeyPass,
    place: Place,
    words: TileWords,
    #[comptime] config: PassConfig,
) {
    let strip = comptime!(config.lookback.unwrap());
    let tile = comptime!(config.digits.tile);
    #[unroll]
    for step in 0..comptime!(tile.digits().div_ceil(tile.units)) {
        let digit = step * tile.units + UNIT_POS as usize;
        if digit < comptime!(tile.digits()) && place.count > 0 {
            let count = ranked.starts[digit + 1] - ranked.starts[digit];
            let search = lookback_of(of, place, digit, words, strip);
            search.publish_aggregate(state, &count);
        }
    }
}

/// Writes the sorted tile: `bases` are added to ranks. Neighbouring units have keys of neighbouring ranks.
#[cube]
fn write_sorted<K: Numeric, I: Numeric>(
    tile: &KeyTile<K>,
    bases: &Shared<[u32]>,
    keys_out: &mut [K],
    positions_out: &mut [I],
    of: KeyPass,
    place: Place,
    pass: OwnPass,
    #[comptime] config: PassConfig,
) {
    let units = comptime!(config.digits.tile.units);
    #[unroll]
    for step in 0..config.digits.tile.keys {
        let rank = step * units + UNIT_POS as usize;
        // Nothing depends on a branch but the writes, so units read many keys at once.
        let key = tile.staged[rank];
        let own = digit_in_pass::<K>(key, pass.number, config.digits) as usize;
        let in_line = (bases[own] + rank as u32) as usize;
        if rank < place.count && in_line < of.kept {
            let to = place.line * of.kept + in_line;
            if comptime!(config.writes_keys) {
                keys_out[to] = key;
            }
            if comptime!(config.writes_positions) {
                positions_out[to] = I::cast_from(tile.ranked.words[rank]);
            }
        }
    }
}

/// Sorts each tile by the digit of the pass that its line makes in this turn, and moves the keys of each digit to their
/// places. A line without a pass keeps its keys where they are. The first pass of a line reads `keys`, and later ones
/// what was `moved`. `table[line, pass, digit, part]` says where digits begin in the line; without lookback there is
/// one pass. The schedule follows.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn move_keys_kernel<K: Numeric, I: Numeric, N: Size>(
    keys: &[Vector<K, N>],
    moved: &[Vector<K, N>],
    moved_positions: &[u32],
    table: &[u32],
    keys_out: &mut [K],
    positions_out: &mut [I],
    state: &[Atomic<u32>],
    of: KeyPass,
    words: TileWords,
    #[comptime] config: PassConfig,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let digits = comptime!(config.digits);
    let tile_config = comptime!(config.digits.tile);
    let mut number = CUBE_POS;
    if comptime!(config.lookback.is_some()) {
        number = tile_of_cube(state, CUBE_COUNT as u32, config.cubes_in_order);
    }
    let place = place_of_tile(number, of, tile_config);
    let pass = own_pass(
        table,
        of.schedule,
        place.line,
        of.turn,
        comptime!(digits.all_passes()),
        comptime!(!tile_config.planes_meet),
    );
    if pass.exists {
        let begin = place.line * of.len + place.first;
        let mut tile = KeyTile::<K>::new(tile_config);
        if pass.is_first {
            tile.read::<N>(keys, begin, place.count, tile_config);
        } else {
            tile.read::<N>(moved, begin, place.count, tile_config);
        }
        tile.ranked.clear(tile_config);
        // What is added to a rank in the tile: at first, where digits begin.
        let mut bases = Shared::<[u32]>::new_slice(comptime!(tile_config.digits()));
        let steps = comptime!(tile_config.digits().div_ceil(tile_config.units));
        #[unroll]
        for step in 0..steps {
            let own = step * tile_config.units + UNIT_POS as usize;
            if own < comptime!(tile_config.digits()) && place.count > 0 {
                bases[own] = begin_of_digit(table, of, place, pass, own, config);
            }
        }
        sync_cube();
        tile.rank(place.count, pass.number, digits);
        sync_cube();
        if comptime!(config.lookback.is_some()) {
            publish_counts(&tile.ranked, state, of, place, words, config);
        }
        tile.stage(tile_config);
        // Positions are read before the lookback, which needs the registers of ranks.
        if comptime!(config.writes_positions) {
            tile.stage_positions(
                moved_positions,
                begin,
                place.first,
                place.count,
                !pass.is_first,
                tile_config,
            );
        }
        // A lookback is long code, so the loop is unrolled only where a unit has a single digit.
        #[unroll(steps == 1)]
        for step in 0..steps {
            let own = step * tile_config.units + UNIT_POS as usize;
            if own < comptime!(tile_config.digits()) && place.count > 0 {
                let start = tile.ranked.starts[own];
                if comptime!(config.lookback.is_some()) {
                    let count = tile.ranked.starts[own + 1] - start;
                    let strip = comptime!(config.lookback.unwrap());
                    bases[own] += earlier_keys::<K, N>(
                        keys, moved, state, of, place, pass, own, count, words, config, strip,
                    );
                }
                bases[own] -= start;
            }
        }
        sync_cube();
        write_sorted::<K, I>(
            &tile,
            &bases,
            keys_out,
            positions_out,
            of,
            place,
            pass,
            config,
        );
    }
}
