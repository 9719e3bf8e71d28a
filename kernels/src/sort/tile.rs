//! A tile of keys in the registers of a cube's units, and its order by a digit.
//!
//! Neighbouring units read neighbouring vectors. A unit ranks other keys than it reads ([`place_of_key`]), so the keys
//! are exchanged in shared memory. There the lanes of the vectors of a step lie apart, and the places of a lane are
//! exchanged in groups of eight, another way for each lane: then neither the units that write a lane nor those that read
//! neighbouring keys meet in a bank.
//!
//! ```text
//! lane 0   vectors of units  0 1 … 7  8 … 15  16 … 23  24 … 31  …
//! lane 1                     8 … 15  0 1 … 7  24 … 31  16 … 23  …
//! ```

use super::code::{KeyOrder, code_word};
use crate::compact::digits::config::DigitConfig;
use crate::compact::digits::ranks::{RankedTile, digit_of, place_of_key};
use cubecl::prelude::*;

/// Units whose places are exchanged together.
const GROUP: usize = 8;

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

/// The digit of a key in a pass, that of the lowest digit first.
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

/// How the lanes of a tile lie in shared memory.
#[derive_cube_comptime]
struct Staging {
    units: usize,
    lanes: usize,
    /// Whether lanes lie apart: if all units have whole vectors, and whole groups of units.
    apart: bool,
}

impl Staging {
    fn new(lanes: usize, config: DigitConfig) -> Self {
        let whole = config.keys.is_multiple_of(lanes);
        Self {
            units: config.units,
            lanes,
            apart: lanes > 1 && whole && config.units.is_multiple_of(GROUP * lanes),
        }
    }
}

/// The place in shared memory of a lane of a tile's vector.
#[cube]
fn staged_lane(vector: usize, lane: usize, #[comptime] staging: Staging) -> usize {
    if comptime!(staging.apart) {
        let step = vector / staging.units;
        let unit = vector - step * staging.units;
        (step * staging.lanes + lane) * staging.units + (unit ^ (lane * comptime!(GROUP)))
    } else {
        vector * staging.lanes + lane
    }
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

    /// A tile of the `count` keys from `begin` on. Vectors straddle neither.
    pub fn load<N: Size>(
        keys: &[Vector<K, N>],
        begin: usize,
        count: usize,
        #[comptime] config: DigitConfig,
    ) -> KeyTile<K> {
        let mut tile = KeyTile::<K>::new(config);
        tile.read::<N>(keys, begin, count, config);
        tile.exchange::<N>(count, config);
        tile
    }

    /// Reads the `count` keys from `begin` on.
    pub fn read<N: Size>(
        &mut self,
        keys: &[Vector<K, N>],
        begin: usize,
        count: usize,
        #[comptime] config: DigitConfig,
    ) {
        let lanes = N::value().comptime();
        let staging = comptime!(Staging::new(lanes, config));
        #[unroll]
        for step in 0..comptime!(config.keys.div_ceil(lanes)) {
            let vector = step * config.units + UNIT_POS as usize;
            if vector < count / lanes {
                let read = keys[begin / lanes + vector];
                #[unroll]
                for lane in 0..lanes {
                    self.staged[staged_lane(vector, lane, staging)] = read.extract(lane);
                }
            }
        }
    }

    /// Takes the unit's keys of the `count` that the cube has read. Barriers of the ranking follow before the room is
    /// used again.
    pub fn exchange<N: Size>(&mut self, count: usize, #[comptime] config: DigitConfig) {
        let lanes = N::value().comptime();
        let staging = comptime!(Staging::new(lanes, config));
        sync_cube();
        #[unroll]
        for k in 0..config.keys {
            let place = place_of_key(k, config);
            if place < count {
                let vector = place / lanes;
                self.own[k] = self.staged[staged_lane(vector, place - vector * lanes, staging)];
            }
        }
    }

    /// Ranks the first `count` keys by the digit of a pass.
    pub fn rank(&mut self, count: usize, pass: usize, #[comptime] digits: KeyDigits) {
        let config = comptime!(digits.tile);
        let none = comptime!(config.digits() as u32);
        #[unroll]
        for k in 0..config.keys {
            let own = digit_in_pass::<K>(self.own[k], pass, digits);
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
        reads_positions: bool,
        #[comptime] config: DigitConfig,
    ) {
        let none = comptime!(config.digits() as u32);
        #[unroll]
        for k in 0..config.keys {
            if self.ranked.digits[k] < none {
                let at = place_of_key(k, config);
                let mut position = (first + at) as u32;
                if reads_positions {
                    position = positions[begin + at];
                }
                self.ranked.words[self.ranked.places[k] as usize] = position;
            }
        }
    }
}
