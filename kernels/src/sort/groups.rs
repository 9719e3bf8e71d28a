//! Groups of keys that fit a cube: all passes in one launch, in shared memory.
//!
//! A line that fits a tile is a group, and a cube sorts several short lines at once. A longer line consists of groups
//! of a tile each, of which [`top_k`](super::top_k()) keeps the first keys.
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
use crate::compact::digits::config::DigitConfig;
use crate::compact::digits::ranks::{digit_of, place_of_key};
use crate::compact::unused;
use crate::scan::cube_count;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// The groups of a launch.
#[derive(CubeType, CubeLaunch)]
pub(super) struct Groups {
    /// Lines, and the keys of one.
    lines: usize,
    len: usize,
    /// The groups of a line, and the keys of each but the last.
    per_line: usize,
    group: FastDivmod<usize>,
    group_len: usize,
    /// The groups that a cube takes: whole lines if more than one.
    of_cube: usize,
    /// The first keys of each group are written, and so many of each line.
    kept: usize,
    kept_of_line: usize,
}

/// What the passes of a group are.
#[derive_cube_comptime]
pub(super) struct GroupConfig {
    pub digits: DigitConfig,
    pub order: KeyOrder,
    /// Passes for each word of a code, and for the numbers of lines.
    pub passes: [usize; 3],
    /// Positions are read from a tensor; else a key's position is where it lies in its line.
    pub reads_positions: bool,
    pub writes_keys: bool,
    pub writes_positions: bool,
}

impl GroupConfig {
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
    #[comptime] config: GroupConfig,
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

/// Sorts the groups of a cube, and writes the first keys of each and their positions.
#[cube(launch_unchecked, address_type = "dynamic")]
fn sort_groups_kernel<K: Numeric, I: Numeric>(
    keys: &[K],
    positions: &[u32],
    keys_out: &mut [K],
    positions_out: &mut [I],
    of: &Groups,
    #[comptime] config: GroupConfig,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let first = CUBE_POS * of.of_cube;
    let line = first / of.per_line;
    let number = first % of.per_line;
    let begin = line * of.len + number * of.group_len;
    // Groups of a cube end with their line, or with the last line.
    let end = select(of.per_line > 1, line + 1, of.lines) * of.len;
    let room = select(line < of.lines, end - begin, 0usize);
    let count = min(room, of.of_cube * of.group_len);

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
                    own_line = of.group.div(places[k] as usize) as u32;
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
        let (own_line, rank) = of.group.div_mod(place);
        if place < count && rank < of.kept {
            let to = (line + own_line) * of.kept_of_line + number * of.kept + rank;
            if comptime!(config.writes_keys) {
                keys_out[to] = tile.staged[place];
            }
            if comptime!(config.writes_positions) {
                let from = tile.ranked.words[place] as usize;
                if comptime!(config.reads_positions) {
                    positions_out[to] = I::cast_from(positions[begin + from]);
                } else {
                    let in_line = number * of.group_len + from - own_line * of.group_len;
                    positions_out[to] = I::cast_from(in_line);
                }
            }
        }
    }
}

/// How many groups a line has, and how many keys of each are kept.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    /// The keys of a group; the last of a line may have fewer.
    pub group: usize,
    /// The first keys of a group that are kept, or all if it has fewer.
    pub keys: usize,
}

impl Kept {
    /// The keys that are kept of a line of `len`.
    pub fn of_line(&self, len: usize) -> usize {
        len / self.group * self.keys + (len % self.group).min(self.keys)
    }
}

/// Sorts the groups of `source`, and writes what is kept of each.
pub(super) fn sort_groups(sort: &Sort, source: Source, outputs: SortOutputs, kept: Kept) {
    let [lines, len] = source.lines;
    let per_line = len.div_ceil(kept.group);
    let of_cube = match per_line {
        1 => (sort.digits.tile() / len).min(lines),
        _ => 1,
    };
    let config = GroupConfig {
        digits: sort.digits,
        order: sort.order,
        passes: [
            sort.passes(sort.order.bits_of_word(0)),
            sort.passes(sort.order.bits_of_word(1)),
            sort.passes(of_cube.next_power_of_two().ilog2()),
        ],
        reads_positions: source.positions.is_some(),
        writes_keys: outputs.keys.is_some(),
        writes_positions: outputs.positions.is_some(),
    };
    let client = sort.client;
    let positions = source.positions.unwrap_or_else(|| unused(client));
    let (positions_out, index) = outputs
        .positions
        .unwrap_or_else(|| (unused(client), u32::elem_type_native()));
    let groups = GroupsLaunch::new(
        lines,
        len,
        per_line,
        kept.group,
        kept.group,
        of_cube,
        kept.keys,
        kept.of_line(len),
    );
    // SAFETY: cubes beyond the groups have no keys. A key is kept at its rank in its group, of which the outputs have
    // `kept.of_line(len)` for each line. What a kernel is compiled not to access is not accessed.
    unsafe {
        sort_groups_kernel::launch_unchecked(
            client,
            cube_count(client, (lines * per_line).div_ceil(of_cube)),
            CubeDim::new_1d(sort.digits.units as u32),
            sort.address_type,
            source.keys.into_buffer_arg(),
            positions.into_buffer_arg(),
            outputs
                .keys
                .unwrap_or_else(|| unused(client))
                .into_buffer_arg(),
            positions_out.into_buffer_arg(),
            groups,
            config,
            sort.dtype,
            index,
        );
    }
}
