//! Lines that fit a cube: all passes in one launch, in shared memory. A cube sorts several short lines at once.
//!
//! ```text
//! lines of a cube    │ 3 1 2 │ 9 7 8 │ …
//! by their digits    1 2 3 7 8 9 …          a stable pass for each digit, as if they were one line
//! by their line      │ 1 2 3 │ 7 8 9 │ …    the number of the line is the highest digit
//! ```
//!
//! Each pass ranks the keys of the tile by a digit, moves them to their ranks in shared memory and reads them back.
//! With the keys move their places in the unsorted tile: these tell lines and positions.

use super::SortOutputs;
use super::code::{KeyOrder, code_word};
use super::problem::{Sort, Source};
use super::tile::KeyTile;
use super::whole_lines::{WholeLines, WholeLinesLaunch};
use crate::compact::digits::config::DigitConfig;
use crate::compact::digits::ranks::{digit_of, place_of_key};
use crate::compact::unused;
use crate::scan::cube_count;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// What the passes of a cube are.
#[derive_cube_comptime]
pub(super) struct CubeConfig {
    pub digits: DigitConfig,
    pub order: KeyOrder,
    /// Passes for each word of a code, and for the numbers of lines.
    pub passes: [usize; 3],
    /// Positions are read from a tensor; else a key's position is where it lies in its line.
    pub reads_positions: bool,
    pub writes_keys: bool,
    pub writes_positions: bool,
}

impl CubeConfig {
    /// Places in the unsorted tile are needed.
    fn has_places(&self) -> bool {
        self.writes_positions || self.passes[2] > 0
    }

    fn all_passes(&self) -> usize {
        self.passes.iter().sum()
    }
}

/// The digit of a key in a pass. `line` is the number of its line in the cube.
#[cube]
fn digit_in_pass<K: Numeric>(
    key: K,
    line: u32,
    pass: usize,
    #[comptime] config: CubeConfig,
) -> u32 {
    let low = comptime!(config.passes[0]);
    let high = comptime!(config.passes[1]);
    let lines = comptime!(config.passes[2]);
    let mut word = code_word::<K>(key, 0usize, config.order);
    let mut first = 0usize.runtime();
    if comptime!(high > 0) {
        let is_high = pass >= low;
        word = select(is_high, code_word::<K>(key, 1usize, config.order), word);
        first = select(is_high, low, first);
    }
    if comptime!(lines > 0) {
        let is_line = pass >= comptime!(low + high);
        word = select(is_line, line, word);
        first = select(is_line, comptime!(low + high), first);
    }
    let shift = (pass - first) as u32 * config.digits.bits;
    digit_of(word, shift, config.digits)
}

/// Sorts the lines of a cube, and writes the first keys of each and their positions.
#[cube(launch_unchecked, address_type = "dynamic")]
fn sort_in_cube_kernel<K: Numeric, I: Numeric>(
    keys: &[K],
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
    let digits = comptime!(config.digits);
    let none = comptime!(digits.digits() as u32);
    let mut tile = KeyTile::<K>::load(keys, begin, count, digits);
    let mut places = Array::<u32>::new(digits.keys);
    #[unroll]
    for k in 0..digits.keys {
        places[k] = place_of_key(k, digits) as u32;
    }
    for pass in 0..comptime!(config.all_passes()) {
        #[unroll]
        for k in 0..digits.keys {
            let mut digit = none.runtime();
            if place_of_key(k, digits) < count {
                let mut own_line = 0u32.runtime();
                if comptime!(config.passes[2] > 0) {
                    own_line = of.len.div(places[k] as usize) as u32;
                }
                digit = digit_in_pass::<K>(tile.own[k], own_line, pass, config);
            }
            tile.ranked.digits[k] = digit;
        }
        // The units have read what the last pass has moved.
        sync_cube();
        tile.ranked.rank(digits);
        sync_cube();
        tile.stage(digits);
        if comptime!(config.has_places()) {
            #[unroll]
            for k in 0..digits.keys {
                if tile.ranked.digits[k] < none {
                    tile.ranked.words[tile.ranked.places[k] as usize] = places[k];
                }
            }
        }
        sync_cube();
        #[unroll]
        for k in 0..digits.keys {
            let place = place_of_key(k, digits);
            if place < count {
                tile.own[k] = tile.staged[place];
                if comptime!(config.has_places()) {
                    places[k] = tile.ranked.words[place];
                }
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
    let [low, high] = sort.passes_of_words();
    let config = CubeConfig {
        digits: sort.digits,
        order: sort.order,
        passes: [low, high, sort.passes(of_cube.next_power_of_two().ilog2())],
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
