//! The keys of a tile of a grouping.

use super::DigitPass;
use super::config::DigitConfig;
use super::ranks::{RankedTile, clear, digit_of, place_of_key, rank_of_digit};
use crate::checked_index::is_below;
use cubecl::prelude::*;

/// The key as an index, or `num_keys` if it is out of range.
#[cube]
fn clamped<K: Numeric>(key: K, num_keys: u32) -> u32 {
    let narrow = u32::cast_from(key);
    let valid = is_below::<K, u32>(key, narrow, num_keys);
    select(valid, narrow, num_keys)
}

/// The digit of a key, or the number of digits for a key without one.
#[cube]
fn digit_or_none(key: u32, is_key: bool, of: DigitPass, #[comptime] config: DigitConfig) -> u32 {
    let mut has_digit = is_key;
    if comptime!(config.drops) {
        has_digit = is_key && key < of.num_keys;
    }
    // Keys after the last may have the highest digit where every key has one: they come after all others.
    let none = comptime!(config.digits() as u32 - u32::from(!config.drops));
    select(has_digit, digit_of(key, of.shift, config), none)
}

/// Adds the keys of the tile to the counter of their digit. There is one more, for keys without a digit.
#[cube]
pub(super) fn count_keys<K: Numeric>(
    counts: &Shared<[Atomic<u32>]>,
    keys: &[K],
    of: DigitPass,
    #[comptime] config: DigitConfig,
) {
    clear(counts, comptime!(config.digits() + 1), config.units);
    sync_cube();
    let first = CUBE_POS * config.tile();
    #[unroll]
    for k in 0..config.keys {
        let at = first + k * config.units + UNIT_POS as usize;
        if at < of.elements {
            let key = clamped::<K>(keys[at], of.num_keys);
            counts[digit_or_none(key, true.runtime(), of, config) as usize].fetch_add(1u32);
        }
    }
    sync_cube();
}

/// Where the keys of each digit in the tile of the cube begin. The next barrier makes it visible. One digit
/// distinguishes all keys, so a group begins where its keys in the first tile do: the first cube writes that into
/// `offsets`, and where the last group ends.
#[cube]
pub(super) fn begins_of_digits<I: Numeric>(
    digit_offsets: &[u32],
    offsets: &mut [I],
    of: DigitPass,
    #[comptime] config: DigitConfig,
) -> Shared<[u32]> {
    let mut begins = Shared::<[u32]>::new_slice(comptime!(config.digits()));
    #[unroll]
    for step in 0..comptime!(config.digits().div_ceil(config.units)) {
        let digit = step * config.units + UNIT_POS as usize;
        if digit < of.groups && CUBE_POS < of.tiles {
            let begin = digit_offsets[digit * of.tiles + CUBE_POS];
            begins[digit] = begin;
            if CUBE_POS == 0 {
                offsets[digit] = I::cast_from(begin);
            }
        }
    }
    if CUBE_POS == 0 && UNIT_POS == 0 {
        offsets[of.groups] = I::cast_from(digit_offsets[of.groups * of.tiles]);
    }
    begins
}

/// Loads the unit's keys, `num_keys` for keys out of range, and ranks the tile by the digit of the pass.
#[cube]
pub(super) fn rank_keys<K: Numeric>(
    tile: &mut RankedTile,
    keys: &[K],
    of: DigitPass,
    #[comptime] config: DigitConfig,
) -> Array<u32> {
    let mut own = Array::<u32>::new(config.keys);
    let first = CUBE_POS * config.tile();
    if comptime!(!config.plane) {
        // Neighbouring units read neighbouring keys.
        #[unroll]
        for k in 0..config.keys {
            let place = k * config.units + UNIT_POS as usize;
            if first + place < of.elements {
                tile.words[place] = clamped::<K>(keys[first + place], of.num_keys);
            }
        }
        sync_cube();
    }
    #[unroll]
    for k in 0..config.keys {
        let place = place_of_key(k, config);
        let mut key = of.num_keys;
        if first + place < of.elements {
            if comptime!(config.plane) {
                key = clamped::<K>(keys[first + place], of.num_keys);
            } else {
                key = tile.words[place];
            }
        }
        own[k] = key;
        let digit = digit_or_none(key, first + place < of.elements, of, config);
        tile.ranks[k] = rank_of_digit(digit);
    }
    if comptime!(!config.plane) {
        sync_cube();
    }
    tile.clear(config);
    sync_cube();
    tile.rank(config);
    own
}
