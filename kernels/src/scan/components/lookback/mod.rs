//! Decoupled lookback with fallback: how the tiles of one launch learn what precedes them.
//!
//! Merrill & Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016), and Smith, Levien & Owens,
//! "Decoupled Fallback" (2025), with two changes that this crate needs: states of any width through 32-bit atomics, and
//! floats whose bits do not depend on the schedule.
//!
//! The tiles of a row form blocks. Every tile publishes its *aggregate*. The last tile of a block also publishes the
//! block's *prefix*, the total of the row up to and including the block. A tile reads the aggregates of its own block,
//! and the prefix of the block before. If that prefix is not published yet, the tile keeps the total of that block and
//! looks one block further back.
//!
//! ```text
//! tiles        … │ a a a a │ a a a a │ a a t          a  aggregate of a tile
//! prefixes     … P         ·         ·                P  prefix of a block     ·  not published yet
//!                └─────┬───┘└───┬────┘└┬─┘
//! before t  =  P   ⊕  total  ⊕  total ⊕ aggregates before t in its own block
//! ```
//!
//! **Order.** All tiles fold the total of a block in the same order, and likewise what precedes a tile in its own
//! block. Blocks are folded from left to right. So what a tile learns has the same bits, wherever its lookback ends.
//!
//! **No waiting.** A tile reads a word at most as often as the spin limit says. If an aggregate is still missing, the
//! whole cube computes it from the input, publishes it as the missing tile's *fallback* and goes on. No
//! forward-progress guarantee is needed.
//!
//! **Far back.** A lookback keeps the totals of a bounded number of blocks. If it needs more, it first learns what
//! precedes the blocks furthest back, in the same way. Then it starts again at the near end, where newer prefixes may
//! be published by now.
//!
//! [`planes`] looks back in registers. [`shared`] does so without plane operations. The words:
//! [`tile_state`](super::tile_state).

mod planes;
mod shared;

use super::plane_scan::{lane_of_unit, plane_of_unit};
use super::stall::{Publication, is_stalled};
use super::tile_state::{
    HALVES, LookbackConfig, TileWords, aggregate_at, fallback_at, prefix_at, publish,
};
use crate::monoid::{Monoid, State, join};
use cubecl::prelude::*;

/// The tile of this cube. Where cubes start in the order of their positions, it is the position: a cube that
/// starts early nevertheless finds tiles missing, and computes them. Elsewhere cubes take tickets.
#[cube]
pub(crate) fn tile_of_cube(
    state: &[Atomic<u32>],
    cubes: u32,
    #[comptime] cubes_in_order: bool,
) -> usize {
    if comptime!(cubes_in_order) {
        CUBE_POS
    } else {
        let mut ticket = Shared::<[u32]>::new_slice(1usize);
        if UNIT_POS == 0 {
            let mine = state[0].fetch_add(1u32);
            // The last ticket resets the counter.
            if mine + 1 == cubes {
                state[0].store(0u32);
            }
            ticket[0] = mine;
        }
        workgroup_uniform_load(&ticket[0]) as usize
    }
}

/// Takes the place of a tile's number if no tile is missing.
const NONE: u32 = u32::MAX;

/// How far one tile has looked back. Positions are the same in every unit that looks back. States are valid in the
/// units that fold.
///
/// ```text
/// search.publish_aggregate(aggregate)
/// while search.advance(aggregate) {     // a tile is missing:
///     search.publish_fallback(…)        // the cube computes its aggregate
/// }
/// search.before()                       // what precedes the tile; the prefix is published
/// ```
#[derive(CubeType)]
pub(crate) struct Lookback<S: State> {
    /// The first block of the tile's row.
    row_block: usize,
    /// The tile's block in its row, and how many tiles of that block precede it.
    own: usize,
    within: usize,
    /// The block to look at next.
    block: usize,
    /// The search is for what precedes this block: the tile's own, or one further back than totals are kept for.
    goal: usize,
    /// `base` is what precedes this block.
    base_block: usize,
    base: S,
    /// How many totals are kept: of the blocks between the next one and the goal.
    count: u32,
    totals: S,
    /// The total of the tile's own block before the tile, and up to and including it.
    own_before: S,
    own_total: S,
    /// The tile of the row whose aggregate is missing, or [`NONE`]. After [`advance`](Self::advance) the same in every
    /// unit.
    pub missing: usize,
    /// For all units: the missing tile, and what precedes this tile.
    decision: Shared<[u32]>,
    result: S::Shared,
    /// The tile of the launch.
    tile: usize,
    words: TileWords,
    #[cube(comptime)]
    config: LookbackConfig,
    storage: shared::Storage<S>,
}

#[cube]
impl<S: State> Lookback<S> {
    /// Begins with `first` before the first element of the row.
    pub fn new(
        tile: usize,
        words: TileWords,
        first: &S,
        #[comptime] config: LookbackConfig,
    ) -> Lookback<S> {
        let row = tile / words.per_row;
        let in_row = tile - row * words.per_row;
        let own = in_row / config.block;
        Lookback::<S> {
            row_block: row * words.per_row.div_ceil(config.block),
            own,
            within: in_row - own * config.block,
            block: own,
            goal: own,
            base_block: 0usize.runtime(),
            base: S::copy(first),
            count: 0u32.runtime(),
            totals: S::copy(first),
            own_before: S::copy(first),
            own_total: S::copy(first),
            missing: 0usize.runtime(),
            decision: Shared::new_slice(1usize),
            result: S::allocate(1usize),
            storage: shared::Storage::<S>::new(config),
            tile,
            words,
            config,
        }
    }

    fn publish(&self, state: &[Atomic<u32>], at: usize, #[comptime] apart: usize, value: &S) {
        publish::<S>(state, at, apart, HALVES, value, self.words.epoch_bits);
    }

    pub fn publish_aggregate(&self, state: &[Atomic<u32>], aggregate: &S) {
        let config = comptime!(self.config);
        if UNIT_POS == 0 && !is_stalled(self.tile, Publication::Aggregate, config.stall) {
            let index = self.row_block + self.own;
            let at = aggregate_at(index, self.within, config.block, S::words());
            self.publish(state, at, config.block, aggregate);
        }
    }

    /// Publishes what the cube has computed in place of the missing tile.
    pub fn publish_fallback(&self, state: &[Atomic<u32>], aggregate: &S) {
        let config = comptime!(self.config);
        if UNIT_POS == 0 {
            let index = self.row_block + self.missing / config.block;
            let lane = self.missing % config.block;
            let at = fallback_at(index, lane, config.block, S::words());
            self.publish(state, at, config.block, aggregate);
        }
    }

    /// Looks back until it is known what precedes the tile. Then publishes the prefix, if the tile is the last of its
    /// block. Returns true if a tile is missing before that. The whole cube calls it.
    pub fn advance<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        state: &[Atomic<u32>],
        aggregate: &S,
        #[comptime] op: M::Config,
    ) -> bool {
        let config = comptime!(self.config);
        if comptime!(config.in_registers) {
            if plane_of_unit(config.plane_size) == 0 {
                planes::seek::<A, M>(self, state, aggregate, op);
                let leads = lane_of_unit(config.plane_size) == 0;
                self.conclude::<A, M>(state, leads, op);
            }
        } else {
            shared::seek::<A, M>(self, state, aggregate, op);
            self.conclude::<A, M>(state, UNIT_POS == 0, op);
        }
        let missing = workgroup_uniform_load(&self.decision[0]);
        self.missing = missing as usize;
        missing != NONE
    }

    /// The leading unit tells all others the result. `base` is what precedes the tile's own block.
    fn conclude<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        state: &[Atomic<u32>],
        leads: bool,
        #[comptime] op: M::Config,
    ) {
        let config = comptime!(self.config);
        if leads {
            self.decision[0] = self.missing as u32;
            if self.missing == NONE as usize {
                let before = join::<A, M>(&self.base, &self.own_before, op);
                let before = S::select(self.within > 0, &before, &self.base);
                S::set(&mut self.result, 0usize, &before);
                if self.within + 1 == config.block
                    && !is_stalled(self.tile, Publication::Prefix, config.stall)
                {
                    let prefix = join::<A, M>(&self.base, &self.own_total, op);
                    let index = self.row_block + self.own;
                    let at = prefix_at(index, config.block, S::words());
                    self.publish(state, at, 1usize, &prefix);
                }
            }
        }
    }

    /// What precedes the tile in its row.
    pub fn before(&self) -> S {
        S::get(&self.result, 0usize)
    }
}
