//! The mask of one tile: its bits in registers, and the ranks of its survivors.
//!
//! ```text
//! mask     1 0 1 1 │ 0 0 1 0 │ 1 1 1 1 │ …     vectors of four lanes
//! flags    1101₂     0100₂     1111₂           one word per vector, lane 0 lowest
//! before   0         3         4               survivors that the unit (or its plane) holds before the vector
//! ```
//!
//! Vectors are dealt to units as [`tile`](crate::scan::components::tile) says. With planes, one ballot for each lane
//! counts the survivors of a stripe of vectors. Without planes, each unit counts its own.

use crate::ScanOp;
use crate::monoid::Fold;
use crate::operator::is_nan;
use crate::scan::components::{
    cube_totals::{CubeTotals, totals_of_tile},
    lookback::Lookback,
    tile::{TileConfig, vector_in_tile},
    tile_state::{LookbackConfig, TileWords},
    vector_totals::{Rake, RowsOfVectors, place_of_total, rake_totals},
};
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

#[derive_cube_comptime]
pub(crate) struct MaskConfig {
    pub tile: TileConfig,
    /// 32-bit words of a ballot that can have bits set.
    pub ballot_words: usize,
    pub lookback: LookbackConfig,
    /// Each line has one tile, which waits for no other.
    pub alone: bool,
    pub mark: Mark,
}

/// Which elements of a mask are marked, that is, survive.
#[derive_cube_comptime]
pub(crate) enum Mark {
    NonZero,
    /// The first element, and elements that differ from the one before: where runs of equal elements begin. NaN differs
    /// from everything.
    Head,
}

/// A unit's share of a tile's mask.
#[derive(CubeType)]
pub(crate) struct MaskTile {
    /// The lanes of each vector that survive.
    pub flags: Array<u32>,
    /// Survivors that the plane (or the cube) holds before each vector.
    pub before: Array<u32>,
    /// Survivors of the unit's plane, or without plane operations of the cube.
    total: u32,
    totals: Shared<[u32]>,
}

/// Survivors in a stripe of vectors, one per unit of a plane.
#[derive(CubeType)]
struct Stripe {
    /// Survivors of the units before this one.
    earlier: u32,
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
fn differ<M: Numeric>(before: M, own: M) -> bool {
    let elem = elem_type_of::<M>();
    if comptime!(elem.is_float()) {
        // The bits decide, because shader compilers may assume that NaN does not occur.
        let (left, right) = (f32::cast_from(before), f32::cast_from(own));
        before != own || is_nan::<f32>(left) || is_nan::<f32>(right)
    } else {
        before != own
    }
}

/// Bit `l` is set where lane `l` of vector `at` is marked.
#[cube]
fn marks<M: Numeric, N: Size>(
    mask: &LinearView<'_, Vector<M, N>>,
    at: usize,
    #[comptime] mark: Mark,
) -> u32 {
    let own = mask.read(at);
    if comptime!(mark == Mark::NonZero) {
        lane_bits::<M, N>(own)
    } else {
        let lanes = N::value().comptime();
        let neighbour = mask.read(select(at == 0, at, at - 1));
        let mut before = neighbour.extract(comptime!(lanes - 1));
        let is_first = at == 0;
        let mut bits = u32::cast_from(is_first);
        #[unroll]
        for lane in 0..lanes {
            let element = own.extract(lane);
            bits |= u32::cast_from(differ::<M>(before, element)) << comptime!(lane as u32);
            before = element;
        }
        bits
    }
}

/// Where the row of a tile lies in the mask.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct MaskRow {
    /// Its number.
    pub index: usize,
    /// Its first vector.
    pub begin: usize,
    /// The tile's first vector, counted from `begin`.
    pub first: usize,
    pub vectors: usize,
}

#[cube]
impl MaskRow {
    /// The row of a tile. Rows have `vectors` vectors.
    pub fn of_tile(
        tile: usize,
        vectors: usize,
        words: TileWords,
        #[comptime] config: MaskConfig,
    ) -> MaskRow {
        let index = tile / words.per_row;
        let in_row = tile - index * words.per_row;
        MaskRow {
            index,
            begin: index * vectors,
            first: in_row * comptime!(config.tile.units * config.tile.vectors),
            vectors,
        }
    }
}

#[cube]
fn count_stripe(bits: u32, #[comptime] lanes: usize, #[comptime] words: usize) -> Stripe {
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
    Stripe { earlier, total }
}

/// The marks of the unit's `k`-th vector of the tile that begins at the row's vector `first`. Nothing is marked past
/// the row. No unit branches, because a plane votes next.
#[cube]
fn marks_in_row<M: Numeric, N: Size>(
    mask: &LinearView<'_, Vector<M, N>>,
    row: MaskRow,
    first: usize,
    k: usize,
    #[comptime] config: MaskConfig,
) -> u32 {
    let at = first + vector_in_tile(k, config.tile);
    let bits = marks::<M, N>(
        mask,
        row.begin + min(at, max(row.vectors, 1usize) - 1),
        config.mark,
    );
    select(at < row.vectors, bits, 0u32)
}

/// Sets the total of the unit's `k`-th vector in shared memory.
#[cube]
fn set_total(totals: &mut Shared<[u32]>, k: usize, total: u32, #[comptime] tile: TileConfig) {
    let at = vector_in_tile(k, tile);
    totals[place_of_total(at, comptime!(tile.rake()))] = total;
}

/// Replaces the totals of all vectors by what precedes them. Returns the total of the tile.
#[cube]
fn replace_totals(totals: &mut Shared<[u32]>, #[comptime] rake: Rake) -> u32 {
    let (rows, zero) = (RowsOfVectors::whole(), 0u32.runtime());
    rake_totals::<u32, Fold>(totals, rows, &zero, rake, ScanOp::Sum)
}

#[cube]
impl MaskTile {
    /// Loads a tile. Nothing past its row survives.
    pub fn load<M: Numeric, N: Size>(
        mask: &LinearView<'_, Vector<M, N>>,
        row: MaskRow,
        #[comptime] config: MaskConfig,
    ) -> MaskTile {
        let mut flags = Array::<u32>::new(config.tile.vectors);
        let mut before = Array::<u32>::new(config.tile.vectors);
        #[unroll]
        for k in 0..config.tile.vectors {
            flags[k] = marks_in_row::<M, N>(mask, row, row.first, k, config);
        }
        let mut totals = Shared::<[u32]>::new_slice(comptime!(config.tile.shared_states()));
        let mut total = 0u32;
        if comptime!(!config.tile.plane) {
            #[unroll]
            for k in 0..config.tile.vectors {
                set_total(&mut totals, k, flags[k].count_ones(), config.tile);
            }
            total = replace_totals(&mut totals, comptime!(config.tile.rake()));
        }
        #[unroll]
        for k in 0..config.tile.vectors {
            if comptime!(config.tile.plane) {
                let stripe = count_stripe(flags[k], N::value().comptime(), config.ballot_words);
                before[k] = total + stripe.earlier;
                total += stripe.total;
            } else {
                let at = vector_in_tile(k, config.tile);
                before[k] = totals[place_of_total(at, comptime!(config.tile.rake()))];
            }
        }
        MaskTile {
            flags,
            before,
            total,
            totals,
        }
    }

    /// The total that [`load`](Self::load) would find, by a short loop: see
    /// [`total_of`](crate::scan::components::tile::total_of).
    fn total_of<M: Numeric, N: Size>(
        &mut self,
        mask: &LinearView<'_, Vector<M, N>>,
        row: MaskRow,
        first: usize,
        #[comptime] config: MaskConfig,
    ) -> u32 {
        let mut total = 0u32;
        for k in 0..config.tile.vectors {
            let bits = marks_in_row::<M, N>(mask, row, first, k, config);
            if comptime!(config.tile.plane) {
                total += count_stripe(bits, N::value().comptime(), config.ballot_words).total;
            } else {
                set_total(&mut self.totals, k, bits.count_ones(), config.tile);
            }
        }
        if comptime!(!config.tile.plane) {
            let rake = comptime!(config.tile.rake().in_short_code());
            total = replace_totals(&mut self.totals, rake);
        }
        total
    }

    /// The survivors of the cube, and of its units (or planes) before this one. They have `total`.
    fn in_cube(&mut self, total: u32, #[comptime] config: MaskConfig) -> CubeTotals<u32> {
        let zero = 0u32.runtime();
        totals_of_tile::<u32, Fold>(&total, &zero, &mut self.totals, config.tile, ScanOp::Sum)
    }

    pub fn publish(
        &mut self,
        state: &[Atomic<u32>],
        tile: usize,
        words: TileWords,
        #[comptime] config: MaskConfig,
    ) -> Published {
        let total = self.total;
        let own = self.in_cube(total, config);
        let search = Lookback::<u32>::new(tile, words, &0u32.runtime(), config.lookback);
        if comptime!(!config.alone) {
            search.publish_aggregate(state, &own.aggregate);
        }
        Published {
            unit: own.exclusive,
            survivors: own.aggregate,
            search,
        }
    }
}

/// A tile whose number of survivors is published.
#[derive(CubeType)]
pub(crate) struct Published {
    /// Survivors of the tile before this plane.
    pub unit: u32,
    pub survivors: u32,
    search: Lookback<u32>,
}

#[cube]
impl Published {
    /// Learns from the other tiles of the row how many survivors precede this one. This includes a barrier.
    pub fn seek<M: Numeric, N: Size>(
        &mut self,
        tile_mask: &mut MaskTile,
        mask: &LinearView<'_, Vector<M, N>>,
        state: &[Atomic<u32>],
        row: MaskRow,
        #[comptime] config: MaskConfig,
    ) -> u32 {
        let mut before = 0u32.runtime();
        if comptime!(config.alone) {
            sync_cube();
        } else {
            let vectors = comptime!(config.tile.units * config.tile.vectors);
            let survivors = self.survivors;
            while (self.search).advance::<u32, Fold>(state, &survivors, ScanOp::Sum) {
                let first = self.search.missing * vectors;
                let other = tile_mask.total_of::<M, N>(mask, row, first, config);
                let other = tile_mask.in_cube(other, config);
                self.search.publish_fallback(state, &other.aggregate);
            }
            before = self.search.before();
        }
        before
    }
}
