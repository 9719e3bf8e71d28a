//! A tile of keys in the registers of a cube's units, and its order by a digit.
//!
//! With planes, a unit reads the keys that it ranks, a plane apart, so that neighbouring units read neighbours.
//! Without, neighbouring units read neighbouring vectors, and exchange the keys in shared memory.
//!
//! Where a tile has fewer keys than room, the missing ones have the highest digit. They follow all keys of the tile, so
//! they have the last ranks of all.

use super::code::{KeyOrder, code_word};
use crate::compact::digits::config::DigitConfig;
use crate::compact::digits::ranks::{
    RankedTile, digit_of, has_digit, place_of_key, place_of_rank, rank_of_digit,
};
use cubecl::prelude::*;

/// The comptime facts of a tile and of the digits of its keys.
#[derive_cube_comptime]
pub(super) struct KeyDigits {
    pub tile: DigitConfig,
    pub order: KeyOrder,
    /// Passes for each word of a code.
    pub passes: [usize; 2],
}

impl KeyDigits {
    pub fn all_passes(&self) -> usize {
        self.passes[0] + self.passes[1]
    }

    /// The word of a pass's digit, and its lowest bit there.
    pub fn place(&self, pass: usize) -> (usize, u32) {
        let (word, at) = match pass.checked_sub(self.passes[0]) {
            None => (0, pass),
            Some(at) => (1, at),
        };
        (word, at as u32 * self.tile.bits)
    }
}

/// The digit of a key in a pass. The first pass has the lowest digit.
#[cube]
pub(super) fn digit_in_pass<K: Numeric>(key: K, pass: usize, #[comptime] digits: KeyDigits) -> u32 {
    let low = comptime!(digits.passes[0]);
    let mut word = code_word::<K>(key, 0usize, digits.order);
    let mut in_word = pass;
    if comptime!(digits.passes[1] > 0) {
        let is_high = pass >= low;
        word = select(is_high, code_word::<K>(key, 1usize, digits.order), word);
        in_word = select(is_high, pass - low, pass);
    }
    digit_of(word, in_word as u32 * digits.tile.bits, digits.tile)
}

/// A vector of `keys`, or of what was `moved`.
#[cube]
pub(super) fn read_vector<K: Numeric, N: Size>(
    keys: &[Vector<K, N>],
    moved: &[Vector<K, N>],
    of_keys: bool,
    at: usize,
) -> Vector<K, N> {
    let mut read = Vector::<K, N>::new(K::from_int(0));
    if of_keys {
        read = keys[at];
    }
    if !of_keys {
        read = moved[at];
    }
    read
}

/// The rank of a unit's `k`-th key of that digit before the tile is ranked.
#[cube]
pub(super) fn rank_of_key(
    #[comptime] k: usize,
    digit: u32,
    count: usize,
    #[comptime] config: DigitConfig,
) -> u32 {
    let highest = comptime!(config.digits() as u32 - 1);
    rank_of_digit(select(place_of_key(k, config) < count, digit, highest))
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
    pub fn new(#[comptime] config: DigitConfig) -> KeyTile<K> {
        KeyTile::<K> {
            own: Array::new(config.keys),
            ranked: RankedTile::new(config),
            staged: Shared::new_slice(comptime!(config.tile())),
        }
    }

    /// A tile of the `count` keys from `begin` on. Vectors straddle neither its beginning nor its end.
    pub fn load<N: Size>(
        keys: &[Vector<K, N>],
        begin: usize,
        count: usize,
        #[comptime] config: DigitConfig,
    ) -> KeyTile<K> {
        let mut tile = KeyTile::<K>::new(config);
        tile.read::<N>(keys, begin, count, config);
        tile
    }

    /// Reads the `count` keys from `begin` on. Without planes this includes a barrier.
    pub fn read<N: Size>(
        &mut self,
        keys: &[Vector<K, N>],
        begin: usize,
        count: usize,
        #[comptime] config: DigitConfig,
    ) {
        let lanes = N::value().comptime();
        if comptime!(config.plane) {
            #[unroll]
            for k in 0..config.keys {
                let place = place_of_key(k, config);
                if place < count {
                    self.own[k] = keys[begin + place].extract(0usize);
                }
            }
        } else {
            #[unroll]
            for step in 0..comptime!(config.keys.div_ceil(lanes)) {
                let vector = step * config.units + UNIT_POS as usize;
                if vector < count / lanes {
                    let read = keys[begin / lanes + vector];
                    #[unroll]
                    for lane in 0..lanes {
                        self.staged[vector * lanes + lane] = read.extract(lane);
                    }
                }
            }
            sync_cube();
            #[unroll]
            for k in 0..config.keys {
                self.own[k] = self.staged[place_of_key(k, config)];
            }
        }
    }

    /// Ranks the first `count` keys by the digit of a pass. A barrier lies between this and the clearing of counters.
    pub fn rank(&mut self, count: usize, pass: usize, #[comptime] digits: KeyDigits) {
        let config = comptime!(digits.tile);
        #[unroll]
        for k in 0..config.keys {
            let own = digit_in_pass::<K>(self.own[k], pass, digits);
            self.ranked.ranks[k] = rank_of_key(k, own, count, config);
        }
        self.ranked.rank(config);
    }

    /// Stages the keys in the order of their ranks. `staged` can be read after the next barrier.
    pub fn stage(&mut self, #[comptime] config: DigitConfig) {
        #[unroll]
        for k in 0..config.keys {
            let rank = self.ranked.ranks[k];
            if has_digit(rank, config) {
                self.staged[place_of_rank(rank)] = self.own[k];
            }
        }
    }

    /// Stages the positions of the first `count` keys in the room for words, in the order of ranks. `first` is that of
    /// the first key. If positions are read, they begin with that of key `begin`.
    pub fn stage_positions(
        &mut self,
        positions: &[u32],
        begin: usize,
        first: usize,
        count: usize,
        reads_positions: bool,
        #[comptime] config: DigitConfig,
    ) {
        // All are read before the first is staged: one latency for all.
        let mut own = Array::<u32>::new(config.keys);
        #[unroll]
        for k in 0..config.keys {
            let at = place_of_key(k, config);
            own[k] = (first + at) as u32;
            if reads_positions && at < count {
                own[k] = positions[begin + at];
            }
        }
        self.ranked.stage(&own, config);
    }
}
