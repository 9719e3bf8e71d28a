//! A tile of keys in the registers of a cube's units, and its order by a digit.

use super::code::{KeyOrder, code_word};
use crate::compact::digits::config::DigitConfig;
use crate::compact::digits::ranks::{RankedTile, digit_of, place_of_key};
use cubecl::prelude::*;

/// The comptime facts of a tile and its digit.
#[derive_cube_comptime]
pub(super) struct KeyDigit {
    pub tile: DigitConfig,
    pub order: KeyOrder,
    /// The word of the digit.
    pub word: usize,
}

/// The digit of a key that begins at bit `shift` of its word.
#[cube]
pub(super) fn digit_of_key<K: Numeric>(key: K, shift: u32, #[comptime] digit: KeyDigit) -> u32 {
    let code = code_word::<K>(key, digit.word, digit.order);
    digit_of(code, shift, digit.tile)
}

/// A tile of keys, as one unit sees it.
#[derive(CubeType)]
pub(super) struct KeyTile<K: Numeric> {
    /// The unit's keys.
    pub own: Array<K>,
    pub ranked: RankedTile,
    /// Room for the keys of the tile.
    pub staged: Shared<[K]>,
}

#[cube]
impl<K: Numeric> KeyTile<K> {
    /// The `count` keys from `begin` on.
    pub fn load(
        keys: &[K],
        begin: usize,
        count: usize,
        #[comptime] config: DigitConfig,
    ) -> KeyTile<K> {
        let mut tile = KeyTile::<K> {
            own: Array::new(config.keys),
            ranked: RankedTile::new(config),
            staged: Shared::new_slice(comptime!(config.tile())),
        };
        if comptime!(config.plane) {
            #[unroll]
            for k in 0..config.keys {
                let place = place_of_key(k, config);
                if place < count {
                    tile.own[k] = keys[begin + place];
                }
            }
        } else {
            // Neighbouring units read neighbouring keys.
            #[unroll]
            for step in 0..config.keys {
                let place = step * config.units + UNIT_POS as usize;
                if place < count {
                    tile.staged[place] = keys[begin + place];
                }
            }
            sync_cube();
            #[unroll]
            for k in 0..config.keys {
                let place = place_of_key(k, config);
                if place < count {
                    tile.own[k] = tile.staged[place];
                }
            }
            sync_cube();
        }
        tile
    }

    /// Ranks the first `count` keys by the digit that begins at bit `shift` of its word.
    pub fn rank(&mut self, count: usize, shift: u32, #[comptime] digit: KeyDigit) {
        let config = comptime!(digit.tile);
        let none = comptime!(config.digits() as u32);
        #[unroll]
        for k in 0..config.keys {
            let own = digit_of_key::<K>(self.own[k], shift, digit);
            let has_digit = place_of_key(k, config) < count;
            self.ranked.digits[k] = select(has_digit, own, none);
        }
        self.ranked.rank(config);
    }

    /// Stages the keys in the order of their ranks. `staged` can be read after the next barrier.
    pub fn stage(&mut self, #[comptime] config: DigitConfig) {
        let none = comptime!(config.digits() as u32);
        #[unroll]
        for k in 0..config.keys {
            if self.ranked.digits[k] < none {
                self.staged[self.ranked.places[k] as usize] = self.own[k];
            }
        }
    }

    /// Stages the positions of the keys in the room for words, in the order of their ranks. `first` is the position of
    /// the first key. If positions are read, they begin with that of key `begin`.
    pub fn stage_positions(
        &mut self,
        positions: &[u32],
        begin: usize,
        first: usize,
        #[comptime] reads_positions: bool,
        #[comptime] config: DigitConfig,
    ) {
        let none = comptime!(config.digits() as u32);
        #[unroll]
        for k in 0..config.keys {
            if self.ranked.digits[k] < none {
                let at = place_of_key(k, config);
                let mut position = (first + at) as u32;
                if comptime!(reads_positions) {
                    position = positions[begin + at];
                }
                self.ranked.words[self.ranked.places[k] as usize] = position;
            }
        }
    }
}
