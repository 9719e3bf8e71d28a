//! The facts of a launch in the model, its input, and what each tile must learn.

use crate::memory::Memory;
use std::ops::Range;
use std::sync::Mutex;

/// What a tile accumulates. A state has [`Shape::words`] words, the low word first.
pub type State = u64;

/// The shape of a launch, and how its tiles look back.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub rows: usize,
    /// Tiles in a row.
    pub per_row: usize,
    /// Tiles in a block.
    pub block: usize,
    /// Blocks whose totals a lookback keeps.
    pub max_totals: usize,
    /// Words in a state.
    pub words: usize,
    /// How often a word is read before its tile is given up on.
    pub spin_limit: u32,
    /// Tiles that publish nothing.
    pub stall: &'static [usize],
    /// Tiles that publish their aggregate and no prefix.
    pub late: &'static [usize],
}

impl Shape {
    /// One row of tiles, states of one word, a spin limit of one.
    pub const fn row(tiles: usize, block: usize, max_totals: usize) -> Self {
        Self {
            rows: 1,
            per_row: tiles,
            block,
            max_totals,
            words: 1,
            spin_limit: 1,
            stall: &[],
            late: &[],
        }
    }

    pub fn tiles(&self) -> usize {
        self.rows * self.per_row
    }

    pub fn blocks_of_row(&self) -> usize {
        self.per_row.div_ceil(self.block)
    }

    pub fn blocks(&self) -> usize {
        self.rows * self.blocks_of_row()
    }
}

/// A mistake in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    None,
    /// Words of any epoch count.
    EpochIgnored,
    /// A value counts as soon as its low half does.
    HalfNew,
    /// A tile publishes its aggregate after its prefix. This is not a mistake: no cube relies on the order.
    AggregateLast,
    /// The prefix of a block lacks its last tile.
    PrefixWithoutOwn,
    /// A fallback goes into the words of its tile's aggregate.
    FallbackInOwnersWords,
    /// The nearest of the totals that a lookback keeps is lost.
    TotalLost,
    /// The totals that a lookback keeps are folded from right to left.
    TotalsReversed,
    /// A lookback finds what precedes the goal, and forgets it.
    BaseForgotten,
    /// A cube waits for a word without a spin limit.
    WaitsForWords,
    /// The last ticket does not reset the counter.
    TicketKept,
    /// The next launch has the same epoch.
    EpochKept,
    /// Epochs start again in words that were not cleared.
    NotCleared,
}

/// One launch.
pub struct Launch {
    pub shape: Shape,
    /// The number of the launch. Each launch has different data.
    pub number: u32,
    pub memory: Memory,
    pub mistake: Mistake,
    pub done: Mutex<Vec<usize>>,
}

/// The highest bit of each half. It says who wrote a value, and no sum depends on it. It stands for owners and
/// fallbacks that compute different bits.
const INK: u64 = 0x8000_8000_8000_8000;

/// What precedes the first tile of a row.
pub const IDENTITY: State = 0x1234_5678;

impl Launch {
    /// The total of a tile's input, as its owner computes it.
    pub fn aggregate(&self, tile: usize) -> State {
        self.join(u64::from(self.number), tile as u64)
    }

    /// The same total, as a fallback computes it.
    pub fn fallback(&self, tile: usize) -> State {
        (self.aggregate(tile) | INK) & self.mask()
    }

    /// What precedes a tile: all blocks before its block from left to right, each folded on its own, and then the tiles
    /// before it in its block.
    pub fn before(&self, tile: usize) -> State {
        let shape = &self.shape;
        let first = tile / shape.per_row * shape.per_row;
        let own = tile - (tile - first) % shape.block;
        let total = |tiles: Range<usize>| {
            let values = tiles.map(|tile| self.aggregate(tile));
            values.reduce(|left, right| self.join(left, right))
        };
        let whole = (first..own).step_by(shape.block);
        let totals = whole.filter_map(|from| total(from..from + shape.block));
        let totals = totals.chain(total(own..tile));
        totals.fold(IDENTITY, |left, right| self.join(left, right))
    }

    /// Joins two states. Like a sum of floats, the join is not associative, and it does not commute: the bits tell the
    /// order of the fold.
    pub fn join(&self, left: State, right: State) -> State {
        let mixed = (left & !INK).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed.rotate_left(29) ^ (right & !INK)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 31)) & !INK & self.mask()
    }

    fn mask(&self) -> State {
        State::MAX >> (State::BITS - 32 * self.shape.words as u32)
    }
}
