//! Decoupled lookback with fallback: how the tiles of one launch learn what precedes them.
//!
//! Merrill & Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016), and Smith, Levien & Owens, "Decoupled
//! Fallback" (2025), with two changes that this crate needs: sums of full width through 32-bit atomics, and floats whose bits do not
//! depend on the schedule.
//!
//! Every tile publishes its *aggregate*, then looks back for the nearest tile that has published its *prefix* (the total
//! of the row up to and with it), folds the aggregates between the two, and publishes its own prefix.
//!
//! ```text
//! tile        …  t−5   t−4   t−3   t−2   t−1    t
//! published      P     P     A     A     A      ?
//!                      └──⊕──┴──⊕──┴──⊕──┴──→ exclusive prefix of t
//! ```
//!
//! **Order.** Aggregates are folded left to right, one after the other. A prefix is therefore the same left fold over the
//! same aggregates wherever a lookback began, bit for bit, whatever the schedule.
//!
//! **No waiting.** A word is polled a bounded number of times. If an aggregate is still missing, the whole cube computes it from the input
//! — by the code its owner runs, hence to the same bits — publishes it and goes on. No forward-progress guarantee is needed.
//!
//! What tiles tell each other, and in which words: [`chain`](super::chain).

use super::chain::{Chain, ChainConfig, aggregate_at, peek, prefix_at, publish};
use super::mute::{Publication, is_mute};
use crate::operator::combine;
use cubecl::prelude::*;

/// The next tile of the launch, the same for every unit of the cube. The last of `cubes` tickets resets the counter.
#[cube]
pub(crate) fn take_ticket(state: &[Atomic<u32>], cubes: u32) -> usize {
    let mut ticket = Shared::<[u32]>::new_slice(1usize);
    if UNIT_POS == 0 {
        let mine = state[0].fetch_add(1u32);
        if mine + 1 == cubes {
            state[0].store(0u32);
        }
        ticket[0] = mine;
    }
    workgroup_uniform_load(&ticket[0]) as usize
}

const MISSING: u32 = 0;
const AGGREGATE: u32 = 1;
const PREFIX: u32 = 2;

/// One tile's walk along the chain.
///
/// ```text
/// walk.announce(aggregate)          publish it
/// walk.begin()                      find where to start folding
/// while walk.advance() {            fold until an aggregate is missing …
///     walk.supply(…)                … which the cube computes itself
/// }
/// walk.finish(aggregate)            publish the prefix, return the exclusive one
/// ```
///
/// All methods are called by the whole cube.
#[derive(CubeType)]
pub(crate) struct Walk<A: Numeric> {
    tile: usize,
    row_first: usize,
    /// The next tile to fold; the same in every unit.
    next: usize,
    values: Shared<[A]>,
    kinds: Shared<[u32]>,
    /// The fold so far.
    running: Shared<[A]>,
    /// What unit 0 decided, for all.
    decision: Shared<[u32]>,
}

#[cube]
impl<A: Numeric> Walk<A> {
    pub fn new(tile: usize, row_first: usize, #[comptime] config: ChainConfig) -> Walk<A> {
        Walk::<A> {
            tile,
            row_first,
            next: row_first,
            values: Shared::new_slice(config.window),
            kinds: Shared::new_slice(config.window),
            running: Shared::new_slice(1usize),
            decision: Shared::new_slice(1usize),
        }
    }

    /// Publishes the tile's aggregate.
    pub fn announce(
        &self,
        state: &[Atomic<u32>],
        chain: Chain,
        aggregate: A,
        #[comptime] config: ChainConfig,
    ) {
        if UNIT_POS == 0 && !is_mute(self.tile, Publication::Aggregate, config.mute) {
            publish::<A>(
                state,
                aggregate_at(self.tile, config),
                aggregate,
                chain.tag,
                config,
            );
        }
    }

    /// Finds the nearest published prefix and, where no aggregate between it and the tile is missing, folds them all.
    pub fn begin(
        &mut self,
        state: &[Atomic<u32>],
        chain: Chain,
        identity: A,
        #[comptime] config: ChainConfig,
    ) {
        let mut end = self.tile;
        let mut searching = end > self.row_first;
        if UNIT_POS == 0 {
            self.running[0] = identity;
        }
        while searching {
            let count = min(end - self.row_first, config.window);
            if (UNIT_POS as usize) < config.window {
                let mut kind = MISSING.runtime();
                if (UNIT_POS as usize) < count {
                    let tile = end - 1 - UNIT_POS as usize;
                    let mut polls = 0u32;
                    while kind == MISSING && polls < chain.polls {
                        let prefix =
                            peek::<A>(state, prefix_at(tile, chain, config), chain.tag, config);
                        if prefix.present {
                            kind = PREFIX.runtime();
                            self.values[UNIT_POS as usize] = prefix.value;
                        } else {
                            let own =
                                peek::<A>(state, aggregate_at(tile, config), chain.tag, config);
                            if own.present {
                                kind = AGGREGATE.runtime();
                                self.values[UNIT_POS as usize] = own.value;
                            }
                        }
                        polls += 1;
                    }
                }
                self.kinds[UNIT_POS as usize] = kind;
            }
            sync_cube();
            if UNIT_POS == 0 {
                self.decision[0] = self.fold_window(end == self.tile, count, config);
            }
            let found = workgroup_uniform_load(&self.decision[0]) as usize;
            if found < config.window {
                self.next = end - found;
                searching = false.runtime();
            } else if found > config.window {
                self.next = self.tile;
                searching = false.runtime();
            } else {
                end -= count;
                searching = end > self.row_first;
            }
        }
    }

    /// Unit 0 looks for the nearest prefix in the window: returns its distance, or the size of the window where there is none, or
    /// one more where everything from it on was folded at once, which only the window next to the tile allows.
    fn fold_window(&mut self, nearest: bool, count: usize, #[comptime] config: ChainConfig) -> u32 {
        let mut distance = 0usize;
        let mut complete = nearest;
        while distance < count && self.kinds[distance] != PREFIX {
            if self.kinds[distance] == MISSING {
                complete = false.runtime();
            }
            distance += 1;
        }
        let mut found = comptime!(config.window as u32).runtime();
        if distance < count {
            found = distance as u32;
            let mut running = self.values[distance];
            if complete {
                found = comptime!(config.window as u32 + 1).runtime();
                for back in 0..distance {
                    running = combine::<A>(running, self.values[distance - 1 - back], config.op);
                }
            }
            self.running[0] = running;
        }
        found
    }

    /// Folds aggregates up to the tile. True if one is missing: [`missing`](Self::missing) must then be supplied.
    pub fn advance(
        &mut self,
        state: &[Atomic<u32>],
        chain: Chain,
        #[comptime] config: ChainConfig,
    ) -> bool {
        let mut missing = false.runtime();
        while !missing && self.next < self.tile {
            let count = min(self.tile - self.next, config.window);
            if (UNIT_POS as usize) < config.window {
                let mut present = false.runtime();
                if (UNIT_POS as usize) < count {
                    let at = aggregate_at(self.next + UNIT_POS as usize, config);
                    let mut polls = 0u32;
                    while !present && polls < chain.polls {
                        let own = peek::<A>(state, at, chain.tag, config);
                        present = own.present;
                        self.values[UNIT_POS as usize] = own.value;
                        polls += 1;
                    }
                }
                self.kinds[UNIT_POS as usize] = select(present, AGGREGATE, MISSING);
            }
            sync_cube();
            if UNIT_POS == 0 {
                let mut folded = 0usize;
                let mut running = self.running[0];
                while folded < count && self.kinds[folded] == AGGREGATE {
                    running = combine::<A>(running, self.values[folded], config.op);
                    folded += 1;
                }
                self.running[0] = running;
                self.decision[0] = folded as u32;
            }
            let folded = workgroup_uniform_load(&self.decision[0]) as usize;
            self.next += folded;
            missing = folded < count;
        }
        missing
    }

    /// The tile whose aggregate is missing.
    pub fn missing(&self) -> usize {
        self.next
    }

    /// Publishes and folds the aggregate of the missing tile.
    pub fn supply(
        &mut self,
        state: &[Atomic<u32>],
        chain: Chain,
        aggregate: A,
        #[comptime] config: ChainConfig,
    ) {
        if UNIT_POS == 0 {
            publish::<A>(
                state,
                aggregate_at(self.next, config),
                aggregate,
                chain.tag,
                config,
            );
            self.running[0] = combine::<A>(self.running[0], aggregate, config.op);
        }
        self.next += 1;
    }

    /// Publishes the tile's prefix and returns the exclusive one.
    pub fn finish(
        &self,
        state: &[Atomic<u32>],
        chain: Chain,
        aggregate: A,
        #[comptime] config: ChainConfig,
    ) -> A {
        if UNIT_POS == 0 && !is_mute(self.tile, Publication::Prefix, config.mute) {
            let prefix = combine::<A>(self.running[0], aggregate, config.op);
            publish::<A>(
                state,
                prefix_at(self.tile, chain, config),
                prefix,
                chain.tag,
                config,
            );
        }
        sync_cube();
        self.running[0]
    }
}
