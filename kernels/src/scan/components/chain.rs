//! The words through which the tiles of one launch communicate.
//!
//! ```text
//! state   │ ticket │ aggregate of tile 0, 1, 2, … │ prefix of tile 0, 1, 2, … │
//!
//! word    31            16 15             0
//!         ┌───────────────┬───────────────┐
//!         │     epoch     │ payload, 16 b │      two words for 32-bit values, four for 64-bit ones
//!         └───────────────┴───────────────┘
//! ```
//!
//! The epoch is the number of the launch. A value counts once all its words carry it. All who publish a value publish the same
//! bits, so a set of words can never mix two values and needs no fence; and what an earlier launch left behind does not
//! count, so that nothing is cleared between launches.
//!
//! Needs 32-bit atomic load and store.

use super::mute::Mute;
use crate::operator::ScanOp;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The words before the first value: the ticket counter, on a cache line of its own.
pub(crate) const HEADER_WORDS: usize = 32;

/// Predecessors examined at once, one by each of the first units. One load of the window answers most lookbacks; with
/// 32, the words a tile reads are about 1 % of the bytes of a 4,096-element tile.
const WINDOW: usize = 32;

const PAYLOAD_BITS: u32 = 16;
const PAYLOAD_MASK: u32 = 0xffff;

/// The comptime facts of a chain of tiles.
#[derive_cube_comptime]
pub struct ChainConfig {
    /// What is accumulated.
    pub op: ScanOp,
    /// Words per value.
    pub words: usize,
    /// Predecessors examined at once.
    pub window: usize,
    /// Test switch: tiles that publish nothing, so that their successors must fall back.
    pub mute: Option<Mute>,
}

impl ChainConfig {
    /// A chain of tiles of `units` units each.
    pub(crate) fn new(op: ScanOp, accumulator: ElemType, units: usize, mute: Option<Mute>) -> Self {
        Self {
            op,
            words: accumulator.size() * 8 / PAYLOAD_BITS as usize,
            window: units.min(WINDOW),
            mute,
        }
    }

    /// The words of a launch of so many tiles: an aggregate and a prefix each.
    pub(crate) fn state_words(&self, tiles: usize) -> usize {
        2 * tiles * self.words
    }
}

/// The run-time facts of a chain of tiles.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct Chain {
    /// Tiles in the launch.
    pub tiles: usize,
    /// The epoch, in the high half of a word.
    pub tag: u32,
    /// How often a word is read before its tile is given up on.
    pub polls: u32,
}

/// Where the words of a tile's aggregate begin.
#[cube]
pub(super) fn aggregate_at(tile: usize, #[comptime] config: ChainConfig) -> usize {
    HEADER_WORDS + tile * config.words
}

/// Where the words of a tile's prefix begin.
#[cube]
pub(super) fn prefix_at(tile: usize, chain: Chain, #[comptime] config: ChainConfig) -> usize {
    HEADER_WORDS + (chain.tiles + tile) * config.words
}

/// Writes the words of a value.
#[cube]
pub(super) fn publish<A: Numeric>(
    state: &[Atomic<u32>],
    at: usize,
    value: A,
    tag: u32,
    #[comptime] config: ChainConfig,
) {
    if comptime!(config.words == 2) {
        let bits = u32::reinterpret(value);
        state[at].store(tag | (bits & PAYLOAD_MASK));
        state[at + 1].store(tag | (bits >> PAYLOAD_BITS));
    } else {
        let bits = u64::reinterpret(value);
        #[unroll]
        for word in 0..config.words {
            let shift = comptime!(word as u64 * PAYLOAD_BITS as u64);
            let payload = u32::cast_from((bits >> shift) & 0xffffu64);
            state[at + word].store(tag | payload);
        }
    }
}

/// A value read from its words, and whether all of them were there.
#[derive(CubeType)]
pub(crate) struct Peek<A: Numeric> {
    pub value: A,
    pub present: bool,
}

/// Reads the words of a value once.
#[cube]
pub(super) fn peek<A: Numeric>(
    state: &[Atomic<u32>],
    at: usize,
    tag: u32,
    #[comptime] config: ChainConfig,
) -> Peek<A> {
    if comptime!(config.words == 2) {
        let low = state[at].load();
        let high = state[at + 1].load();
        let present = ((low ^ tag) | (high ^ tag)) <= PAYLOAD_MASK;
        let bits = (low & PAYLOAD_MASK) | (high << PAYLOAD_BITS);
        Peek::<A> {
            value: A::reinterpret(bits),
            present,
        }
    } else {
        let mut bits = 0u64;
        let mut strangers = 0u32;
        #[unroll]
        for word in 0..config.words {
            let shift = comptime!(word as u64 * PAYLOAD_BITS as u64);
            let read = state[at + word].load();
            strangers |= read ^ tag;
            bits |= u64::cast_from(read & PAYLOAD_MASK) << shift;
        }
        Peek::<A> {
            value: A::reinterpret(bits),
            present: strangers <= PAYLOAD_MASK,
        }
    }
}
