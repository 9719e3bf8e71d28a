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

use super::tile::{KeyDigit, KeyTile, digit_of_key};
use crate::ScanOp;
use crate::compact::digits::config::DigitConfig;
use crate::monoid::Fold;
use crate::scan::components::column_lookback::{StripConfig, StripLookback, StripTile};
use crate::scan::components::lookback::tile_of_cube;
use crate::scan::components::tile_state::TileWords;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The tiles of a launch, and its digit.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct KeyPass {
    /// Lines, and the keys of one.
    lines: usize,
    len: usize,
    /// The first keys of a line that are written.
    kept: usize,
    /// The lowest bit of the digit in its word.
    shift: u32,
    /// The digit's number among those that have offsets, and how many have them.
    pass: usize,
    passes: usize,
    /// The parts of a line that have offsets: its tiles, unless tiles look back.
    parts: usize,
}

/// What a pass is compiled with.
#[derive_cube_comptime]
pub(super) struct PassConfig {
    pub digit: KeyDigit,
    /// How tiles look back, if they do.
    pub lookback: Option<StripConfig>,
    /// Cubes start in the order of their positions; else they take tickets.
    pub cubes_in_order: bool,
    /// Positions are read from a tensor; else a key's position is where it lies in its line.
    pub reads_positions: bool,
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

/// The keys of a digit in earlier tiles of the line. `aggregate` is their number in this tile.
#[cube]
fn earlier_keys<K: Numeric>(
    keys: &[K],
    state: &[Atomic<u32>],
    of: KeyPass,
    place: Place,
    digit: usize,
    aggregate: u32,
    words: TileWords,
    #[comptime] config: PassConfig,
    #[comptime] strip: StripConfig,
) -> u32 {
    let sum = comptime!(ScanOp::Sum);
    let own = StripTile {
        number: place.tile * of.lines + place.line,
        strip: place.line,
        tile: place.tile,
    };
    let mut search = StripLookback::<u32>::new(own, digit, &0u32.runtime(), words);
    search.publish_aggregate(state, words, &aggregate, strip);
    search.find_prefix(state, words, strip);
    while search.advance::<u32, Fold>(state, words, strip, sum) {
        let begin = place.line * of.len + search.missing() * config.digit.tile.tile();
        let mut missing = 0u32;
        for at in 0..config.digit.tile.tile() {
            let other = digit_of_key::<K>(keys[begin + at], of.shift, config.digit);
            missing += u32::cast_from(other == digit as u32);
        }
        search.publish_fallback::<u32, Fold>(state, words, &missing, strip, sum);
    }
    search.publish_prefix::<u32, Fold>(state, words, &aggregate, strip, sum);
    search.before()
}

/// Where the keys of a digit in this tile begin in the line. `count` is their number.
#[cube]
fn begin_of_digit<K: Numeric>(
    keys: &[K],
    digit_offsets: &[u32],
    state: &[Atomic<u32>],
    of: KeyPass,
    place: Place,
    digit: usize,
    count: u32,
    words: TileWords,
    #[comptime] config: PassConfig,
) -> u32 {
    let row = (place.line * of.passes + of.pass) * config.digit.tile.digits() + digit;
    if comptime!(config.lookback.is_some()) {
        let strip = comptime!(config.lookback.unwrap());
        let earlier = earlier_keys::<K>(keys, state, of, place, digit, count, words, config, strip);
        digit_offsets[row * of.parts] + earlier
    } else {
        digit_offsets[row * of.parts + place.tile]
    }
}

/// Sorts each tile by the digit, and moves the keys of each digit to their places. `digit_offsets[line, pass, digit,
/// part]` says where they begin in the line.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn move_keys_kernel<K: Numeric, I: Numeric>(
    keys: &[K],
    positions: &[u32],
    digit_offsets: &[u32],
    keys_out: &mut [K],
    positions_out: &mut [I],
    state: &[Atomic<u32>],
    of: KeyPass,
    words: TileWords,
    #[comptime] config: PassConfig,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let digit = comptime!(config.digit);
    let tile_config = comptime!(config.digit.tile);
    let mut number = CUBE_POS;
    if comptime!(config.lookback.is_some()) {
        number = tile_of_cube(state, CUBE_COUNT as u32, config.cubes_in_order);
    }
    let place = place_of_tile(number, of, tile_config);
    let begin = place.line * of.len + place.first;
    let mut tile = KeyTile::<K>::load(keys, begin, place.count, tile_config);
    tile.rank(place.count, of.shift, digit);
    sync_cube();
    tile.stage(tile_config);
    if comptime!(config.writes_positions) {
        let reads = comptime!(config.reads_positions);
        tile.stage_positions(positions, begin, place.first, reads, tile_config);
    }
    // What is added to a rank in the tile.
    let mut bases = Shared::<[u32]>::new_slice(comptime!(tile_config.digits()));
    #[unroll]
    for step in 0..comptime!(tile_config.digits().div_ceil(tile_config.units)) {
        let own = step * tile_config.units + UNIT_POS as usize;
        if own < comptime!(tile_config.digits()) && place.count > 0 {
            let start = tile.ranked.starts[own];
            let count = tile.ranked.starts[own + 1] - start;
            let begins = begin_of_digit::<K>(
                keys,
                digit_offsets,
                state,
                of,
                place,
                own,
                count,
                words,
                config,
            );
            bases[own] = begins - start;
        }
    }
    sync_cube();
    // Neighbouring units have keys of neighbouring ranks.
    #[unroll]
    for step in 0..tile_config.keys {
        let rank = step * tile_config.units + UNIT_POS as usize;
        if rank < place.count {
            let key = tile.staged[rank];
            let own = digit_of_key::<K>(key, of.shift, digit) as usize;
            let in_line = (bases[own] + rank as u32) as usize;
            if in_line < of.kept {
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
}
