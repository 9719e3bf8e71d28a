//! The stable ranks of the keys of one tile by a digit.
//!
//! With planes, a unit's keys lie a plane apart, so that a plane reads neighbours together and ranks them together
//! (multisplit: Ashkiani et al., "GPU multisplit", 2016). A ballot for each bit tells a unit which units of the plane
//! hold the same digit. The number of these before it is its rank among them. The first of them adds their number to
//! the plane's counter of the digit. The counter thus says how many keys of the digit the plane had before:
//!
//! ```text
//! counters   plane 0: digit 0, 1, …   plane 1: digit 0, 1, …   …     exclusive scan by digit, and then by plane
//! starts     digit 0, 1, …                                           the counters of the first plane then
//! place      counter of the plane and digit + rank in the plane
//! ```
//!
//! Where planes can be synchronised without the cube, the units that hold a digit set bits in the digit's word instead,
//! which takes fewer instructions than ballots (CUB: `WARP_MATCH_ATOMIC_OR`).
//!
//! Without planes, a unit has neighbouring keys and its own counter for each digit, so there is no contention (Zagha &
//! Blelloch, "Radix sort for vector multiprocessors", 1991). It counts its keys, and notes how many of the digit it had
//! before each. The cube scans the counters digit by digit. They then say where the unit's keys of each digit begin.

use super::config::DigitConfig;
use crate::ScanOp;
use crate::compact::mask_tile::units_before;
use crate::monoid::{Fold, Monoid};
use crate::scan::components::cube_totals::{CubeTotals, scan_totals};
use crate::scan::components::plane_scan::{lane_of_unit, plane_of_unit, plane_units, reconverge};
use cubecl::prelude::*;

/// A tile of keys, as one unit sees it.
#[derive(CubeType)]
pub(crate) struct RankedTile {
    /// For each of the unit's keys its digit, and in the low half its place in the sorted tile, as [`digit_of_rank`]
    /// and [`place_of_rank`] say. One word for both leaves registers for more keys.
    pub ranks: Array<u32>,
    /// The place of each digit's first key; after them the number of keys with a digit.
    pub starts: Shared<[u32]>,
    /// Room for the tile, with counters while it is ranked.
    pub words: Shared<[u32]>,
    /// For each plane and digit, bits of the units that hold it, if planes find them by atomic bits.
    holders: Shared<[Atomic<u32>]>,
    totals: Shared<[u32]>,
}

/// Bits of a place. A cube has at most 1,024 units, and none has more than 16 keys.
const PLACE_BITS: u32 = 16;

/// A rank whose place is not known yet.
#[cube]
pub(crate) fn rank_of_digit(digit: u32) -> u32 {
    digit << PLACE_BITS
}

/// The digit of a ranked key; the number of digits for a key without one.
#[cube]
pub(crate) fn digit_of_rank(rank: u32) -> u32 {
    rank >> PLACE_BITS
}

/// Whether the key has a digit. Where none is dropped, every key has.
#[cube]
pub(crate) fn has_digit(rank: u32, #[comptime] config: DigitConfig) -> bool {
    let mut has_digit = true.runtime();
    if comptime!(config.drops) {
        has_digit = digit_of_rank(rank) < comptime!(config.digits() as u32);
    }
    has_digit
}

/// The place of a ranked key in the sorted tile; unspecified for a key without a digit.
#[cube]
pub(crate) fn place_of_rank(rank: u32) -> usize {
    (rank & comptime!((1u32 << PLACE_BITS) - 1)) as usize
}

/// The position in the unsorted tile of the unit's `k`-th key.
#[cube]
pub(crate) fn place_of_key(#[comptime] k: usize, #[comptime] config: DigitConfig) -> usize {
    if comptime!(config.plane) {
        let first = plane_of_unit(config.plane_size) as usize * config.keys + k;
        first * plane_units(config.plane_size) as usize + lane_of_unit(config.plane_size) as usize
    } else {
        UNIT_POS as usize * config.keys + k
    }
}

#[cube]
pub(crate) fn digit_of(key: u32, shift: u32, #[comptime] config: DigitConfig) -> u32 {
    (key >> shift) & comptime!(config.digits() as u32 - 1)
}

/// Sets shared words to 0, which is visible after the next barrier.
#[cube]
pub(crate) fn clear(
    words: &Shared<[Atomic<u32>]>,
    #[comptime] len: usize,
    #[comptime] units: usize,
) {
    #[unroll]
    for step in 0..comptime!(len.div_ceil(units)) {
        let word = step * units + UNIT_POS as usize;
        if word < len {
            words[word].store(0u32);
        }
    }
}

/// Scans a count of each unit across the cube. `totals` is the shared memory of [`scan_totals`].
#[cube]
pub(crate) fn scan_counts(
    count: u32,
    totals: &mut Shared<[u32]>,
    #[comptime] config: DigitConfig,
) -> CubeTotals<u32> {
    let zero = 0u32.runtime();
    if comptime!(config.plane) {
        reconverge(config.planes_meet);
        let op = comptime!(ScanOp::Sum);
        let inclusive = <Fold as Monoid<u32>>::plane_inclusive(&count, config.plane_size, op);
        let in_plane = plane_shuffle(inclusive, plane_units(config.plane_size) - 1);
        let mut cube = scan_totals::<u32, Fold>(&in_plane, &zero, totals, config.sums(), op);
        cube.exclusive += inclusive - count;
        cube
    } else {
        scan_totals::<u32, Fold>(&count, &zero, totals, config.sums(), ScanOp::Sum)
    }
}

#[cube]
impl RankedTile {
    /// A tile without keys.
    pub fn new(#[comptime] config: DigitConfig) -> RankedTile {
        RankedTile {
            ranks: Array::new(config.keys),
            starts: Shared::new_slice(comptime!(config.digits() + 1)),
            words: Shared::new_slice(comptime!(config.words())),
            holders: Shared::new_slice(comptime!(config.holders().max(1))),
            totals: Shared::new_slice(comptime!(config.sums().totals() + 1)),
        }
    }

    /// Sets the counters to 0. A barrier must follow before the tile is ranked.
    pub fn clear(&mut self, #[comptime] config: DigitConfig) {
        #[unroll]
        for step in 0..comptime!(config.counters().div_ceil(config.units)) {
            let at = step * config.units + UNIT_POS as usize;
            if at < comptime!(config.counters()) {
                self.words[at] = 0u32;
            }
        }
        clear(&self.holders, comptime!(config.holders()), config.units);
    }

    /// Stages a word for each of the unit's keys, in the order of ranks. `words` can be read after the next barrier.
    pub fn stage(&mut self, own: &Array<u32>, #[comptime] config: DigitConfig) {
        #[unroll]
        for k in 0..config.keys {
            let rank = self.ranks[k];
            if has_digit(rank, config) {
                self.words[place_of_rank(rank)] = own[k];
            }
        }
    }

    /// Ranks the keys by the digits in `ranks`.
    pub fn rank(&mut self, #[comptime] config: DigitConfig) {
        if comptime!(config.plane) {
            self.rank_in_planes(config);
        } else {
            self.rank_in_units(config);
        }
    }

    fn rank_in_planes(&mut self, #[comptime] config: DigitConfig) {
        let own = plane_of_unit(config.plane_size) as usize * config.digits();
        #[unroll]
        for k in 0..config.keys {
            let rank = self.ranks[k];
            let digit = digit_of_rank(rank);
            let has_digit = has_digit(rank, config);
            let counter = own + select(has_digit, digit as usize, 0);
            let before = if comptime!(config.matches) {
                self.match_key(counter, has_digit, config)
            } else {
                self.ballot_key(counter, digit, has_digit, config)
            };
            self.ranks[k] = rank + before;
        }
        sync_cube();
        self.scan_planes(config);
        #[unroll]
        for k in 0..config.keys {
            if has_digit(self.ranks[k], config) {
                let digit = digit_of_rank(self.ranks[k]) as usize;
                self.ranks[k] += self.words[own + digit];
            }
        }
    }

    /// How many keys of the digit the plane has before the unit's key, which is then counted. The units that hold the
    /// digit set bits in the digit's word.
    fn match_key(
        &mut self,
        counter: usize,
        has_digit: bool,
        #[comptime] config: DigitConfig,
    ) -> u32 {
        let bit = 1u32 << lane_of_unit(config.plane_size);
        if has_digit {
            self.holders[counter].fetch_or(bit);
        }
        meet(config);
        let peers = self.holders[counter].load();
        let before = self.words[counter];
        meet(config);
        let earlier = (peers & (bit - 1u32)).count_ones();
        if has_digit && earlier == 0 {
            self.words[counter] = before + peers.count_ones();
            self.holders[counter].store(0u32);
        }
        meet(config);
        before + earlier
    }

    /// The same by ballots.
    fn ballot_key(
        &mut self,
        counter: usize,
        digit: u32,
        has_digit: bool,
        #[comptime] config: DigitConfig,
    ) -> u32 {
        let mut peers = Array::<u32>::new(config.ballot_words);
        let with_digit = plane_ballot(has_digit);
        #[unroll]
        for word in 0..config.ballot_words {
            peers[word] = with_digit.extract(word);
        }
        #[unroll]
        for bit in 0..config.bits {
            let is_set = (digit >> bit) & 1u32 == 1u32;
            let ballot = plane_ballot(is_set);
            #[unroll]
            for word in 0..config.ballot_words {
                let set = ballot.extract(word);
                peers[word] &= select(is_set, set, set ^ u32::MAX);
            }
        }
        let mut peers_before = 0u32;
        let mut all = 0u32;
        #[unroll]
        for word in 0..config.ballot_words {
            all += peers[word].count_ones();
            peers_before += (peers[word] & units_before(word)).count_ones();
        }
        let before = self.words[counter];
        meet(config);
        if has_digit && peers_before == 0 {
            self.words[counter] = before + all;
        }
        meet(config);
        before + peers_before
    }

    /// Replaces the counters of each digit by where the keys of each plane begin, and finds the starts of digits.
    fn scan_planes(&mut self, #[comptime] config: DigitConfig) {
        let digits = comptime!(config.digits());
        let planes = comptime!(config.max_planes);
        let of_unit = comptime!(digits.div_ceil(config.units));
        let first = UNIT_POS as usize * of_unit;
        let mut sum = 0u32;
        #[unroll]
        for i in 0..of_unit {
            if first + i < digits {
                #[unroll]
                for plane in 0..planes {
                    sum += self.words[plane * digits + first + i];
                }
            }
        }
        let cube = scan_counts(sum, &mut self.totals, config);
        let mut running = cube.exclusive;
        #[unroll]
        for i in 0..of_unit {
            if first + i < digits {
                self.starts[first + i] = running;
                #[unroll]
                for plane in 0..planes {
                    let counter = plane * digits + first + i;
                    let count = self.words[counter];
                    self.words[counter] = running;
                    running += count;
                }
            }
        }
        if UNIT_POS == 0 {
            self.starts[digits] = cube.aggregate;
        }
        sync_cube();
    }

    fn rank_in_units(&mut self, #[comptime] config: DigitConfig) {
        let unit = UNIT_POS as usize;
        #[unroll]
        for k in 0..config.keys {
            if has_digit(self.ranks[k], config) {
                let digit = digit_of_rank(self.ranks[k]) as usize;
                let counter = digit * config.units + unit;
                let before = self.words[counter];
                self.words[counter] = before + 1u32;
                self.ranks[k] += before;
            }
        }
        sync_cube();
        self.scan_units(config);
        #[unroll]
        for k in 0..config.keys {
            if has_digit(self.ranks[k], config) {
                let digit = digit_of_rank(self.ranks[k]) as usize;
                self.ranks[k] += self.words[digit * config.units + unit];
            }
        }
    }

    /// Replaces all counters by their exclusive scan. Each unit takes neighbouring counters.
    fn scan_units(&mut self, #[comptime] config: DigitConfig) {
        let digits = comptime!(config.digits());
        let own = UNIT_POS as usize * digits;
        let mut total = 0u32;
        #[unroll]
        for i in 0..digits {
            total += self.words[own + i];
        }
        let cube = scan_counts(total, &mut self.totals, config);
        let mut running = cube.exclusive;
        #[unroll]
        for i in 0..digits {
            let count = self.words[own + i];
            self.words[own + i] = running;
            running += count;
        }
        sync_cube();
        let digit = UNIT_POS as usize;
        if digit < digits {
            self.starts[digit] = self.words[digit * config.units];
        }
        if digit == 0 {
            self.starts[digits] = cube.aggregate;
        }
        sync_cube();
    }
}

/// Makes writes of a plane's units visible to all of them.
#[cube]
fn meet(#[comptime] config: DigitConfig) {
    if comptime!(config.planes_meet) {
        sync_plane();
    } else {
        sync_cube();
    }
}
