//! The first keys of a tile in the order of the sort, by radix select.
//!
//! ```text
//! wanted 5 of     3 9 1 3 7 3 2 8 …        codes; digits from the highest on
//! count digits    1 1 3 …                  the digit of the 5th lowest code straddles: all lower digits are kept,
//!                                          higher ones dropped, and the rest is told apart by the next digit
//! at the end      kept 3 1 3 2, equal 3 3  of equal keys the first ones, as many as are still wanted
//! ```
//!
//! Digits are counted in shared memory by atomic additions. One ranking at the end brings the kept keys together, in
//! the order of the input, with equal keys after them.

use super::problem::{Sort, Source};
use super::tile::{KeyDigits, KeyTile, digit_in_pass};
use crate::compact::digits::config::DigitConfig;
use crate::compact::digits::ranks::{clear, place_of_key, rank_of_digit, scan_counts};
use crate::compact::unused;
use crate::scan::cube_count;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The tiles of a launch.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct SelectedTiles {
    /// Lines, and the keys of one.
    lines: usize,
    len: usize,
    /// The tiles of a line.
    tiles: usize,
    /// The keys that each tile keeps, and that a line keeps.
    kept: usize,
    kept_of_line: usize,
}

/// The comptime facts of a tile.
#[derive_cube_comptime]
struct SelectConfig {
    digits: KeyDigits,
    /// Positions are read from a tensor; else a key's position is where it lies in its line.
    reads_positions: bool,
    writes_positions: bool,
}

/// Whether a key is kept: not yet known, or yes, or no.
const OPEN: u32 = 1;
const KEPT: u32 = 0;
const DROPPED: u32 = 2;

/// The digit of the `wanted`-th key in the order of digits, and how many keys of that digit are wanted.
#[cube]
fn straddling_digit(
    counters: &Shared<[Atomic<u32>]>,
    wanted: u32,
    totals: &mut Shared<[u32]>,
    choice: &mut Shared<[u32]>,
    #[comptime] config: DigitConfig,
) -> (u32, u32) {
    let of_unit = comptime!(config.digits().div_ceil(config.units));
    let first = UNIT_POS as usize * of_unit;
    let mut own = 0u32;
    #[unroll]
    for i in 0..of_unit {
        if first + i < comptime!(config.digits()) {
            own += counters[first + i].load();
        }
    }
    let mut running = scan_counts(own, totals, config).exclusive;
    #[unroll]
    for i in 0..of_unit {
        if first + i < comptime!(config.digits()) {
            let count = counters[first + i].load();
            if running < wanted && wanted <= running + count {
                choice[0] = (first + i) as u32;
                choice[1] = wanted - running;
            }
            running += count;
        }
    }
    sync_cube();
    (choice[0], choice[1])
}

/// Tells which of the first `count` keys are kept, and which are equal to the `wanted`-th.
#[cube]
fn tell_apart<K: Numeric>(
    tile: &KeyTile<K>,
    count: usize,
    wanted: u32,
    #[comptime] config: SelectConfig,
) -> Array<u32> {
    let digits = comptime!(config.digits.tile);
    let counters = Shared::<[Atomic<u32>]>::new_slice(comptime!(digits.digits()));
    let mut totals = Shared::<[u32]>::new_slice(comptime!(digits.sums().totals() + 1));
    let mut choice = Shared::<[u32]>::new_slice(2usize);
    let mut states = Array::<u32>::new(digits.keys);
    #[unroll]
    for k in 0..digits.keys {
        states[k] = select(place_of_key(k, digits) < count, OPEN, DROPPED);
    }
    let mut wanted = wanted;

    // From the highest digit on.
    for turn in 0..comptime!(config.digits.all_passes()) {
        let pass = comptime!(config.digits.all_passes() - 1) - turn;
        clear(&counters, comptime!(digits.digits()), digits.units);
        sync_cube();
        #[unroll]
        for k in 0..digits.keys {
            if states[k] == OPEN {
                let digit = digit_in_pass::<K>(tile.own[k], pass, config.digits);
                counters[digit as usize].fetch_add(1u32);
            }
        }
        sync_cube();
        let (straddling, still_wanted) =
            straddling_digit(&counters, wanted, &mut totals, &mut choice, digits);
        wanted = still_wanted;
        #[unroll]
        for k in 0..digits.keys {
            if states[k] == OPEN {
                let digit = digit_in_pass::<K>(tile.own[k], pass, config.digits);
                let apart = select(digit < straddling, KEPT, DROPPED);
                states[k] = select(digit == straddling, OPEN, apart);
            }
        }
    }
    states
}

/// Keeps the first keys of each tile.
#[cube(launch_unchecked, address_type = "dynamic")]
fn select_keys_kernel<K: Numeric, N: Size>(
    keys: &[Vector<K, N>],
    positions: &[u32],
    keys_out: &mut [K],
    positions_out: &mut [u32],
    of: SelectedTiles,
    #[comptime] config: SelectConfig,
    #[define(K)] _dtype: ElemType,
) {
    let digits = comptime!(config.digits.tile);
    let line = CUBE_POS / of.tiles;
    let number = CUBE_POS - line * of.tiles;
    let first = number * digits.tile();
    let room = min(of.len - first, digits.tile());
    let count = select(line < of.lines, room, 0usize);
    let begin = line * of.len + first;
    let mut tile = KeyTile::<K>::load::<N>(keys, begin, count, digits);
    let wanted = min(of.kept, count);
    let states = tell_apart::<K>(&tile, count, wanted as u32, config);

    // What is kept has one digit, equal keys have the next, and the rest none.
    #[unroll]
    for k in 0..digits.keys {
        let none = comptime!(digits.digits() as u32);
        tile.ranked.ranks[k] = rank_of_digit(select(states[k] == DROPPED, none, states[k]));
    }
    tile.ranked.clear(digits);
    sync_cube();
    tile.ranked.rank(digits);
    sync_cube();
    tile.stage(digits);
    if comptime!(config.writes_positions) {
        let reads = config.reads_positions.runtime();
        tile.stage_positions(positions, begin, first, count, reads, digits);
    }
    sync_cube();
    let to = line * of.kept_of_line + number * of.kept;
    #[unroll]
    for step in 0..digits.keys {
        let rank = step * digits.units + UNIT_POS as usize;
        if rank < wanted {
            keys_out[to + rank] = tile.staged[rank];
            if comptime!(config.writes_positions) {
                positions_out[to + rank] = tile.ranked.words[rank];
            }
        }
    }
}

/// Keeps the first `kept` keys of each tile of long lines, not sorted. Equal keys keep their order.
pub(super) fn select_keys(sort: &Sort, source: Source, has_positions: bool, kept: usize) -> Source {
    let [lines, len] = source.lines;
    let tile = sort.digits.tile();
    let tiles = len.div_ceil(tile);
    let kept_of_line = len / tile * kept + (len % tile).min(kept);
    let round = sort.temporaries([lines, kept_of_line], has_positions);
    let client = sort.client;
    let stand_in = || unused(client);
    let mut digits = sort.key_digits();
    digits.tile.drops = true;
    let config = SelectConfig {
        digits,
        reads_positions: source.positions.is_some(),
        writes_positions: has_positions,
    };
    let written = round.clone();
    // SAFETY: cubes beyond the lines have no keys. A tile writes as many keys as it has, and `kept` at most.
    unsafe {
        select_keys_kernel::launch_unchecked(
            client,
            cube_count(client, lines * tiles),
            CubeDim::new_1d(sort.digits.units as u32),
            sort.address_type,
            sort.lanes_of_tile(len, &[&source.keys]),
            source.keys.into_buffer_arg(),
            source.positions.unwrap_or_else(stand_in).into_buffer_arg(),
            written.keys.into_buffer_arg(),
            written.positions.unwrap_or_else(stand_in).into_buffer_arg(),
            SelectedTilesLaunch::new(lines, len, tiles, kept, kept_of_line),
            config,
            sort.dtype,
        );
    }
    round
}
