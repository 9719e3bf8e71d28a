//! The only pass of a grouping by keys that one digit distinguishes: it moves values at once, and needs no
//! destinations.

use super::DigitPass;
use super::config::DigitConfig;
use super::ranks::{RankedTile, digit_of_rank, has_digit, place_of_key, place_of_rank};
use super::tile::{begins_of_digits, rank_keys};
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Sorts the values of each tile by the digits of their keys in shared memory, so that neighbours are written together.
/// Writes where groups begin, too. `digit_offsets` is the exclusive scan of the counts. Values whose keys are out of
/// range go nowhere.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn move_values_kernel<K: Numeric, I: Numeric>(
    keys: &[K],
    values: &[u32],
    digit_offsets: &[u32],
    grouped: &mut [u32],
    offsets: &mut [I],
    of: DigitPass,
    #[comptime] config: DigitConfig,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    let first = CUBE_POS * config.tile();
    let begins = begins_of_digits::<I>(digit_offsets, offsets, of, config);
    let mut tile = RankedTile::new(config);
    let _ = rank_keys::<K>(&mut tile, keys, of, config);
    let mut own = Array::<u32>::new(config.keys);
    #[unroll]
    for k in 0..config.keys {
        let at = first + place_of_key(k, config);
        if at < of.elements {
            own[k] = values[at];
        }
    }
    sync_cube();
    #[unroll]
    for k in 0..config.keys {
        let rank = tile.ranks[k];
        if has_digit(rank, config) {
            tile.words[place_of_rank(rank)] = digit_of_rank(rank);
        }
    }
    sync_cube();
    // From here on, neighbouring units have values of neighbouring places in the sorted tile.
    let count = tile.starts[comptime!(config.digits())] as usize;
    let mut destinations = Array::<u32>::new(config.keys);
    #[unroll]
    for step in 0..config.keys {
        let place = step * config.units + UNIT_POS as usize;
        if place < count {
            let digit = tile.words[place] as usize;
            destinations[step] = begins[digit] + place as u32 - tile.starts[digit];
        }
    }
    sync_cube();
    tile.stage(&own, config);
    sync_cube();
    #[unroll]
    for step in 0..config.keys {
        let place = step * config.units + UNIT_POS as usize;
        if place < count {
            grouped[destinations[step] as usize] = tile.words[place];
        }
    }
}
