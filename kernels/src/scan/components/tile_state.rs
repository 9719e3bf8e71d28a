//! The words through which the tiles of one launch communicate.
//!
//! ```text
//! state   │ ticket │ block 0 │ block 1 │ …
//! block   │ aggregates of its tiles │ fallbacks of its tiles │ prefix │   each: all low halves, then all high halves
//!
//! word    31            16 15             0
//!         ┌───────────────┬───────────────┐
//!         │     epoch     │ half, 16 bits │      two words for a scalar of 32 bits, four for one of 64
//!         └───────────────┴───────────────┘
//! ```
//!
//! The epoch is the number of the launch. A value counts once all its words carry this epoch. So a value needs no
//! fence. Words of earlier launches do not count, so nothing is cleared between launches.
//!
//! Only the tile itself writes its aggregate and its prefix. What other tiles compute in its place goes into separate
//! words, the fallback. A compiler may give the two pieces of code different bits, and no reader may join halves of two
//! values. All writers of one fallback run the same code on the same input.
//!
//! The units of a plane that reads the words of a block read one cache line at a time, at fixed distances from one
//! address.
//!
//! Needs 32-bit atomic load and store. The arithmetic runs on the host as well, where a model checker tries all
//! schedules.

#![expect(
    missing_docs,
    reason = "the `cube` macro generates modules without documentation"
)]

use super::stall::Stall;
use crate::monoid::State;
use cubecl::prelude::*;

/// The words before the first value: the ticket counter, on a cache line of its own.
pub const HEADER_WORDS: usize = 32;

/// The most tiles of a block, one for each unit that looks back. One load of a block answers most lookbacks. With 32, a
/// tile reads words of about 2 % of the bytes of a tile of 4,096 elements.
pub const MAX_BLOCK: usize = 32;

/// The bits of a value that one word carries.
pub const HALF_BITS: u32 = 16;
const HALF_MASK: u32 = 0xffff;

#[derive_cube_comptime]
#[derive(Default)]
pub struct LookbackConfig {
    /// Tiles of a block, one for each unit that looks back.
    pub block: usize,
    /// One plane looks back in registers; else the cube does in shared memory.
    pub in_registers: bool,
    /// Units of a plane, or 0 if they are not known.
    pub plane_size: usize,
    /// Cubes start in the order of their positions, as far as is known; else they take tickets.
    pub cubes_in_order: bool,
    /// The units of a plane can be synchronised before it looks back in registers.
    pub meets: bool,
    /// Test switch: tiles that publish nothing, so that later tiles must fall back.
    pub stall: Option<Stall>,
}

impl LookbackConfig {
    /// The words of `[rows, tiles of a row]`, for states of `words` words.
    pub(crate) fn words(&self, [rows, per_row]: [usize; 2], words: usize) -> usize {
        launch_words(rows * per_row.div_ceil(self.block), self.block, words)
    }
}

#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub struct TileWords {
    pub tiles: usize,
    /// Tiles of a row.
    pub per_row: usize,
    /// The epoch, in the high half of a word.
    pub epoch_bits: u32,
    /// How often a word is read before its tile is given up on.
    pub spin_limit: u32,
}

/// The epoch of the first launch in cleared words, which carry 0.
pub const FIRST_EPOCH: u32 = 1;

/// The last epoch that fits the high half of a word.
pub const LAST_EPOCH: u32 = u32::MAX >> HALF_BITS;

/// The epoch of the next launch. `None` if the words must be cleared first.
pub fn epoch_after(epoch: u32) -> Option<u32> {
    (epoch < LAST_EPOCH).then_some(epoch + 1)
}

/// The epoch bits of the words of a launch.
pub fn epoch_bits_of(epoch: u32) -> u32 {
    epoch << HALF_BITS
}

/// Sealed words for each 32-bit word of a state.
pub const HALVES: usize = 32 / HALF_BITS as usize;

/// The words of a block of `block` tiles, for states of `words` words: whole cache lines.
pub fn block_words(block: usize, words: usize) -> usize {
    (HALVES * words * (2 * block + 1)).next_multiple_of(HEADER_WORDS)
}

/// The first word of the aggregate of a block's tile `lane`. The others follow at distances of `block`.
#[cube]
pub fn aggregate_at(
    index: usize,
    lane: usize,
    #[comptime] block: usize,
    #[comptime] words: usize,
) -> usize {
    HEADER_WORDS + index * comptime!(block_words(block, words)) + lane
}

/// The first word of the fallback of a block's tile `lane`. The others follow at distances of `block`.
#[cube]
pub fn fallback_at(
    index: usize,
    lane: usize,
    #[comptime] block: usize,
    #[comptime] words: usize,
) -> usize {
    aggregate_at(index, lane, block, words) + comptime!(HALVES * words * block)
}

/// The first word of a block's prefix, the total of its row up to and including the block. The others follow it.
#[cube]
pub fn prefix_at(index: usize, #[comptime] block: usize, #[comptime] words: usize) -> usize {
    aggregate_at(index, 0, block, words) + comptime!(2 * HALVES * words * block)
}

/// The words of a launch after the header, for states of `words` words.
pub fn launch_words(blocks: usize, block: usize, words: usize) -> usize {
    blocks * block_words(block, words)
}

/// A half under an epoch.
#[cube]
pub fn seal(half: u32, epoch_bits: u32) -> u32 {
    epoch_bits | half
}

/// At most `HALF_MASK` if the word carries the epoch. For a value, the results of all its words are or-ed.
#[cube]
pub fn foreign(word: u32, epoch_bits: u32) -> u32 {
    word ^ epoch_bits
}

/// Whether all words carry the epoch, over which `foreign` was or-ed.
#[cube]
pub fn is_sealed(foreign: u32) -> bool {
    foreign <= HALF_MASK
}

/// The half that a word carries.
#[cube]
pub fn half_of(word: u32) -> u32 {
    word & HALF_MASK
}

/// The bits whose halves two words carry.
#[cube]
pub fn joined(low: u32, high: u32) -> u32 {
    half_of(low) | (high << comptime!(HALF_BITS))
}

/// Publishes a value. One of a single half is below 2^16, the others have [`HALVES`] a word.
#[cube]
pub(crate) fn publish<S: State>(
    state: &[Atomic<u32>],
    at: usize,
    #[comptime] apart: usize,
    #[comptime] halves: usize,
    value: &S,
    epoch_bits: u32,
) {
    let bits = S::to_words(value);
    let count = S::words().comptime();
    #[unroll]
    for word in 0..count {
        let low = at + comptime!(halves * word * apart);
        state[low].store(seal(half_of(bits[word]), epoch_bits));
        if comptime!(halves == HALVES) {
            state[low + apart].store(seal(bits[word] >> comptime!(HALF_BITS), epoch_bits));
        }
    }
}

/// A value read from its words, and whether all of them were published.
#[derive(CubeType)]
pub(crate) struct Peek<S: State> {
    pub value: S,
    pub present: bool,
}

/// Reads the words of a value once, see [`publish`].
#[cube]
pub(crate) fn peek<S: State>(
    state: &[Atomic<u32>],
    at: usize,
    #[comptime] apart: usize,
    #[comptime] halves: usize,
    epoch_bits: u32,
) -> Peek<S> {
    let mut bits = Sequence::<u32>::new();
    let mut strangers = 0u32;
    let count = S::words().comptime();
    #[unroll]
    for word in 0..count {
        let at = at + comptime!(halves * word * apart);
        let low = state[at].load();
        strangers |= foreign(low, epoch_bits);
        if comptime!(halves == HALVES) {
            let high = state[at + apart].load();
            strangers |= foreign(high, epoch_bits);
            bits.push(joined(low, high));
        } else {
            bits.push(half_of(low));
        }
    }
    Peek::<S> {
        value: S::from_words(&bits, 0usize),
        present: is_sealed(strangers),
    }
}
