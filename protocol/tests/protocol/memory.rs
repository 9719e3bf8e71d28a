//! The words of one launch, laid out by the functions that the kernels call.

use crate::launch::{Mistake, Shape, State};
use crate::shared_word::SharedWord;
use cubecl_scan::testing::words::{
    HALF_BITS, HALVES, HEADER_WORDS, aggregate_at, epoch_bits_of, fallback_at, foreign, half_of,
    is_sealed, joined, launch_words, prefix_at, seal,
};
use loom::sync::atomic::{AtomicU32, Ordering};
use std::ops::Range;
use std::sync::Mutex;

/// A word that a thread has read, and whether it counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    thread: usize,
    at: usize,
    counts: bool,
}

/// The memory that the cubes of a launch share.
pub struct Memory {
    ticket: AtomicU32,
    /// None at places that the layout leaves out.
    words: Vec<Option<SharedWord>>,
    /// The values that were published in this launch and in the launch before, with their places.
    published: Mutex<Vec<(usize, State)>>,
    stale: Vec<(usize, State)>,
    seen: Mutex<Vec<Seen>>,
    state_words: usize,
    epoch_bits: u32,
    mistake: Mistake,
}

/// The place of a value: its first word, and the distance between its words.
#[derive(Clone, Copy)]
pub struct Place {
    at: usize,
    apart: usize,
}

pub fn aggregate_place(shape: &Shape, index: usize, lane: usize) -> Place {
    Place {
        at: aggregate_at(index, lane, shape.block, shape.words),
        apart: shape.block,
    }
}

pub fn fallback_place(shape: &Shape, index: usize, lane: usize) -> Place {
    Place {
        at: fallback_at(index, lane, shape.block, shape.words),
        apart: shape.block,
    }
}

pub fn prefix_place(shape: &Shape, index: usize) -> Place {
    Place {
        at: prefix_at(index, shape.block, shape.words),
        apart: 1,
    }
}

impl Memory {
    /// Memory for a launch of an epoch. Before the launch, the word at a place holds `before(place)`, and the counter
    /// holds `ticket`. `runs(tiles)` says which threads may run one of the tiles, and so which threads write and read
    /// which words.
    pub fn new(
        shape: &Shape,
        epoch: u32,
        ticket: u32,
        mistake: Mistake,
        before: impl Fn(usize) -> u32,
        runs: impl Fn(Range<usize>) -> Vec<bool>,
    ) -> Self {
        let len = HEADER_WORDS + launch_words(shape.blocks(), shape.block, shape.words);
        let mut memory = Self {
            ticket: AtomicU32::new(ticket),
            words: (0..len).map(|_| None).collect(),
            published: Mutex::default(),
            stale: Vec::new(),
            seen: Mutex::default(),
            state_words: shape.words,
            epoch_bits: epoch_bits_of(epoch),
            mistake,
        };
        for row in 0..shape.rows {
            let first = row * shape.per_row;
            for tile in 0..shape.per_row {
                let index = row * shape.blocks_of_row() + tile / shape.block;
                let lane = tile % shape.block;
                let own = runs(first + tile..first + tile + 1);
                let later = runs(first + tile + 1..first + shape.per_row);
                let place = aggregate_place(shape, index, lane);
                memory.add(place, &own, &later, &before);
                let place = fallback_place(shape, index, lane);
                memory.add(place, &later, &later, &before);
                if lane + 1 == shape.block {
                    memory.add(prefix_place(shape, index), &own, &later, &before);
                }
            }
        }
        memory
    }

    fn add(
        &mut self,
        place: Place,
        writers: &[bool],
        readers: &[bool],
        before: impl Fn(usize) -> u32,
    ) {
        let mut value = 0;
        for word in 0..self.state_words {
            let [low, high] = halves(place, word);
            value |= State::from(joined(before(low), before(high))) << (32 * word);
            for at in [low, high] {
                assert!(
                    at >= HEADER_WORDS && self.words[at].is_none(),
                    "places overlap"
                );
                self.words[at] = Some(SharedWord::new(before(at), writers, readers));
            }
        }
        self.stale.push((place.at, value));
    }

    /// What a word holds when all threads have ended.
    pub fn latest(&self, at: usize) -> u32 {
        self.words[at].as_ref().map_or(0, SharedWord::latest)
    }

    pub fn latest_ticket(&self) -> u32 {
        self.ticket.load(Ordering::Relaxed)
    }

    /// The next tile of the launch. The last of `cubes` tickets resets the counter.
    pub fn take_ticket(&self, cubes: u32) -> usize {
        let mine = self.ticket.fetch_add(1, Ordering::Relaxed);
        if mine + 1 == cubes && self.mistake != Mistake::TicketKept {
            self.ticket.store(0, Ordering::Relaxed);
        }
        mine as usize
    }

    /// Writes the words of a value.
    pub fn publish(&self, thread: usize, place: Place, value: State) {
        let mut published = self.published.lock().expect("no panic before");
        published.push((place.at, value));
        drop(published);
        for word in 0..self.state_words {
            let bits = (value >> (32 * word)) as u32;
            let [low, high] = halves(place, word).map(|at| self.word(at));
            low.store(thread, seal(half_of(bits), self.epoch_bits));
            high.store(thread, seal(bits >> HALF_BITS, self.epoch_bits));
        }
    }

    /// Reads the words of a value once, up to the first foreign word. The words after it make no difference, and a read
    /// that is left out only leaves more values for later reads.
    pub fn peek(&self, thread: usize, place: Place) -> Option<State> {
        let mut value = 0;
        for word in 0..self.state_words {
            let [low, high] = halves(place, word);
            let (low, counts) = self.read(thread, low);
            if !counts {
                return None;
            }
            let (high, counts) = self.read(thread, high);
            if !counts && self.mistake != Mistake::HalfNew {
                return None;
            }
            value |= State::from(joined(low, high)) << (32 * word);
        }
        self.check(place, value);
        Some(value)
    }

    fn read(&self, thread: usize, at: usize) -> (u32, bool) {
        let word = self.word(at).load(thread);
        let counts =
            is_sealed(foreign(word, self.epoch_bits)) || self.mistake == Mistake::EpochIgnored;
        let mut seen = self.seen.lock().expect("no panic before");
        seen.push(Seen { thread, at, counts });
        (word, counts)
    }

    /// All reads, thread by thread.
    pub fn seen(&self) -> Vec<Seen> {
        let mut seen = self.seen.lock().expect("no panic before").clone();
        seen.sort_by_key(|seen| seen.thread);
        seen
    }

    fn word(&self, at: usize) -> &SharedWord {
        self.words[at].as_ref().expect("a word of a place")
    }

    /// Checks that a value that counts was published at this place, whole, in this launch.
    fn check(&self, place: Place, value: State) {
        let published = self.published.lock().expect("no panic before");
        let is_among = |known: &[(usize, State)]| known.contains(&(place.at, value));
        if !is_among(&published) {
            let kind = if is_among(&self.stale) {
                "stale"
            } else {
                "torn"
            };
            panic!("a {kind} value is accepted: {value:x?}");
        }
    }
}

/// The places of the low and the high half of a word.
fn halves(place: Place, word: usize) -> [usize; 2] {
    let low = place.at + HALVES * word * place.apart;
    [low, low + place.apart]
}
