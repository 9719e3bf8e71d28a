//! Lines that fit a cube: all passes in one launch, in shared memory. A cube sorts several short lines at once.
//!
//! ```text
//! lines of a cube    │ 3 1 2 │ 9 7 8 │ …
//! by their digits    1 2 3 7 8 9 …          a stable pass for each digit, as if they were one line
//! by their line      │ 1 2 3 │ 7 8 9 │ …    the number of the line is the highest digit
//! ```
//!
//! Each pass ranks the keys of the tile by a digit, moves them to their ranks in shared memory and reads them back.
//! Their places in the unsorted tile move with them: these tell lines and positions.

use super::SortOutputs;
use super::problem::{Sort, Source};
use super::tile::{KeyDigits, KeyTile, digit_in_pass, rank_of_key};
use super::whole_lines::{WholeLines, WholeLinesLaunch};
use crate::compact::digits::ranks::{digit_of, place_of_key};
use crate::compact::unused;
use crate::scan::cube_count;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// What the passes of a cube are.
#[derive_cube_comptime]
pub(super) struct CubeConfig {
    pub digits: KeyDigits,
    /// Passes for the numbers of lines.
    pub passes_of_lines: usize,
    /// Positions are read from a tensor; else a key's position is where it lies in its line.
    pub reads_positions: bool,
    pub writes_keys: bool,
    pub writes_positions: bool,
}

impl CubeConfig {
    /// Places in the unsorted tile are needed.
    fn has_places(&self) -> bool {
        self.writes_positions || self.passes_of_lines > 0
    }

    fn all_passes(&self) -> usize {
        self.digits.all_passes() + self.passes_of_lines
    }
}

/// The digit of a key in a pass; in the passes after those of keys, a digit of `line`, the number of its line in the
/// cube.
#[cube]
fn digit_of_place<K: Numeric>(
    key: K,
    line: u32,
    pass: usize,
    #[comptime] config: CubeConfig,
) -> u32 {
    let of_keys = comptime!(config.digits.all_passes());
    let of_key = min(pass, comptime!(of_keys - 1));
    let mut digit = digit_in_pass::<K>(key, of_key, config.digits);
    if comptime!(config.passes_of_lines > 0) {
        let is_line = pass >= of_keys;
        let shift = select(is_line, pass - of_keys, 0usize) as u32 * config.digits.tile.bits;
        digit = select(is_line, digit_of(line, shift, config.digits.tile), digit);
    }
    digit
}

/// Sorts the lines of a cube, and writes the first keys of each and their positions.
#[cube(launch_unchecked, address_type = "dynamic")]
fn sort_in_cube_kernel<K: Numeric, I: Numeric, N: Size>(
    keys: &[Vector<K, N>],
    positions: &[u32],
    keys_out: &mut [K],
    positions_out: &mut [I],
    of: &WholeLines,
    #[comptime] config: CubeConfig,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let own_lines = of.own();
    let (first, begin, count) = (own_lines.first, own_lines.begin, own_lines.count);
    let digits = comptime!(config.digits.tile);
    let mut tile = KeyTile::<K>::load::<N>(keys, begin, count, digits);
    let mut places = Array::<u32>::new(digits.keys);
    #[unroll]
    for k in 0..digits.keys {
        places[k] = place_of_key(k, digits) as u32;
    }
    for pass in 0..comptime!(config.all_passes()) {
        #[unroll]
        for k in 0..digits.keys {
            let mut own_line = 0u32.runtime();
            if comptime!(config.passes_of_lines > 0) {
                own_line = of.len.div(places[k] as usize) as u32;
            }
            let digit = digit_of_place::<K>(tile.own[k], own_line, pass, config);
            tile.ranked.ranks[k] = rank_of_key(k, digit, count, digits);
        }
        // The units have read what the last pass has moved.
        sync_cube();
        tile.ranked.clear(digits);
        sync_cube();
        tile.ranked.rank(digits);
        sync_cube();
        tile.stage(digits);
        if comptime!(config.has_places()) {
            tile.ranked.stage(&places, digits);
        }
        sync_cube();
        #[unroll]
        for k in 0..digits.keys {
            let place = place_of_key(k, digits);
            tile.own[k] = tile.staged[place];
            if comptime!(config.has_places()) {
                places[k] = tile.ranked.words[place];
            }
        }
    }

    // Neighbouring units write neighbours.
    #[unroll]
    for step in 0..digits.keys {
        let place = step * digits.units + UNIT_POS as usize;
        let (own_line, rank) = of.len.div_mod(place);
        if place < count && rank < of.kept {
            let to = (first + own_line) * of.kept + rank;
            if comptime!(config.writes_keys) {
                keys_out[to] = tile.staged[place];
            }
            if comptime!(config.writes_positions) {
                let from = tile.ranked.words[place] as usize;
                if comptime!(config.reads_positions) {
                    positions_out[to] = I::cast_from(positions[begin + from]);
                } else {
                    let in_line = from - own_line * of.keys_of_line;
                    positions_out[to] = I::cast_from(in_line);
                }
            }
        }
    }
}

/// Sorts lines that fit a tile, and writes the first `kept` keys of each.
pub(super) fn sort_in_cubes(sort: &Sort, source: Source, outputs: SortOutputs, kept: usize) {
    let [lines, len] = source.lines;
    let of_cube = (sort.digits.tile() / len).min(lines);
    let config = CubeConfig {
        digits: sort.key_digits(),
        passes_of_lines: sort.passes(of_cube.next_power_of_two().ilog2()),
        reads_positions: source.positions.is_some(),
        writes_keys: outputs.keys.is_some(),
        writes_positions: outputs.positions.is_some(),
    };
    let client = sort.client;
    let positions = source.positions.unwrap_or_else(|| unused(client));
    let (positions_out, index) = outputs
        .positions
        .unwrap_or_else(|| (unused(client), u32::elem_type_native()));
    // SAFETY: cubes beyond the lines have no keys. Ranks in a line are below its length, and written if below `kept`.
    // What a kernel is compiled not to access is not accessed.
    unsafe {
        sort_in_cube_kernel::launch_unchecked(
            client,
            cube_count(client, lines.div_ceil(of_cube)),
            CubeDim::new_1d(sort.digits.units as u32),
            sort.address_type,
            sort.lanes_of_tile(len, &[&source.keys]),
            source.keys.into_buffer_arg(),
            positions.into_buffer_arg(),
            outputs
                .keys
                .unwrap_or_else(|| unused(client))
                .into_buffer_arg(),
            positions_out.into_buffer_arg(),
            WholeLinesLaunch::new(lines, len, len, of_cube, kept),
            config,
            sort.dtype,
            index,
        );
    }
}
