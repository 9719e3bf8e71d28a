//! The kernels of one pass over long lines: a cube takes a tile of a line.

use super::tile::{KeyDigit, KeyTile, digit_of_key};
use crate::compact::digits::config::DigitConfig;
use crate::compact::digits::ranks::place_of_key;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The tiles of a launch, and its digit.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct KeyPass {
    /// Lines, and the keys of one.
    pub lines: usize,
    pub len: usize,
    /// The tiles of a line.
    pub tiles: usize,
    /// The first keys of a line that are written.
    pub kept: usize,
    /// The lowest bit of the digit in its word.
    pub shift: u32,
}

/// What a pass is compiled with.
#[derive_cube_comptime]
pub(super) struct PassConfig {
    pub digit: KeyDigit,
    /// Positions are read from a tensor; else a key's position is where it lies in its line.
    pub reads_positions: bool,
    pub writes_keys: bool,
    pub writes_positions: bool,
}

/// The tile of a cube.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Place {
    line: usize,
    /// Its number in the line.
    tile: usize,
    /// The position in the line of its first key, and its keys: none beyond the last line.
    first: usize,
    count: usize,
}

#[cube]
fn place_of_tile(number: usize, of: KeyPass, #[comptime] config: DigitConfig) -> Place {
    let line = number / of.tiles;
    let tile = number - line * of.tiles;
    let first = tile * config.tile();
    let count = min(of.len - first, config.tile());
    Place {
        line,
        tile,
        first,
        count: select(line < of.lines, count, 0usize),
    }
}

/// Where the entry of a digit and a tile lies in `[lines, digits, tiles]`.
#[cube]
fn entry_of(place: Place, digit: usize, of: KeyPass, #[comptime] config: DigitConfig) -> usize {
    (place.line * config.digits() + digit) * of.tiles + place.tile
}

/// Writes `counts[line, digit, tile]`.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn count_keys_kernel<K: Numeric>(
    keys: &[K],
    counts: &mut [u32],
    of: KeyPass,
    #[comptime] digit: KeyDigit,
    #[define(K)] _dtype: ElemType,
) {
    let config = comptime!(digit.tile);
    let place = place_of_tile(CUBE_POS, of, config);
    let begin = place.line * of.len + place.first;
    let mut tile = KeyTile::<K>::load(keys, begin, place.count, config);
    tile.rank(place.count, of.shift, digit);
    if place.line < of.lines {
        #[unroll]
        for step in 0..comptime!(config.digits().div_ceil(config.units)) {
            let at = step * config.units + UNIT_POS as usize;
            if at < comptime!(config.digits()) {
                let starts = &tile.ranked.starts;
                counts[entry_of(place, at, of, config)] = starts[at + 1] - starts[at];
            }
        }
    }
}

/// Sorts each tile by the digit, and moves the keys of each digit to their places. `digit_offsets[line, digit, tile]`
/// says where they begin in the line.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn move_keys_kernel<K: Numeric, I: Numeric>(
    keys: &[K],
    positions: &[u32],
    digit_offsets: &[u32],
    keys_out: &mut [K],
    positions_out: &mut [I],
    of: KeyPass,
    #[comptime] config: PassConfig,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let digit = comptime!(config.digit);
    let tile_config = comptime!(config.digit.tile);
    let place = place_of_tile(CUBE_POS, of, tile_config);
    let begin = place.line * of.len + place.first;
    let mut tile = KeyTile::<K>::load(keys, begin, place.count, tile_config);
    tile.rank(place.count, of.shift, digit);
    sync_cube();
    tile.stage(tile_config);
    if comptime!(config.writes_positions) {
        #[unroll]
        for k in 0..tile_config.keys {
            let at = place_of_key(k, tile_config);
            if at < place.count {
                let mut position = (place.first + at) as u32;
                if comptime!(config.reads_positions) {
                    position = positions[begin + at];
                }
                tile.ranked.words[tile.ranked.places[k] as usize] = position;
            }
        }
    }
    sync_cube();
    // From here on, neighbouring units have keys of neighbouring ranks.
    #[unroll]
    for step in 0..tile_config.keys {
        let rank = step * tile_config.units + UNIT_POS as usize;
        if rank < place.count {
            let key = tile.staged[rank];
            let own = digit_of_key::<K>(key, of.shift, digit) as usize;
            let before = digit_offsets[entry_of(place, own, of, tile_config)];
            let in_line = (before + (rank as u32 - tile.ranked.starts[own])) as usize;
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
