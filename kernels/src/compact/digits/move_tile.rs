//! One pass of the sort: sorts each tile by a digit, and moves the keys of each digit to their places. Another kernel
//! finds where groups begin, after the last pass.

use super::DigitPass;
use super::config::DigitConfig;
use super::ranks::{RankedTile, digit_of, place_of_key, place_of_rank};
use super::tile::rank_keys;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// `digit_offsets` is the exclusive scan of the counts. The first pass takes the positions in which the keys lie; the
/// last writes the destination of each position.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn move_digits_kernel<K: Numeric, I: Numeric>(
    keys: &[K],
    positions: &[u32],
    digit_offsets: &[u32],
    keys_out: &mut [u32],
    positions_out: &mut [u32],
    destinations: &mut [I],
    of: DigitPass,
    #[comptime] first_pass: bool,
    #[comptime] last_pass: bool,
    #[comptime] config: DigitConfig,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let mut tile = RankedTile::new(config);
    let own = rank_keys::<K>(&mut tile, keys, of, config);
    let first = CUBE_POS * config.tile();
    sync_cube();
    tile.stage(&own, config);
    sync_cube();
    // From here on, neighbouring units have keys of neighbouring places in the sorted tile.
    let count = min(of.elements - min(first, of.elements), config.tile());
    let mut moved = Array::<u32>::new(config.keys);
    #[unroll]
    for step in 0..config.keys {
        let place = step * config.units + UNIT_POS as usize;
        if place < count {
            let key = tile.words[place];
            let digit = digit_of(key, of.shift, config) as usize;
            let begin = digit_offsets[digit * of.tiles + CUBE_POS];
            let to = begin + (place as u32 - tile.starts[digit]);
            keys_out[to as usize] = key;
            moved[step] = select(comptime!(last_pass) && key >= of.num_keys, u32::MAX, to);
        }
    }
    sync_cube();
    #[unroll]
    for k in 0..config.keys {
        let at = first + place_of_key(k, config);
        let mut position = at as u32;
        if comptime!(!first_pass) && at < of.elements {
            position = positions[at];
        }
        tile.words[place_of_rank(tile.ranks[k])] = position;
    }
    sync_cube();
    #[unroll]
    for step in 0..config.keys {
        let place = step * config.units + UNIT_POS as usize;
        if place < count {
            let position = tile.words[place];
            let to = moved[step];
            if comptime!(last_pass) {
                let destination = select(to == u32::MAX, I::from_int(-1), I::cast_from(to));
                destinations[position as usize] = destination;
            } else {
                positions_out[to as usize] = position;
            }
        }
    }
}

/// `offsets[k]` is the number of keys below `k`, found by bisection, up to `k = num_keys`.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn find_offsets_kernel<I: Numeric>(
    sorted: &[u32],
    offsets: &mut [I],
    elements: usize,
    num_keys: usize,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS <= num_keys {
        let key = ABSOLUTE_POS as u32;
        let mut low = 0usize;
        let mut high = elements;
        while low < high {
            let middle = low + (high - low) / 2;
            if sorted[middle] < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        offsets[ABSOLUTE_POS] = I::cast_from(low);
    }
}
