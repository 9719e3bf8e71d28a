//! How many keys a cube ranks, and by how many bits.

use crate::scan::LaunchOptions;
use crate::scan::components::tile::TileConfig;
use crate::scan::tuning::Tuning;
use cubecl::client::Client;
use cubecl::prelude::*;

/// Bits of a digit, with planes (if there is room) and without. There is a counter for each digit and plane, or for
/// each digit and unit.
const BITS_WITH_PLANES: u32 = 8;
const BITS_WITHOUT: u32 = 4;

/// Keys of a tile with planes, if shared memory holds a word for each. On an H200 (2026-11-27, NVRTC 13.0) the 64
/// largest of i32 [8, 151936] take 41 µs with such tiles, and 59 with twice as many keys per unit.
const TILE: usize = 4096;

/// The most keys of a large tile. On an H200 (2026-11-27, NVRTC 13.0) 2^24 i32 with positions are sorted in 647 µs in
/// tiles of 8,192 keys, 689 in 6,144 and 873 in 4,096, and 2^20 i32 alone in 69 and 110 µs. Lines of 4,096 that are
/// sorted in one launch take 446 µs in tiles of 8,192, and 353 in 4,096.
const LARGE_TILE: usize = 8192;

/// The most keys of a unit with planes, so that they stay in registers.
const MOST_KEYS: usize = 16;

/// The most planes that have counters.
const MOST_PLANES: usize = 16;

/// Shared memory that is left for everything but counters, in bytes: a table of a word for each digit, and the rest.
const OTHER_BYTES: usize = (size_of::<u32>() << BITS_WITH_PLANES) + 2048;

/// Units of a cube without planes, and the fewest.
const UNITS: usize = 64;
const FEWEST_UNITS: usize = 1 << BITS_WITHOUT;

/// Keys of a unit without planes. Odd, so that units walking their own keys in shared memory access different banks.
const KEYS: usize = 15;

#[derive_cube_comptime]
#[derive(Default)]
pub(crate) struct DigitConfig {
    pub bits: u32,
    pub units: usize,
    /// Keys of a unit.
    pub keys: usize,
    /// Planes rank their keys together; else each unit ranks its own.
    pub plane: bool,
    /// Planes can be synchronised; else the cube is.
    pub planes_meet: bool,
    pub max_planes: usize,
    /// Units of a plane, or 0 if they are not known.
    pub plane_size: usize,
    /// 32-bit words of a ballot that can have bits.
    pub ballot_words: usize,
    /// Planes find the keys of a digit by atomic bits in shared memory; else by ballots.
    pub matches: bool,
    /// Keys out of range have no digit.
    pub drops: bool,
}

impl DigitConfig {
    /// For a grouping by keys below `num_keys`.
    pub fn of_grouping(client: &Client, launch: &LaunchOptions, num_keys: usize) -> Self {
        let config = Self::new(client, launch, 0, false);
        Self {
            drops: num_keys <= config.digits(),
            ..config
        }
    }

    /// For tiles that have `of_key` bytes of shared memory for each key in addition to counters, words and a table. If
    /// `is_large`, a tile may be larger than [`TILE`], as long as two cubes share the memory.
    pub fn new(client: &Client, launch: &LaunchOptions, of_key: usize, is_large: bool) -> Self {
        let tuning = Tuning::of(client, launch);
        let hardware = &client.properties().hardware;
        if tuning.plane {
            Self::with_planes(
                &tuning,
                launch,
                [hardware.plane_size_min, hardware.plane_size_max],
                hardware.max_shared_memory_size,
                of_key,
                is_large,
            )
        } else {
            Self::without_planes(launch)
        }
    }

    fn with_planes(
        tuning: &Tuning,
        launch: &LaunchOptions,
        plane_sizes: [u32; 2],
        shared_bytes: usize,
        of_key: usize,
        is_large: bool,
    ) -> Self {
        let [smallest, largest] = plane_sizes.map(|size| size.max(1) as usize);
        let words = shared_bytes.saturating_sub(OTHER_BYTES) / (size_of::<u32>() + of_key);
        let planes = (words >> BITS_WITH_PLANES).clamp(1, MOST_PLANES);
        // Whole planes, whatever size the device picks.
        let most = (planes * smallest / largest).max(1) * largest;
        let units = tuning.units.min(most);
        let max_planes = units.div_ceil(smallest);
        let tile = if is_large && tuning.lookback.meets {
            let holders = max_planes * (size_of::<u32>() << BITS_WITH_PLANES);
            let room = (shared_bytes / 2).saturating_sub(OTHER_BYTES + holders);
            (room / (size_of::<u32>() + of_key)).clamp(TILE, LARGE_TILE)
        } else {
            TILE
        };
        let most_keys = launch.vectors.unwrap_or(MOST_KEYS).clamp(1, MOST_KEYS);
        let config = Self {
            // One plane of the largest size may become many of the smallest.
            bits: (words / max_planes).ilog2().min(BITS_WITH_PLANES),
            units,
            keys: (tile.min(words) / units).clamp(1, most_keys),
            plane: true,
            planes_meet: tuning.lookback.meets,
            max_planes,
            plane_size: tuning.plane_size,
            ballot_words: largest.div_ceil(32),
            ..Self::default()
        };
        let words = config.words() + config.counters();
        let bytes = size_of::<u32>() * words + config.tile() * of_key;
        let has_room = OTHER_BYTES + bytes <= shared_bytes;
        Self {
            matches: tuning.lookback.meets && config.ballot_words == 1 && has_room,
            ..config
        }
    }

    fn without_planes(launch: &LaunchOptions) -> Self {
        Self {
            bits: BITS_WITHOUT,
            units: launch.units.unwrap_or(UNITS).clamp(FEWEST_UNITS, UNITS),
            keys: launch.vectors.unwrap_or(KEYS).clamp(1, KEYS),
            ..Self::default()
        }
    }

    pub fn digits(&self) -> usize {
        1 << self.bits
    }

    /// Keys of a tile.
    pub fn tile(&self) -> usize {
        self.units * self.keys
    }

    /// Words of shared memory: the counters, and later the keys in their new order.
    pub fn words(&self) -> usize {
        self.counters().max(self.tile())
    }

    /// Counters, in the room for words.
    pub fn counters(&self) -> usize {
        self.sums().totals() * self.digits()
    }

    /// Words of bits in addition to the counters.
    pub fn holders(&self) -> usize {
        if self.matches { self.counters() } else { 0 }
    }

    /// How the sums of counters are scanned across the cube.
    pub fn sums(&self) -> TileConfig {
        let sums = [self.units, 1];
        TileConfig::of_counts(self.plane, sums, self.max_planes, self.plane_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::components::tile_state::LookbackConfig;

    fn with(units: usize, plane_sizes: [u32; 2], shared_bytes: usize) -> DigitConfig {
        extra(units, plane_sizes, shared_bytes, 0, false)
    }

    fn extra(
        units: usize,
        plane_sizes: [u32; 2],
        shared_bytes: usize,
        of_key: usize,
        is_large: bool,
    ) -> DigitConfig {
        let tuning = Tuning {
            units,
            lookback: LookbackConfig {
                meets: true,
                ..Default::default()
            },
            ..Tuning::planes()
        };
        let launch = LaunchOptions::default();
        DigitConfig::with_planes(
            &tuning,
            &launch,
            plane_sizes,
            shared_bytes,
            of_key,
            is_large,
        )
    }

    #[test]
    fn tiles_of_4096_keys_where_there_is_room() {
        for plane_sizes in [[32, 32], [64, 64], [16, 32]] {
            assert_eq!(with(512, plane_sizes, 32 << 10).tile(), TILE);
        }
    }

    #[test]
    fn two_cubes_with_large_tiles_share_a_multiprocessor() {
        // An H100, an A100, and what has no room for that.
        for (kib, keys) in [(227, 16), (163, 15), (99, 8)] {
            let config = extra(512, [32, 32], kib << 10, 4, true);
            assert_eq!(config.keys, keys, "{kib} KiB");
        }
    }

    #[test]
    fn planes_of_cuda_match_keys_in_shared_memory() {
        assert!(with(512, [32, 32], 227 << 10).matches);
        assert!(!with(512, [32, 32], 32 << 10).matches, "there is no room");
        assert!(!with(512, [64, 64], 227 << 10).matches, "short words");
    }

    #[test]
    fn whole_planes_that_fit_in_shared_memory() {
        for plane_sizes in [[4, 4], [4, 128], [8, 32], [8, 128], [32, 32], [32, 64]] {
            for shared_bytes in [16 << 10, 32 << 10, 227 << 10] {
                for units in [128, 512, 1024] {
                    for (of_key, is_large) in [0, 1, 4, 8].map(|of_key| (of_key, of_key == 4)) {
                        let config = extra(units, plane_sizes, shared_bytes, of_key, is_large);
                        assert_eq!(config.units % plane_sizes[1] as usize, 0);
                        assert!(config.units <= units);
                        assert!(config.bits >= 5);
                        let words = config.words() + config.holders();
                        let bytes = words * size_of::<u32>() + config.tile() * of_key;
                        assert!(bytes + OTHER_BYTES <= shared_bytes, "{config:?}");
                    }
                }
            }
        }
    }
}
