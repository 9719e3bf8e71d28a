//! Strips of columns: their blocks, and the words in which their tiles tell each other what they found.
//!
//! The words are as in [`tile_state`](crate::scan::components::tile_state), in an order in which neighbouring units read
//! neighbouring words:
//!
//! ```text
//! state   │ ticket │ tile 0 of strip 0 │ tile 1 of strip 0 │ … │ tile 0 of strip 1 │ … │ read beyond the last
//! tile    │ aggregate │ fallback │ prefix, if it is the last of its block │
//! value   │ low halves of all columns of the strip │ their high halves │ … the next word of the states
//! ```
//!
//! Aggregates that count the elements of a tile fit a half, so they and their fallbacks have low halves only.

use crate::scan::LaunchOptions;
use crate::scan::components::stall::Stall;
use crate::scan::components::tile_state::HALVES;
use cubecl::prelude::*;

/// Tiles of a block. On an H200 (2026-11-27, NVRTC 13.0) the sum of f32 [2^16, 128], one strip, takes 38 µs in long
/// blocks and 62 in short ones; [2^14, 1024], eight strips, 60 and 47 µs; [4096, 4096], 32 strips, 61 and 43 µs.
const LONG_BLOCK: usize = 32;
const SHORT_BLOCK: usize = 8;

/// The most strips of a launch with long blocks.
const STRIPS_IN_LONG_BLOCKS: usize = 4;

/// The values of a tile, by their place in its words.
pub(super) const AGGREGATE: usize = 0;
/// What other units have computed in place of the aggregate.
pub(super) const FALLBACK: usize = 1;
/// Only of the last tile of a block.
pub(super) const PREFIX: usize = 2;
/// How many values a tile has.
pub(super) const VALUES: usize = 3;

/// Sealed words that a unit loads before it uses the first: one latency for all, and few enough to stay in registers.
/// In long blocks, and in short ones.
const WORDS_AT_ONCE: [usize; 2] = [16, 8];

#[derive_cube_comptime]
pub(crate) struct StripConfig {
    pub columns: usize,
    /// Tiles of a block.
    pub(super) block: usize,
    /// Aggregates are below 2^16.
    pub(super) counts: bool,
    /// Test switch: tiles that publish nothing, so that later tiles must fall back.
    pub stall: Option<Stall>,
}

impl StripConfig {
    /// For a launch of `strips` strips of elements of `size` bytes. Long blocks of 64-bit elements take more registers
    /// than there are, compiled for sm_80 and sm_90.
    pub fn new(columns: usize, strips: usize, size: usize, launch: &LaunchOptions) -> Self {
        let serves = launch.batch_invariant || strips <= STRIPS_IN_LONG_BLOCKS;
        let is_long = serves && size < size_of::<u64>();
        Self {
            columns,
            block: if is_long { LONG_BLOCK } else { SHORT_BLOCK },
            counts: false,
            stall: launch.stall,
        }
    }

    /// For tiles that count their elements, at most `u16::MAX`, in 32-bit states.
    pub fn of_counts(columns: usize, strips: usize, launch: &LaunchOptions) -> Self {
        Self {
            counts: true,
            ..Self::new(columns, strips, size_of::<u32>(), launch)
        }
    }

    /// Blocks are folded apart from what precedes them. Otherwise a unit folds all aggregates from a prefix on.
    pub(crate) fn folds_blocks(&self) -> bool {
        self.block == LONG_BLOCK
    }

    /// Aggregates that are read at once, for states of `words` words.
    pub(super) fn at_once(&self, words: usize) -> usize {
        let [long, short] = WORDS_AT_ONCE;
        let all = if self.folds_blocks() { long } else { short };
        (all / self.sealed(AGGREGATE, words)).max(1)
    }

    /// The halves of a value that are published: one if it is known to be below 2^16.
    pub(super) fn halves(&self, value: usize) -> usize {
        if self.counts && value != PREFIX {
            1
        } else {
            HALVES
        }
    }

    /// The sealed words of a value of one column.
    fn sealed(&self, value: usize, words: usize) -> usize {
        self.halves(value) * words
    }

    /// Where a value begins in the words of a tile.
    pub(super) fn value_at(&self, value: usize, words: usize) -> usize {
        let before = (0..value).map(|earlier| self.sealed(earlier, words));
        before.sum::<usize>() * self.columns
    }

    /// The words of a tile.
    pub fn tile_words(&self, words: usize) -> usize {
        self.value_at(VALUES, words)
    }

    /// The words of a launch of `strips` strips, each of `tiles` tiles. Those that are read at once may lie after the
    /// last tile, and are not used then.
    pub fn launch_words(&self, [strips, tiles]: [usize; 2], words: usize) -> usize {
        (strips * tiles + self.at_once(words)) * self.tile_words(words)
    }
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
