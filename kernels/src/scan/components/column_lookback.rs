//! Decoupled lookback along columns: a unit learns on its own what precedes its column of a tile.
//!
//! A *strip* is as many columns as a cube has side by side. Its tiles follow one another along the axis and form
//! blocks. Every tile publishes its aggregate, the total of its rows, for each column. The last tile of a block also
//! publishes the prefix, the total of all rows up to and with this tile.
//!
//! ```text
//! tiles        … │ a a a a a a a a │ a a a a a a a a │ a a t      a  aggregate of a tile
//! prefixes                         P                 ·            P  prefix of a block     ·  not published yet
//! before t  =  (((P ⊕ a) ⊕ a) ⊕ … ) ⊕ a
//! ```
//!
//! First the unit walks back over the prefixes of blocks, several at a time, to the nearest published one. Then it
//! walks forward over the aggregates.
//!
//! **Order.** A unit folds the aggregates before a tile from left to right, and so was each prefix folded. The result
//! has the same bits, wherever the walk began.
//!
//! **No waiting.** A unit reads a missing aggregate up to the spin limit. Then it computes the aggregate from the
//! input, publishes it as the tile's *fallback* and goes on. From then on it reads a missing aggregate only once,
//! because where one tile is late others are likely to be. No forward-progress guarantee is needed, no barrier and no
//! plane operation.
//!
//! The words are as in [`tile_state`](super::tile_state), in an order in which neighbouring units read neighbouring
//! words:
//!
//! ```text
//! state   │ ticket │ tile 0 of strip 0 │ tile 1 of strip 0 │ … │ tile 0 of strip 1 │ … │ read beyond the last
//! tile    │ aggregate │ fallback │ prefix, if it is the last of its block │
//! value   │ low halves of all columns of the strip │ their high halves │ … the next word of the states
//! ```

use super::stall::{Publication, Stall, is_stalled};
use super::tile_state::{HALVES, HEADER_WORDS, Peek, TileWords, peek, publish};
use crate::monoid::{Monoid, State, join};
use cubecl::prelude::*;

const BLOCK: usize = 8;

/// The values of a tile, by their place in its words.
const AGGREGATE: usize = 0;
/// What other units have computed in place of the aggregate.
const FALLBACK: usize = 1;
/// Only of the last tile of a block.
const PREFIX: usize = 2;
/// How many values a tile has.
const VALUES: usize = 3;

/// Sealed words that a unit loads before it uses the first: one latency for all, and few enough to stay in registers.
const WORDS_AT_ONCE: usize = 8;

/// Prefixes that it loads so.
const PREFIXES_AT_ONCE: usize = 2;

#[derive_cube_comptime]
pub(crate) struct StripConfig {
    pub columns: usize,
    /// Test switch: tiles that publish nothing, so that later tiles must fall back.
    pub stall: Option<Stall>,
}

/// The words of a launch of `strips` strips, each of `tiles` tiles and `columns` columns, for states of `words` words.
pub(crate) fn launch_words(strips: usize, tiles: usize, columns: usize, words: usize) -> usize {
    (strips * tiles + at_once(words)) * tile_words(columns, words)
}

/// The words of a tile.
pub(crate) fn tile_words(columns: usize, words: usize) -> usize {
    VALUES * HALVES * words * columns
}

/// Aggregates that are read at once.
fn at_once(words: usize) -> usize {
    (WORDS_AT_ONCE / (HALVES * words)).clamp(1, BLOCK)
}

/// A tile of a strip.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct StripTile {
    /// Its number in the launch.
    pub number: usize,
    /// The number of its strip in the launch.
    pub strip: usize,
    /// Its number in the strip.
    pub tile: usize,
}

/// How far a unit has looked back in one column of a strip.
///
/// ```text
/// search.publish_aggregate(aggregate)
/// search.find_prefix()
/// while search.advance() {              // an aggregate is missing:
///     search.publish_fallback(…)        // the unit computes it
/// }
/// search.before()                       // what precedes the tile
/// search.publish_prefix(aggregate)
/// ```
#[derive(CubeType)]
pub(crate) struct StripLookback<S: State> {
    own: StripTile,
    /// The column of the strip.
    column: usize,
    /// What precedes the tile `next`.
    before: S,
    /// The next tile of the strip whose aggregate is needed.
    next: usize,
    /// How often a missing one is read.
    spin_limit: u32,
}

#[cube]
impl<S: State> StripLookback<S> {
    /// Begins with `first` before the column's first row.
    pub fn new(own: StripTile, column: usize, first: &S, words: TileWords) -> StripLookback<S> {
        StripLookback::<S> {
            own,
            column,
            before: S::copy(first),
            next: 0usize.runtime(),
            spin_limit: words.spin_limit,
        }
    }

    /// The first word of a value of a tile of the strip.
    fn value_at(
        &self,
        words: TileWords,
        tile: usize,
        #[comptime] value: usize,
        #[comptime] config: StripConfig,
    ) -> usize {
        let state_words = S::words().comptime();
        let each = comptime!(HALVES * config.columns * state_words);
        let tile = self.own.strip * words.per_row + tile;
        tile * comptime!(VALUES * each) + comptime!(HEADER_WORDS + value * each) + self.column
    }

    fn publish(
        &self,
        state: &[Atomic<u32>],
        words: TileWords,
        tile: usize,
        total: &S,
        #[comptime] value: usize,
        #[comptime] config: StripConfig,
    ) {
        let at = self.value_at(words, tile, value, config);
        publish::<S>(state, at, config.columns, total, words.epoch_bits);
    }

    fn peek(
        &self,
        state: &[Atomic<u32>],
        words: TileWords,
        tile: usize,
        #[comptime] value: usize,
        #[comptime] config: StripConfig,
    ) -> Peek<S> {
        let at = self.value_at(words, tile, value, config);
        peek::<S>(state, at, config.columns, words.epoch_bits)
    }

    pub fn publish_aggregate(
        &self,
        state: &[Atomic<u32>],
        words: TileWords,
        aggregate: &S,
        #[comptime] config: StripConfig,
    ) {
        if !is_stalled(self.own.number, Publication::Aggregate, config.stall) {
            self.publish(state, words, self.own.tile, aggregate, AGGREGATE, config);
        }
    }

    /// Publishes what the unit has computed in place of the missing aggregate, and passes that tile.
    pub fn publish_fallback<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        state: &[Atomic<u32>],
        words: TileWords,
        aggregate: &S,
        #[comptime] config: StripConfig,
        #[comptime] op: M::Config,
    ) {
        self.publish(state, words, self.next, aggregate, FALLBACK, config);
        self.spin_limit = 1u32;
        self.take::<A, M>(true.runtime(), aggregate, op);
    }

    /// Publishes the prefix of the tile's block, if the tile is its last.
    pub fn publish_prefix<A: Numeric, M: Monoid<A, State = S>>(
        &self,
        state: &[Atomic<u32>],
        words: TileWords,
        aggregate: &S,
        #[comptime] config: StripConfig,
        #[comptime] op: M::Config,
    ) {
        let is_last = self.own.tile % BLOCK == BLOCK - 1;
        if is_last && !is_stalled(self.own.number, Publication::Prefix, config.stall) {
            let prefix = join::<A, M>(&self.before, aggregate, op);
            self.publish(state, words, self.own.tile, &prefix, PREFIX, config);
        }
    }

    /// Walks back to the nearest prefix.
    pub fn find_prefix(
        &mut self,
        state: &[Atomic<u32>],
        words: TileWords,
        #[comptime] config: StripConfig,
    ) {
        // The search is for what precedes this block.
        let mut block = self.own.tile / BLOCK;
        let mut found = false.runtime();
        while !found && block > 0 {
            let mut prefixes = Sequence::<Peek<S>>::new();
            #[unroll]
            for i in 0..PREFIXES_AT_ONCE {
                let last = select(block > i, block - i, 1usize) * BLOCK - 1;
                prefixes.push(self.peek(state, words, last, PREFIX, config));
            }
            let from = usize::copy(&block);
            #[unroll]
            for i in 0..PREFIXES_AT_ONCE {
                let prefix = &prefixes[i];
                let takes = !found && from > i && prefix.present;
                self.before = S::select(takes, &prefix.value, &self.before);
                block = select(takes, from - i, block);
                found = found || takes;
            }
            if !found {
                block = select(from > PREFIXES_AT_ONCE, from - PREFIXES_AT_ONCE, 0usize);
            }
        }
        self.next = block * BLOCK;
    }

    /// Walks forward over the aggregates before the tile. Returns true if one is missing.
    pub fn advance<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        state: &[Atomic<u32>],
        words: TileWords,
        #[comptime] config: StripConfig,
        #[comptime] op: M::Config,
    ) -> bool {
        let state_words = S::words().comptime();
        let batch = comptime!(at_once(state_words));
        let mut spins = 0u32;
        while self.next < self.own.tile && spins < self.spin_limit {
            let mut aggregates = Sequence::<Peek<S>>::new();
            #[unroll]
            for i in 0..batch {
                aggregates.push(self.peek(state, words, self.next + i, AGGREGATE, config));
            }
            let from = usize::copy(&self.next);
            #[unroll]
            for i in 0..batch {
                let aggregate = &aggregates[i];
                let is_next = self.next == from + i && from + i < self.own.tile;
                self.take::<A, M>(is_next && aggregate.present, &aggregate.value, op);
            }
            spins += 1u32;
            if self.next == from {
                let fallback = self.peek(state, words, from, FALLBACK, config);
                self.take::<A, M>(fallback.present, &fallback.value, op);
            }
            if self.next != from {
                spins = 0u32;
            }
        }
        self.next < self.own.tile
    }

    /// If the condition holds, passes the next tile, which has that aggregate.
    fn take<A: Numeric, M: Monoid<A, State = S>>(
        &mut self,
        condition: bool,
        aggregate: &S,
        #[comptime] op: M::Config,
    ) {
        let with = join::<A, M>(&self.before, aggregate, op);
        self.before = S::select(condition, &with, &self.before);
        self.next = select(condition, self.next + 1, self.next);
    }

    /// The missing tile of the strip.
    pub fn missing(&self) -> usize {
        usize::copy(&self.next)
    }

    pub fn before(&self) -> S {
        S::copy(&self.before)
    }
}
