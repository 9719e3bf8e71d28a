//! Launches on the threads of a model.

use crate::cube::{look_back, publish_aggregate};
use crate::launch::{Launch, Mistake, Shape};
use crate::memory::{Memory, Seen};
use cubecl_scan::testing::words::{FIRST_EPOCH, epoch_after, epoch_bits_of, half_of, seal};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The tiles of each thread.
pub type Tiles = &'static [&'static [usize]];

/// Which thread runs which cubes.
#[derive(Clone, Copy, Debug)]
pub enum Deal {
    /// This many cubes on each thread. Tickets say which tiles they take.
    Tickets(&'static [u32]),
    /// These tiles on each thread. The first tile of the launch is on the first thread.
    ///
    /// - Tickets order only each other, so each way to deal them can have a model of its own.
    /// - A thread may write before it has read anything. Such a write may as well come before all else, since other
    ///   threads need not see it yet. So loom is spared the orders of the first aggregates, and of all that the first
    ///   tile does.
    Tiles(Tiles),
    /// The same without sparing loom anything.
    Plainly(Tiles),
}

impl Deal {
    /// The threads that may run one of the tiles.
    fn runners(&self, range: Range<usize>) -> Vec<bool> {
        match self {
            Self::Tickets(cubes) => vec![true; cubes.len()],
            Self::Tiles(tiles) | Self::Plainly(tiles) => {
                let is_in_range = |tile: &usize| range.contains(tile);
                let runs = |tiles: &&[usize]| tiles.iter().any(is_in_range);
                tiles.iter().map(runs).collect()
            }
        }
    }

    fn threads(&self) -> usize {
        match self {
            Self::Tickets(cubes) => cubes.len(),
            Self::Tiles(tiles) | Self::Plainly(tiles) => tiles.len(),
        }
    }

    /// Does what all threads do before they read anything.
    fn begin(self, launch: &Launch) {
        if let Self::Tiles(tiles) = self {
            for (thread, tiles) in tiles.iter().enumerate() {
                publish_aggregate(launch, thread, tiles[0]);
            }
            look_back(launch, 0, 0);
        }
    }

    /// Whether a thread has work after [`begin`](Self::begin).
    fn goes_on(self, thread: usize) -> bool {
        !matches!(self, Self::Tiles(tiles) if tiles[thread] == [0])
    }

    /// Does the work of a thread after [`begin`](Self::begin).
    fn go_on(self, launch: &Launch, thread: usize) {
        match self {
            Self::Tickets(cubes) => {
                for _ in 0..cubes[thread] {
                    let tile = launch.memory.take_ticket(cubes.iter().sum());
                    if tile < launch.shape.tiles() {
                        publish_aggregate(launch, thread, tile);
                        look_back(launch, thread, tile);
                    }
                }
            }
            Self::Tiles(tiles) => {
                for (index, &tile) in tiles[thread].iter().enumerate() {
                    if index > 0 {
                        publish_aggregate(launch, thread, tile);
                    }
                    if tile > 0 {
                        look_back(launch, thread, tile);
                    }
                }
            }
            Self::Plainly(tiles) => {
                for &tile in tiles[thread] {
                    publish_aggregate(launch, thread, tile);
                    look_back(launch, thread, tile);
                }
            }
        }
    }
}

/// What a launch leaves: its words by their places, its ticket and its epoch.
pub struct Left {
    pub words: Box<dyn Fn(usize) -> u32>,
    pub ticket: u32,
    pub epoch: u32,
    /// All reads of each thread.
    pub seen: Vec<Seen>,
}

/// Words of an earlier epoch. No launch here publishes such words.
pub fn left_by(epoch: u32) -> Left {
    Left {
        words: Box::new(move |at| {
            let bits = (at as u32).wrapping_mul(0x9e37_79b9);
            seal(half_of(bits >> 7), epoch_bits_of(epoch))
        }),
        ticket: 0,
        epoch,
        seen: Vec::new(),
    }
}

/// Runs one launch to its end, in the memory that the launch before has left.
pub fn run(shape: Shape, deal: Deal, number: u32, left: Left, mistake: Mistake) -> Left {
    let (epoch, words) = match epoch_after(left.epoch) {
        _ if mistake == Mistake::EpochKept => (left.epoch, left.words),
        Some(epoch) => (epoch, left.words),
        None if mistake == Mistake::NotCleared => (FIRST_EPOCH, left.words),
        None => (FIRST_EPOCH, Box::new(|_| 0u32) as Box<dyn Fn(usize) -> u32>),
    };
    let launch = Arc::new(Launch {
        shape,
        number,
        memory: Memory::new(&shape, epoch, left.ticket, mistake, words, |tiles| {
            deal.runners(tiles)
        }),
        mistake,
        done: Mutex::default(),
    });
    loom::stop_exploring();
    // They are spawned before anything is written, so that they need not see the writes of this thread.
    let running: Vec<_> = (0..deal.threads())
        .filter(|thread| deal.goes_on(*thread))
        .map(|thread| {
            let launch = launch.clone();
            loom::thread::spawn(move || deal.go_on(&launch, thread))
        })
        .collect();
    deal.begin(&launch);
    loom::explore();
    for thread in running {
        thread.join().expect("a thread that panics ends the model");
    }
    let mut done = launch.done.lock().expect("no panic before").clone();
    done.sort_unstable();
    let all: Vec<usize> = (0..shape.tiles()).collect();
    assert_eq!(done, all, "each tile is scanned once");
    Left {
        ticket: launch.memory.latest_ticket(),
        seen: launch.memory.seen(),
        words: Box::new(move |at| launch.memory.latest(at)),
        epoch,
    }
}
