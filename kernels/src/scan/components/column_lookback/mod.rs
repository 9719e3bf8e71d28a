//! Decoupled lookback along columns: a unit learns on its own what precedes its column of a tile.
//!
//! A *strip* is as many columns as a cube has side by side. Its tiles follow one another along the axis and form
//! blocks. Every tile publishes its *aggregate*, the total of its rows, for each column. The last tile of a block also
//! publishes the *prefix*, the total of all rows up to and including the block.
//!
//! ```text
//! tiles        … │ a a a a a a a a │ a a a a a a a a │ a a t      a  aggregate of a tile
//! prefixes                         P                 ·            P  prefix of a block     ·  not published yet
//! before t  =              (P  ⊕        total)  ⊕ own             own  the aggregates before t in its own block
//! ```
//!
//! In a launch of few strips, blocks are long. First the unit folds the aggregates before its tile in its own block.
//! Then it reads the prefix of the block before. If that is missing, it goes to the nearest block further back whose
//! prefix is published, and walks forward from there, block by block. At every step it tries again to read the prefix
//! of the block before its own. So prefixes of blocks follow one another at the latency of one word, and a tile that
//! starts long after them need not walk.
//!
//! In a launch of many strips, blocks are short, and each prefix was folded from the left: `before t = ((P ⊕ a) ⊕ a) ⊕ a`.
//! The unit goes to the nearest published prefix at once, and walks forward from there.
//!
//! **Order.** The aggregates of a block are folded from left to right, and so are the blocks. The result has the same
//! bits, wherever the walk began.
//!
//! **No waiting.** A unit reads a missing prefix a limited number of times, then it walks. It reads a missing aggregate
//! up to the spin limit. Then it computes the aggregate from the input, publishes it as the tile's *fallback* and goes
//! on. From then on it reads a missing word only once, because where one tile is late others are likely to be. This
//! needs no forward-progress guarantee, no barrier and no plane operation.

mod strip;

pub(crate) use strip::{StripConfig, StripTile};

use super::stall::{Publication, is_stalled};
use super::tile_state::{HEADER_WORDS, Peek, TileWords, peek, publish};
use crate::monoid::{Monoid, State, join};
use cubecl::prelude::*;
use strip::{AGGREGATE, FALLBACK, PREFIX};

/// Prefixes that a unit loads at once.
const PREFIXES_AT_ONCE: usize = 2;

/// How often a unit reads the prefix of the block before its own until it walks, unless the spin limit is lower.
const POLLS: u32 = 16;

/// How far a unit has looked back in one column of a strip.
///
/// ```text
/// search.publish_aggregate(aggregate)
/// while search.advance() {              // an aggregate is missing:
///     search.publish_fallback(…)        // the unit computes it
/// }
/// search.before()                       // what precedes the tile
/// search.publish_prefix(aggregate)
/// ```
#[derive(CubeType)]
pub(crate) struct StripLookback<S: State> {
    own: StripTile,
    /// The first word of the column in the first tile of the strip.
    first_word: usize,
    /// The block whose aggregates are folded: first the tile's own, then each block from the first whose prefix is not
    /// known up to the tile's own.
    block: usize,
    in_own: bool,
    /// What precedes that block, except while the tile's own block is folded first.
    base: S,
    /// The fold of its aggregates before the tile `next`.
    total: S,
    next: usize,
    own_before: S,
    epoch_bits: u32,
    /// How often a missing word is read.
    spin_limit: u32,
    #[cube(comptime)]
    config: StripConfig,
}

#[cube]
impl<S: State> StripLookback<S> {
    /// Begins with `first` before the column's first row.
    pub fn new(
        own: StripTile,
        column: usize,
        first: &S,
        words: TileWords,
        #[comptime] config: StripConfig,
    ) -> StripLookback<S> {
        let block = own.tile / config.block;
        let state_words = S::words().comptime();
        let tile_words = comptime!(config.tile_words(state_words));
        StripLookback::<S> {
            own,
            first_word: own.strip * words.per_row * tile_words + HEADER_WORDS + column,
            next: block * config.block,
            block,
            in_own: true.runtime(),
            base: S::copy(first),
            total: S::copy(first),
            own_before: S::copy(first),
            epoch_bits: words.epoch_bits,
            spin_limit: words.spin_limit,
            config,
        }
    }

    /// Whether it is known what precedes the tile.
    fn is_known(&self) -> bool {
        let config = comptime!(self.config);
        if comptime!(config.folds_blocks()) {
            !self.in_own && self.block == self.own.tile / config.block
        } else {
            self.next == self.own.tile
        }
    }

    /// The tile at which the fold of the block ends.
    fn end(&self) -> usize {
        let config = comptime!(self.config);
        if comptime!(config.folds_blocks()) {
            min((self.block + 1) * config.block, self.own.tile)
        } else {
            self.own.tile
        }
    }

    /// The first word of a value of a tile of the strip.
    fn value_at(&self, tile: usize, #[comptime] value: usize) -> usize {
        let config = comptime!(self.config);
        let state_words = S::words().comptime();
        let tile_words = comptime!(config.tile_words(state_words));
        self.first_word + tile * tile_words + comptime!(config.value_at(value, state_words))
    }

    fn publish(&self, state: &[Atomic<u32>], tile: usize, total: &S, #[comptime] value: usize) {
        let config = comptime!(self.config);
        let (at, halves) = (self.value_at(tile, value), comptime!(config.halves(value)));
        publish::<S>(state, at, config.columns, halves, total, self.epoch_bits);
    }

    fn peek(&self, state: &[Atomic<u32>], tile: usize, #[comptime] value: usize) -> Peek<S> {
        let config = comptime!(self.config);
        let (at, halves) = (self.value_at(tile, value), comptime!(config.halves(value)));
        peek::<S>(state, at, config.columns, halves, self.epoch_bits)
    }

    pub fn publish_aggregate(&self, state: &[Atomic<u32>], aggregate: &S) {
        let config = comptime!(self.config);
        if !is_stalled(self.own.number, Publication::Aggregate, config.stall) {
            self.publish(state, self.own.tile, aggregate, AGGREGATE);
        }
    }

    /// Publishes what the unit has computed in place of the missing aggregate, and passes that tile.
    pub fn publish_fallback<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        state: &[Atomic<u32>],
        aggregate: &S,
        #[comptime] op: M::Config,
    ) {
        self.publish(state, self.next, aggregate, FALLBACK);
        self.spin_limit = 1u32;
        self.take::<A, M>(true.runtime(), aggregate, op);
    }

    /// Publishes the prefix of the tile's block, if the tile is its last.
    pub fn publish_prefix<A: Numeric, M: Monoid<A, State = S>>(
        &self,
        state: &[Atomic<u32>],
        aggregate: &S,
        #[comptime] op: M::Config,
    ) {
        let config = comptime!(self.config);
        let is_last = self.own.tile % config.block == config.block - 1;
        if is_last && !is_stalled(self.own.number, Publication::Prefix, config.stall) {
            let prefix = if comptime!(config.folds_blocks()) {
                let total = join::<A, M>(&self.own_before, aggregate, op);
                join::<A, M>(&self.base, &total, op)
            } else {
                join::<A, M>(&self.base, aggregate, op)
            };
            self.publish(state, self.own.tile, &prefix, PREFIX);
        }
    }

    /// Looks back until it is known what precedes the tile. Returns true if an aggregate is missing before that.
    pub fn advance<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        state: &[Atomic<u32>],
        #[comptime] op: M::Config,
    ) -> bool {
        let config = comptime!(self.config);
        if comptime!(!config.folds_blocks()) && self.in_own {
            self.in_own = false;
            self.find_prefix(state);
            self.next = self.block * config.block;
        }
        let mut is_missing = false.runtime();
        while !self.is_known() && !is_missing {
            self.fold::<A, M>(state, op);
            if !self.is_known() {
                is_missing = self.next < self.end();
                if !is_missing {
                    self.conclude::<A, M>(state, op);
                }
            }
        }
        is_missing
    }

    /// Folds the aggregates of the block, until one is missing, or until it is known what precedes the tile's own
    /// block.
    fn fold<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        state: &[Atomic<u32>],
        #[comptime] op: M::Config,
    ) {
        let config = comptime!(self.config);
        let state_words = S::words().comptime();
        let batch = comptime!(config.at_once(state_words));
        let mut spins = 0u32;
        let end = self.end();
        while !self.is_known() && self.next < end && spins < self.spin_limit {
            if comptime!(config.folds_blocks()) && !self.in_own {
                let _ = self.read_prefix(state);
            }
            let mut aggregates = Sequence::<Peek<S>>::new();
            #[unroll]
            for i in 0..batch {
                aggregates.push(self.peek(state, self.next + i, AGGREGATE));
            }
            let from = usize::copy(&self.next);
            #[unroll]
            for i in 0..batch {
                let aggregate = &aggregates[i];
                let is_next = self.next == from + i && from + i < end;
                self.take::<A, M>(is_next && aggregate.present, &aggregate.value, op);
            }
            spins += 1u32;
            if self.next == from {
                let fallback = self.peek(state, from, FALLBACK);
                self.take::<A, M>(fallback.present, &fallback.value, op);
            }
            if self.next != from {
                spins = 0u32;
            }
        }
    }

    /// Goes on to the next block.
    fn conclude<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        state: &[Atomic<u32>],
        #[comptime] op: M::Config,
    ) {
        let config = comptime!(self.config);
        if self.in_own {
            self.own_before = S::copy(&self.total);
            self.in_own = false;
            self.find_prefix(state);
        } else {
            self.base = join::<A, M>(&self.base, &self.total, op);
            self.block += 1;
        }
        self.next = self.block * config.block;
    }

    /// Reads the prefix of the block before the tile's own. Returns whether it is published: then the tile's own block
    /// is next.
    fn read_prefix(&mut self, state: &[Atomic<u32>]) -> bool {
        let config = comptime!(self.config);
        let own_block = self.own.tile / config.block;
        let near = self.peek(state, own_block * config.block - 1, PREFIX);
        self.base = S::select(near.present, &near.value, &self.base);
        self.block = select(near.present, own_block, self.block);
        near.present
    }

    /// Waits a while for the prefix of the block before the tile's own, then walks back to the nearest prefix.
    fn find_prefix(&mut self, state: &[Atomic<u32>]) {
        let config = comptime!(self.config);
        let own_block = self.own.tile / config.block;
        let polls = min(self.spin_limit, POLLS);
        let mut spins = 0u32;
        let mut found = own_block == 0;
        while comptime!(config.folds_blocks()) && !found && spins < polls {
            found = self.read_prefix(state);
            spins += 1u32;
        }
        let mut block = usize::copy(&own_block);
        while !found && block > 0 {
            let mut prefixes = Sequence::<Peek<S>>::new();
            #[unroll]
            for i in 0..PREFIXES_AT_ONCE {
                let last = select(block > i, block - i, 1usize) * config.block - 1;
                prefixes.push(self.peek(state, last, PREFIX));
            }
            let from = usize::copy(&block);
            #[unroll]
            for i in 0..PREFIXES_AT_ONCE {
                let prefix = &prefixes[i];
                let takes = !found && from > i && prefix.present;
                self.base = S::select(takes, &prefix.value, &self.base);
                block = select(takes, from - i, block);
                found = found || takes;
            }
            if !found {
                block = select(from > PREFIXES_AT_ONCE, from - PREFIXES_AT_ONCE, 0usize);
            }
        }
        self.block = block;
    }

    /// If the condition holds, passes the next tile, which has that aggregate.
    fn take<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        condition: bool,
        aggregate: &S,
        #[comptime] op: M::Config,
    ) {
        let config = comptime!(self.config);
        if comptime!(config.folds_blocks()) {
            let with = join::<A, M>(&self.total, aggregate, op);
            let with = S::select(self.next % config.block == 0, aggregate, &with);
            self.total = S::select(condition, &with, &self.total);
        } else {
            let with = join::<A, M>(&self.base, aggregate, op);
            self.base = S::select(condition, &with, &self.base);
        }
        self.next = select(condition, self.next + 1, self.next);
    }

    /// The missing tile of the strip.
    pub fn missing(&self) -> usize {
        usize::copy(&self.next)
    }

    /// What precedes the tile.
    pub fn before<A: Numeric, M: Monoid<A, State = S>>(&self, #[comptime] op: M::Config) -> S {
        let config = comptime!(self.config);
        if comptime!(config.folds_blocks()) {
            let before = join::<A, M>(&self.base, &self.own_before, op);
            S::select(self.own.tile % config.block > 0, &before, &self.base)
        } else {
            S::copy(&self.base)
        }
    }
}
