//! The mask of one tile: its bits in registers, and where its survivors go.
//!
//! ```text
//! mask     1 0 1 1 │ 0 0 1 0 │ 1 1 1 1 │ …     vectors of four lanes
//! flags    1101₂     0100₂     1111₂           one word per vector, lane 0 lowest
//! before   0         3         4               survivors that the unit (or its plane) holds before the vector
//! ```
//!
//! Vectors are dealt to units as [`tile`](crate::scan::components::tile) says. Where the planes of the device are used, the survivors of a run
//! of vectors are counted by one ballot per lane; elsewhere each unit counts its own.

use crate::ScanOp;
use crate::monoid::Fold;
use crate::scan::components::{
    cube_totals::scan_totals,
    lookback::Lookback,
    tile::{TileConfig, vector_in_tile},
    tile_state::{LookbackConfig, TileWords},
};
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

/// The comptime facts of a tile of a mask.
#[derive_cube_comptime]
pub(crate) struct MaskConfig {
    /// How the tile is dealt to units.
    pub tile: TileConfig,
    /// 32-bit words of a ballot that can have bits.
    pub ballot_words: usize,
    /// How tiles look back.
    pub lookback: LookbackConfig,
}

/// A unit's share of a tile's mask.
#[derive(CubeType)]
pub(crate) struct MaskTile {
    flags: Array<u32>,
    before: Array<u32>,
    /// Survivors of the unit (blocked) or of its plane (striped).
    total: u32,
}

/// Survivors in a run of vectors, one per unit of a plane.
#[derive(CubeType)]
struct Run {
    /// Those of the units before this one.
    earlier: u32,
    /// Those of the whole plane.
    total: u32,
}

/// Bit `l` is set where lane `l` is true.
#[cube]
pub(super) fn lane_bits<M: Numeric, N: Size>(value: Vector<M, N>) -> u32 {
    let mut bits = 0u32;
    #[unroll]
    for lane in 0..N::value().comptime() {
        bits |= u32::cast_from(value.extract(lane) != M::from_int(0)) << comptime!(lane as u32);
    }
    bits
}

/// The bits of the units before this one, within word `word` of a ballot.
#[cube]
pub(super) fn units_before(#[comptime] word: usize) -> u32 {
    let first = comptime!(32 * word as u32);
    let within = select(UNIT_POS_PLANE > first, UNIT_POS_PLANE - first, 0u32);
    select(within >= 32u32, u32::MAX, (1u32 << (within & 31u32)) - 1u32)
}

#[cube]
fn count_run(bits: u32, #[comptime] lanes: usize, #[comptime] words: usize) -> Run {
    let mut earlier = 0u32;
    let mut total = 0u32;
    #[unroll]
    for lane in 0..lanes {
        let ballot = plane_ballot((bits >> comptime!(lane as u32)) & 1u32 == 1u32);
        #[unroll]
        for word in 0..words {
            let survivors = ballot.extract(word);
            total += survivors.count_ones();
            earlier += (survivors & units_before(word)).count_ones();
        }
    }
    Run { earlier, total }
}

#[cube]
impl MaskTile {
    /// Loads the tile that begins at vector `first`. Nothing beyond `vectors` survives.
    pub fn load<M: Numeric, N: Size>(
        mask: &LinearView<'_, Vector<M, N>>,
        first: usize,
        vectors: usize,
        #[comptime] config: MaskConfig,
    ) -> MaskTile {
        let mut flags = Array::<u32>::new(config.tile.vectors);
        let mut before = Array::<u32>::new(config.tile.vectors);
        #[unroll]
        for k in 0..config.tile.vectors {
            let at = first + vector_in_tile(k, config.tile);
            let mut bits = 0u32;
            if at < vectors {
                bits = lane_bits::<M, N>(mask.read(at));
            }
            flags[k] = bits;
        }
        let mut total = 0u32;
        #[unroll]
        for k in 0..config.tile.vectors {
            if comptime!(config.tile.plane) {
                let run = count_run(flags[k], N::value().comptime(), config.ballot_words);
                before[k] = total + run.earlier;
                total += run.total;
            } else {
                before[k] = total;
                total += flags[k].count_ones();
            }
        }
        MaskTile {
            flags,
            before,
            total,
        }
    }

    /// The total that [`load`](Self::load) would find, by a short loop: see
    /// [`total_of`](crate::scan::components::tile::total_of).
    fn total_of<M: Numeric, N: Size>(
        mask: &LinearView<'_, Vector<M, N>>,
        first: usize,
        vectors: usize,
        #[comptime] config: MaskConfig,
    ) -> u32 {
        let mut total = 0u32;
        for k in 0..config.tile.vectors {
            let at = first + vector_in_tile(k, config.tile);
            let mut bits = 0u32;
            if at < vectors {
                bits = lane_bits::<M, N>(mask.read(at));
            }
            if comptime!(config.tile.plane) {
                total += count_run(bits, N::value().comptime(), config.ballot_words).total;
            } else {
                total += bits.count_ones();
            }
        }
        total
    }

    /// The lanes of the unit's `k`-th vector that survive.
    pub fn flags(&self, k: usize) -> u32 {
        self.flags[k]
    }

    /// Survivors that the unit (or its plane) holds before its `k`-th vector.
    pub fn before(&self, k: usize) -> u32 {
        self.before[k]
    }

    /// Counts the tile's survivors and publishes how many they are.
    pub fn publish(
        &self,
        state: &[Atomic<u32>],
        tile: usize,
        words: TileWords,
        #[comptime] config: MaskConfig,
    ) -> Published {
        let mut totals = Shared::<[u32]>::new_slice(comptime!(config.tile.totals() + 1));
        let zero = 0u32.runtime();
        let own =
            scan_totals::<u32, Fold>(&self.total, &zero, &mut totals, config.tile, ScanOp::Sum);
        let search = Lookback::<u32>::new(tile, words, &zero, config.lookback);
        search.publish_aggregate(state, words, tile, &own.aggregate, config.lookback);
        Published {
            unit: own.exclusive,
            survivors: own.aggregate,
            totals,
            search,
        }
    }
}

/// A tile whose survivors are counted, and the other tiles know.
#[derive(CubeType)]
pub(crate) struct Published {
    /// Survivors of the tile before this unit (or its plane).
    pub unit: u32,
    /// Survivors of the tile.
    pub survivors: u32,
    totals: Shared<[u32]>,
    search: Lookback<u32>,
}

#[cube]
impl Published {
    /// Learns from the other tiles of the launch how many survivors precede this one.
    pub fn seek<M: Numeric, N: Size>(
        &mut self,
        mask: &LinearView<'_, Vector<M, N>>,
        state: &[Atomic<u32>],
        tile: usize,
        vectors: usize,
        words: TileWords,
        #[comptime] config: MaskConfig,
    ) -> u32 {
        let zero = 0u32.runtime();
        while self.search.advance::<u32, Fold>(
            state,
            words,
            tile,
            &self.survivors,
            config.lookback,
            ScanOp::Sum,
        ) {
            let first = self.search.missing() * comptime!(config.tile.units * config.tile.vectors);
            let other = MaskTile::total_of::<M, N>(mask, first, vectors, config);
            let other =
                scan_totals::<u32, Fold>(&other, &zero, &mut self.totals, config.tile, ScanOp::Sum);
            self.search
                .publish_fallback(state, words, &other.aggregate, config.lookback);
        }
        self.search.before()
    }
}
