//! What a cube does, step by step as the kernels do it: `single_pass.rs` among the routines, and the lookback among the
//! components. A change there must be made here, too.
//!
//! Reads whose result makes no difference are left out: the fallback of a tile whose aggregate is published, the prefix
//! before a block that lacks a tile, and the prefix before a block whose base is known. A read that is left out only
//! leaves more values for later reads.

use crate::launch::{IDENTITY, Launch, Mistake, Shape, State};
use crate::memory::{aggregate_place, fallback_place, prefix_place};

/// More than any lookback takes here.
const MANY: usize = 50;

/// The first step of a tile: its aggregate.
pub fn publish_aggregate(launch: &Launch, thread: usize, tile: usize) {
    if launch.mistake != Mistake::AggregateLast {
        Lookback::new(launch, thread, tile).publish_aggregate();
    }
}

/// The other steps of a tile: the lookback, and the prefix.
pub fn look_back(launch: &Launch, thread: usize, tile: usize) {
    let mut search = Lookback::new(launch, thread, tile);
    let mut fallbacks = Vec::new();
    while search.advance() {
        assert!(
            !fallbacks.contains(&search.missing),
            "a published fallback is missing"
        );
        fallbacks.push(search.missing);
        search.publish_fallback();
    }
    let before = search.conclude();
    if launch.mistake == Mistake::AggregateLast {
        search.publish_aggregate();
    }
    assert_eq!(before, launch.before(tile), "another fold of tile {tile}");
    launch.done.lock().expect("no panic before").push(tile);
}

struct Lookback<'a> {
    launch: &'a Launch,
    shape: &'a Shape,
    thread: usize,
    tile: usize,
    /// The first tile and the first block of the row.
    row: usize,
    row_block: usize,
    /// The tile's block in its row, and how many tiles of that block precede it.
    own: usize,
    within: usize,
    /// The block to look at next.
    block: usize,
    /// The lookback searches what precedes this block.
    goal: usize,
    /// What precedes this block is known.
    base_block: usize,
    base: State,
    /// The totals of the blocks between the next block and the goal. The block nearest to the goal is the first.
    totals: Vec<State>,
    /// The total of the block's tiles before this tile, and including it.
    own_before: Option<State>,
    own_total: State,
    /// The missing tile of the row.
    missing: usize,
    looks: usize,
}

impl<'a> Lookback<'a> {
    fn new(launch: &'a Launch, thread: usize, tile: usize) -> Self {
        let shape = &launch.shape;
        let row = tile / shape.per_row;
        let in_row = tile - row * shape.per_row;
        let own = in_row / shape.block;
        Self {
            launch,
            shape,
            thread,
            tile,
            row: row * shape.per_row,
            row_block: row * shape.blocks_of_row(),
            own,
            within: in_row - own * shape.block,
            block: own,
            goal: own,
            base_block: 0,
            base: IDENTITY,
            totals: Vec::new(),
            own_before: None,
            own_total: launch.aggregate(tile),
            missing: 0,
            looks: 0,
        }
    }

    fn publish_aggregate(&self) {
        if !self.shape.stall.contains(&self.tile) {
            let place = aggregate_place(self.shape, self.row_block + self.own, self.within);
            let value = self.launch.aggregate(self.tile);
            self.launch.memory.publish(self.thread, place, value);
        }
    }

    fn publish_fallback(&self) {
        let index = self.row_block + self.missing / self.shape.block;
        let lane = self.missing % self.shape.block;
        let place = match self.launch.mistake {
            Mistake::FallbackInOwnersWords => aggregate_place(self.shape, index, lane),
            _ => fallback_place(self.shape, index, lane),
        };
        let value = self.launch.fallback(self.row + self.missing);
        self.launch.memory.publish(self.thread, place, value);
    }

    /// Looks back until it knows all that precedes the tile. Returns true if a tile is missing before that.
    fn advance(&mut self) -> bool {
        let mistake = self.launch.mistake;
        loop {
            self.looks += 1;
            assert!(self.looks < MANY, "a lookback does not end");
            let is_own = self.block == self.own;
            let tiles = if is_own {
                self.within
            } else {
                self.shape.block
            };
            let mut total = None;
            for lane in 0..tiles {
                let Some(value) = self.look(lane) else {
                    self.missing = self.block * self.shape.block + lane;
                    return true;
                };
                total = Some(total.map_or(value, |total| self.launch.join(total, value)));
            }
            if is_own {
                let aggregate = self.launch.aggregate(self.tile);
                self.own_before = total;
                self.own_total =
                    total.map_or(aggregate, |total| self.launch.join(total, aggregate));
            } else {
                self.totals.extend(total);
            }
            if let Some(base) = self.base_before() {
                if mistake == Mistake::TotalsReversed {
                    self.totals.reverse();
                }
                if mistake == Mistake::TotalLost && self.totals.len() > 1 {
                    self.totals.remove(0);
                }
                self.base = self
                    .totals
                    .drain(..)
                    .rev()
                    .fold(base, |left, right| self.launch.join(left, right));
                if mistake != Mistake::BaseForgotten {
                    self.base_block = self.goal;
                }
                if self.goal == self.own {
                    return false;
                }
                self.goal = self.own.min(self.goal + self.shape.max_totals);
                self.block = self.goal - 1;
            } else {
                if self.totals.len() == self.shape.max_totals {
                    self.goal = self.block;
                    self.totals.clear();
                }
                self.block -= 1;
            }
        }
    }

    /// What precedes the current block, if that is known.
    fn base_before(&self) -> Option<State> {
        if self.block == self.base_block {
            return Some(self.base);
        }
        let place = prefix_place(self.shape, self.row_block + self.block - 1);
        self.launch.memory.peek(self.thread, place)
    }

    /// The aggregate or the fallback of a tile of the block, if it is seen within the spin limit.
    fn look(&self, lane: usize) -> Option<State> {
        let index = self.row_block + self.block;
        let places = [aggregate_place, fallback_place].map(|place| place(self.shape, index, lane));
        let mut looks = 0;
        while looks < self.shape.spin_limit || self.launch.mistake == Mistake::WaitsForWords {
            let mut seen = places
                .into_iter()
                .map(|place| self.launch.memory.peek(self.thread, place));
            if let Some(value) = seen.find_map(|value| value) {
                return Some(value);
            }
            looks += 1;
        }
        None
    }

    /// Returns what precedes the tile. The last tile of a block publishes the block's prefix.
    fn conclude(&self) -> State {
        let before = self
            .own_before
            .map_or(self.base, |own| self.launch.join(self.base, own));
        let stalls = |tiles: &[usize]| tiles.contains(&self.tile);
        let is_stalled = stalls(self.shape.stall) || stalls(self.shape.late);
        if self.within + 1 == self.shape.block && !is_stalled {
            let prefix = match self.launch.mistake {
                Mistake::PrefixWithoutOwn => before,
                _ => self.launch.join(self.base, self.own_total),
            };
            let place = prefix_place(self.shape, self.row_block + self.own);
            self.launch.memory.publish(self.thread, place, prefix);
        }
        before
    }
}
