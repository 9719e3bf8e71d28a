//! The lookback of a cube without plane operations. Each unit reads the words of one tile of a block, and unit 0 folds
//! in shared memory.
//!
//! Control flow is uniform across the cube: the decisions of unit 0 reach all units by a uniform load. Browsers demand
//! this of conditions around a barrier.

use super::{Lookback, NONE};
use crate::monoid::{Monoid, State, join};
use crate::scan::components::tile_state::{
    HALVES, LookbackConfig, aggregate_at, fallback_at, peek, prefix_at,
};
use cubecl::prelude::*;

/// Values that are read before the first is combined. See [`vector_totals`](super::super::vector_totals).
const AT_ONCE: usize = 8;

/// The most blocks whose totals are kept.
const MOST_TOTALS: usize = 32;

/// What unit 0 has found, as `found[0]` says: a tile of the block is missing; `found[1]` is its place in the block.
const INCOMPLETE: u32 = 0;
/// The total of the block is known, but not yet what precedes it.
const COMPLETE: u32 = 1;
/// What precedes the goal is known, and folded.
const KNOWN: u32 = 2;

/// The shared memory of the search. It has single entries if the search is done in registers.
#[derive(CubeType)]
pub(super) struct Storage<S: State> {
    values: S::Shared,
    /// The place of a tile of the block that is missing, or [`NONE`].
    missing: Shared<[Atomic<u32>]>,
    totals: S::Shared,
    /// A code, [`INCOMPLETE`], [`COMPLETE`] or [`KNOWN`]; then the place of a missing tile in its block.
    found: Shared<[u32]>,
}

#[cube]
impl<S: State> Storage<S> {
    pub fn new(#[comptime] config: LookbackConfig) -> Storage<S> {
        let block = comptime!(if config.in_registers { 1 } else { config.block });
        let totals = comptime!(if config.in_registers { 1 } else { MOST_TOTALS });
        Storage::<S> {
            values: S::allocate(block),
            missing: Shared::new_slice(1usize),
            totals: S::allocate(totals),
            found: Shared::new_slice(2usize),
        }
    }
}

/// Searches until it is known what precedes the tile's own block, or a tile is missing. Only unit 0 has valid states.
#[cube]
pub(super) fn seek<A: Numeric, M: Monoid<A>>(
    search: &mut Lookback<M::State>,
    state: &[Atomic<u32>],
    aggregate: &M::State,
    #[comptime] op: M::Config,
) {
    let config = comptime!(search.config);
    let mut searching = true.runtime();
    if UNIT_POS == 0 {
        search.storage.missing[0].store(NONE);
    }
    sync_cube();
    while searching {
        let is_own = search.block == search.own;
        let tiles = select(is_own, search.within, config.block);
        read_block::<M::State>(search, state, tiles);
        sync_cube();
        if UNIT_POS == 0 {
            fold_block::<A, M>(search, state, aggregate, tiles, is_own, op);
        }
        let found = workgroup_uniform_load(&search.storage.found[0]);
        if found == INCOMPLETE {
            let first = search.block * config.block;
            search.missing = first + workgroup_uniform_load(&search.storage.found[1]) as usize;
            searching = false.runtime();
        } else {
            if !is_own {
                search.count += 1u32;
            }
            if found == KNOWN {
                search.count = 0u32;
                search.base_block = search.goal;
                if search.goal == search.own {
                    search.missing = NONE as usize;
                    searching = false.runtime();
                } else {
                    search.goal = min(search.own, search.goal + comptime!(MOST_TOTALS));
                    search.block = search.goal - 1;
                }
            } else {
                if search.count == comptime!(MOST_TOTALS as u32) {
                    search.goal = search.block;
                    search.count = 0u32;
                }
                search.block -= 1;
            }
        }
    }
}

/// Each unit reads the words of its tile until they are published, up to the spin limit.
#[cube]
fn read_block<S: State>(search: &mut Lookback<S>, state: &[Atomic<u32>], tiles: usize) {
    let config = comptime!(search.config);
    let unit = UNIT_POS as usize;
    let index = search.row_block + search.block;
    if unit < tiles {
        let mut spins = 0u32;
        let mut present = false.runtime();
        while !present && spins < search.words.spin_limit {
            let at = aggregate_at(index, unit, config.block, S::words());
            let published = peek::<S>(state, at, config.block, HALVES, search.words.epoch_bits);
            let at = fallback_at(index, unit, config.block, S::words());
            let fallback = peek::<S>(state, at, config.block, HALVES, search.words.epoch_bits);
            let value = S::select(published.present, &published.value, &fallback.value);
            S::set(&mut search.storage.values, unit, &value);
            present = published.present || fallback.present;
            spins += 1u32;
        }
        if !present {
            search.storage.missing[0].store(unit as u32);
        }
    }
}

/// Folds the block if it is complete, and all kept totals if it is known what precedes them.
#[cube]
fn fold_block<A: Numeric, M: Monoid<A>>(
    search: &mut Lookback<M::State>,
    state: &[Atomic<u32>],
    aggregate: &M::State,
    tiles: usize,
    is_own: bool,
    #[comptime] op: M::Config,
) {
    let config = comptime!(search.config);
    let index = search.row_block + search.block;
    let earlier = select(search.block > 0, index - 1, index);
    let at = prefix_at(earlier, config.block, M::State::words());
    let prefix = peek::<M::State>(state, at, 1usize, HALVES, search.words.epoch_bits);
    let missing = search.storage.missing[0].load();
    let mut found = INCOMPLETE.runtime();
    if missing != NONE {
        search.storage.found[1] = missing;
    } else {
        found = COMPLETE.runtime();
        let total = fold_values::<A, M>(&search.storage.values, tiles, config, op);
        let mut count = search.count;
        if is_own {
            let with = join::<A, M>(&total, aggregate, op);
            search.own_total = M::State::select(tiles > 0, &with, aggregate);
            search.own_before = M::State::copy(&total);
        } else {
            M::State::set(&mut search.storage.totals, count as usize, &total);
            count += 1u32;
        }
        let is_base = search.block == search.base_block;
        if is_base || prefix.present {
            found = KNOWN.runtime();
            let mut running = M::State::select(is_base, &search.base, &prefix.value);
            while count > 0u32 {
                count -= 1u32;
                let total = M::State::get(&search.storage.totals, count as usize);
                running = join::<A, M>(&running, &total, op);
            }
            search.base = running;
        }
    }
    search.storage.found[0] = found;
}

/// Folds the values of the first tiles of a block, from left to right.
#[cube]
fn fold_values<A: Numeric, M: Monoid<A>>(
    values: &<M::State as State>::Shared,
    tiles: usize,
    #[comptime] config: LookbackConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let last = comptime!(config.block - 1);
    let mut total = M::State::get(values, 0usize);
    let mut at = 1usize;
    while at < tiles {
        let mut read = Sequence::<M::State>::new();
        #[unroll]
        for i in 0..AT_ONCE {
            read.push(M::State::get(values, min(at + i, last)));
        }
        #[unroll]
        for i in 0..AT_ONCE {
            let with = join::<A, M>(&total, &read[i], op);
            total = M::State::select(at + i < tiles, &with, &total);
        }
        at += AT_ONCE;
    }
    total
}
