//! The lookback of one plane: a unit for each tile of a block, everything in registers.
//!
//! Each round issues all its loads, of the aggregates and of the prefix before them, before it waits for any: one trip
//! to memory per round. Ballots steer the loop. They are the same in every unit, so the plane never diverges. Each unit
//! keeps the total of one block, unit 0 of the nearest.
//!
//! Needs plane operations in control flow that is not uniform across the cube. One unit of the plane may have published
//! something on its own just before. Where the plane's size is known, as through CUDA and HIP, the plane synchronises
//! before its first ballot.

use super::{Lookback, NONE};
use crate::monoid::{Monoid, State, join};
use crate::scan::components::plane_scan::{lane_of_unit, reconverge};
use crate::scan::components::tile_state::{HALVES, aggregate_at, fallback_at, peek, prefix_at};
use cubecl::prelude::*;

/// Searches until it is known what precedes the tile's own block, or a tile is missing.
#[cube]
pub(super) fn seek<A: Numeric, M: Monoid<A>>(
    search: &mut Lookback<M::State>,
    state: &[Atomic<u32>],
    aggregate: &M::State,
    #[comptime] op: M::Config,
) {
    let config = comptime!(search.config);
    reconverge(config.meets);
    let lane = lane_of_unit(config.plane_size);
    let mut spins = 0u32;
    let mut searching = true.runtime();
    while searching {
        let is_own = search.block == search.own;
        let tiles = select(is_own, search.within, config.block);
        let has_tile = (lane as usize) < tiles;
        let index = search.row_block + search.block;
        let place = select(has_tile, lane as usize, 0usize);
        let at = aggregate_at(index, place, config.block, M::State::words());
        let published = peek::<M::State>(state, at, config.block, HALVES, search.words.epoch_bits);
        let at = fallback_at(index, place, config.block, M::State::words());
        let fallback = peek::<M::State>(state, at, config.block, HALVES, search.words.epoch_bits);
        let earlier = select(search.block > 0, index - 1, index);
        let at = prefix_at(earlier, config.block, M::State::words());
        let prefix = peek::<M::State>(state, at, 1usize, HALVES, search.words.epoch_bits);
        let lacks = has_tile && !published.present && !fallback.present;
        let holes = plane_ballot(lacks).extract(0usize);
        if holes != 0u32 {
            spins += 1u32;
            if spins >= search.words.spin_limit {
                search.missing = search.block * config.block + holes.trailing_zeros() as usize;
                searching = false.runtime();
            }
        } else {
            let value = M::State::select(published.present, &published.value, &fallback.value);
            let own = is_own && lane as usize == search.within;
            let value = M::State::select(own, aggregate, &value);
            let scanned = M::plane_inclusive(&value, config.plane_size, op);
            if is_own {
                let last = select(search.within > 0, search.within as u32 - 1u32, 0u32);
                search.own_before = M::State::shuffle(&scanned, last);
                search.own_total = M::State::shuffle(&scanned, search.within as u32);
            } else {
                let total = M::State::shuffle(&scanned, comptime!(config.block as u32 - 1));
                let mine = lane == search.count;
                search.totals = M::State::select(mine, &total, &search.totals);
                search.count += 1u32;
            }
            let known = plane_ballot(prefix.present).extract(0usize);
            let is_base = search.block == search.base_block;
            if is_base || known != 0u32 {
                let published = M::State::shuffle(&prefix.value, known.trailing_zeros());
                let mut running = M::State::select(is_base, &search.base, &published);
                while search.count > 0u32 {
                    search.count -= 1u32;
                    let total = M::State::shuffle(&search.totals, search.count);
                    running = join::<A, M>(&running, &total, op);
                }
                search.base_block = search.goal;
                search.base = running;
                if search.goal == search.own {
                    search.missing = NONE as usize;
                    searching = false.runtime();
                } else {
                    search.goal = min(search.own, search.goal + config.block);
                    search.block = search.goal - 1;
                }
            } else {
                if search.count == comptime!(config.block as u32) {
                    search.goal = search.block;
                    search.count = 0u32;
                }
                search.block -= 1;
            }
            spins = 0u32;
        }
    }
}
