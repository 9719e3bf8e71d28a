//! Buffers that outlive a launch: one for each stream, with the epoch of its last launch.
//!
//! ```text
//! take    lock: look up, count the launch ── it serves ──→ done
//!                    └─ new, too small, or its launches are used up → unlock: make one → lock: remember it
//! ```
//!
//! Making a buffer involves the device, so no lock is held meanwhile: other streams go on, and a panic leaves the cache
//! as it was. If two launches of one stream make a buffer at once, each gets its own, and the cache remembers one of
//! them.

use super::components::tile_state::{FIRST_EPOCH, epoch_after};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most streams in the cache. Beyond that the least recently used stream is forgotten. Each thread has its own
/// stream, and a program may start threads without end.
const MAX_STREAMS: usize = 64;

/// The smallest buffer, in words: enough for 2^24 elements in tiles of 4,096. Larger ones double up to `STEP`, and then
/// grow by it.
const MIN_WORDS: usize = 1 << 15;
const STEP: usize = 1 << 20;

/// All buffers have at most this number of words, 256 MiB, unless the latest has more.
const MAX_WORDS: usize = 1 << 26;

/// A buffer of more than `STEP` words is freed if none of this number of launches, of all streams, has needed more than
/// half of it.
const IDLE_LAUNCHES: u64 = 1 << 10;

/// The size of the buffer that is made for this number of words, in words.
pub(super) fn rounded(words: usize) -> usize {
    let doubled = words.max(MIN_WORDS).next_power_of_two();
    doubled.min(words.next_multiple_of(STEP))
}

/// The buffer of one stream, for one launch.
#[derive(Clone)]
pub(super) struct ScratchBuffer<B> {
    pub(super) buffer: B,
    pub(super) words: usize,
    /// The number of the launch that has the buffer.
    pub(super) epoch: u32,
    /// When it was last used, counted in launches of all streams.
    last_used: u64,
    /// When more than half of it was last needed.
    last_needed: u64,
}

impl<B> ScratchBuffer<B> {
    /// The epoch of the next launch, if the buffer serves it: it is large enough, and epochs are left.
    fn next_epoch(&self, words: usize) -> Option<u32> {
        epoch_after(self.epoch).filter(|_| self.words >= words)
    }
}

/// The result of making a buffer.
pub(super) enum Made<B> {
    /// A buffer of zeros.
    Cleared(B),
    /// The device could not make or clear it. The launch that asked reports the error. No other launch gets this
    /// buffer.
    Broken(B),
}

struct Entries<K, B> {
    by_stream: HashMap<K, ScratchBuffer<B>>,
    launches: u64,
}

/// The buffers of all streams, by device and stream.
pub(super) struct ScratchCache<K, B>(Mutex<Entries<K, B>>);

impl<K, B> Default for ScratchCache<K, B> {
    fn default() -> Self {
        Self(Mutex::new(Entries {
            by_stream: HashMap::new(),
            launches: 0,
        }))
    }
}

impl<K: Clone + Eq + Hash, B: Clone> ScratchCache<K, B> {
    /// The buffer of `key` for the next launch, of at least `words` words. Calls `make` if there is none, if it is too
    /// small, or if its epochs are used up.
    pub(super) fn take(
        &self,
        key: K,
        words: usize,
        make: impl FnOnce(usize) -> Made<B>,
    ) -> ScratchBuffer<B> {
        let words = rounded(words);
        let words = match self.entries().take(&key, words) {
            Ok(scratch) => return scratch,
            Err(known) => words.max(known),
        };
        let fresh = |buffer| ScratchBuffer {
            buffer,
            words,
            epoch: FIRST_EPOCH,
            last_used: 0,
            last_needed: 0,
        };
        match make(words) {
            Made::Cleared(buffer) => {
                let scratch = fresh(buffer);
                self.entries().remember(key, scratch.clone());
                scratch
            }
            Made::Broken(buffer) => fresh(buffer),
        }
    }

    /// No code of a caller runs under the lock. So the entries are valid even if the lock is poisoned.
    fn entries(&self) -> MutexGuard<'_, Entries<K, B>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash, B: Clone> Entries<K, B> {
    /// The buffer of `key` if it serves. Otherwise how many words the known one has, or 0.
    fn take(&mut self, key: &K, words: usize) -> Result<ScratchBuffer<B>, usize> {
        self.launches += 1;
        if self.launches % IDLE_LAUNCHES == 0 {
            let before = self.launches - IDLE_LAUNCHES;
            let is_needed = |it: &ScratchBuffer<B>| it.words <= STEP || it.last_needed > before;
            self.by_stream.retain(|_, it| is_needed(it));
        }
        let scratch = self.by_stream.get_mut(key).ok_or(0usize)?;
        scratch.epoch = scratch.next_epoch(words).ok_or(scratch.words)?;
        scratch.last_used = self.launches;
        if 2 * words > scratch.words {
            scratch.last_needed = self.launches;
        }
        Ok(scratch.clone())
    }

    fn remember(&mut self, key: K, mut scratch: ScratchBuffer<B>) {
        let known = self.by_stream.get(&key);
        // Another launch of the stream has made one meanwhile.
        if known.is_some_and(|it| it.next_epoch(scratch.words).is_some()) {
            return;
        }
        scratch.last_used = self.launches;
        scratch.last_needed = self.launches;
        self.by_stream.insert(key, scratch);
        while self.is_full() {
            let oldest = self.by_stream.iter().min_by_key(|(_, it)| it.last_used);
            let oldest = oldest.expect("a buffer is one too many").0.clone();
            self.by_stream.remove(&oldest);
        }
    }

    fn is_full(&self) -> bool {
        let words = self.by_stream.values().map(|it| it.words).sum::<usize>();
        let streams = self.by_stream.len();
        streams > MAX_STREAMS || streams > 1 && words > MAX_WORDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Takes `words` words, and tells the number of the buffer, its words and its epoch.
    struct Counted {
        cache: ScratchCache<usize, usize>,
        made: Cell<usize>,
    }

    impl Counted {
        fn new() -> Self {
            Self {
                cache: ScratchCache::default(),
                made: Cell::new(0),
            }
        }

        fn take(&self, key: usize, words: usize) -> (usize, usize, u32) {
            self.take_made(key, words, Made::Cleared)
        }

        fn take_made(
            &self,
            key: usize,
            words: usize,
            outcome: impl FnOnce(usize) -> Made<usize>,
        ) -> (usize, usize, u32) {
            let make = |_| {
                self.made.set(self.made.get() + 1);
                outcome(self.made.get())
            };
            let scratch = self.cache.take(key, words, make);
            (scratch.buffer, scratch.words, scratch.epoch)
        }
    }

    #[test]
    fn a_buffer_is_kept_until_it_is_too_small() {
        let cache = Counted::new();
        assert_eq!(cache.take(7, 1), (1, 32_768, 1));
        assert_eq!(cache.take(7, 32_768), (1, 32_768, 2));
        assert_eq!(cache.take(7, 32_769), (2, 65_536, 1), "larger, and cleared");
        assert_eq!(cache.take(7, 1), (2, 65_536, 2), "not made smaller");
    }

    #[test]
    fn no_epoch_comes_twice() {
        let cache = Counted::new();
        for epoch in 1..=65_535 {
            assert_eq!(cache.take(7, 40_000), (1, 65_536, epoch));
        }
        assert_eq!(cache.take(7, 1), (2, 65_536, 1), "cleared, and as large");
    }

    #[test]
    fn of_more_streams_than_are_remembered_the_least_recent_is_forgotten() {
        let cache = Counted::new();
        for stream in 0..MAX_STREAMS {
            cache.take(stream, 1);
        }
        assert_eq!(cache.take(0, 1), (1, 32_768, 2), "as many are remembered");
        assert_eq!(cache.take(MAX_STREAMS, 1).0, MAX_STREAMS + 1);
        assert_eq!(cache.take(0, 1), (1, 32_768, 3), "used lately");
        for stream in 2..MAX_STREAMS {
            assert_eq!(cache.take(stream, 1), (stream + 1, 32_768, 2));
        }
        assert_eq!(cache.take(1, 1).2, 1, "the least recent");
    }

    #[test]
    fn many_words_are_not_doubled_and_not_kept_for_many_streams() {
        let cache = Counted::new();
        assert_eq!(cache.take(0, STEP + 1), (1, 2 * STEP, 1));
        assert_eq!(cache.take(1, 2 * STEP + 1), (2, 3 * STEP, 1));
        let rest = MAX_WORDS - 4 * STEP;
        assert_eq!(cache.take(2, rest), (3, rest, 1));
        assert_eq!(cache.take(1, 1).2, 2, "kept");
        assert_eq!(cache.take(0, 1).2, 1, "the least recent");
    }

    #[test]
    fn a_large_buffer_that_no_launch_needs_is_freed() {
        let (cache, large) = (Counted::new(), 4 * STEP);
        let made = [(0, large), (1, large), (2, 1)].map(|(key, words)| cache.take(key, words).0);
        assert_eq!(made, [1, 2, 3]);
        (0..2 * IDLE_LAUNCHES).for_each(|_| _ = cache.take(0, large / 2 + 1));
        assert_eq!(cache.take(0, 1).0, 1, "more than half was needed");
        assert_eq!(cache.take(2, 1).0, 3, "small ones are kept");
        assert_eq!(cache.take(1, 1), (4, 32_768, 1), "idle");
        (0..2 * IDLE_LAUNCHES).for_each(|_| _ = cache.take(0, large / 2));
        assert_eq!(cache.take(0, 1).1, large / 2, "half of it was not needed");
    }

    #[test]
    fn a_panic_while_a_buffer_is_made_leaves_all_as_it_was() {
        let cache = Counted::new();
        assert_eq!(cache.take(7, 1), (1, 32_768, 1));
        for (key, words) in [(7, 40_000), (8, 1)] {
            let panics = || cache.take_made(key, words, |_| panic!("no memory"));
            catch_unwind(AssertUnwindSafe(panics)).expect_err("it panics");
        }
        assert_eq!(cache.take(7, 1), (1, 32_768, 2), "as large as before");
        assert_eq!(cache.take(7, 40_000), (4, 65_536, 1), "made at last");
        assert_eq!(cache.take(8, 1), (5, 32_768, 1));
    }

    #[test]
    fn a_broken_buffer_is_given_to_one_launch() {
        let cache = Counted::new();
        assert_eq!(cache.take_made(7, 1, Made::Broken), (1, 32_768, 1));
        assert_eq!(cache.take(7, 1), (2, 32_768, 1), "recovered");
        assert_eq!(cache.take_made(7, 40_000, Made::Broken), (3, 65_536, 1));
        assert_eq!(cache.take(7, 1), (2, 32_768, 2), "what there was");
    }

    /// While one stream's buffer is made, others take theirs, and a launch of the same stream makes its own.
    #[test]
    fn nothing_waits_for_a_buffer_that_is_made() {
        let cache = Counted::new();
        cache.take(8, 1);
        let meanwhile = |buffer| {
            assert!(cache.cache.0.try_lock().is_ok(), "no lock is held");
            assert_eq!(cache.take(8, 1), (1, 32_768, 2));
            assert_eq!(cache.take(7, 40_000), (3, 65_536, 1));
            Made::Cleared(buffer)
        };
        assert_eq!(cache.take_made(7, 1, meanwhile), (2, 32_768, 1));
        assert_eq!(cache.take(7, 1), (3, 65_536, 2), "the larger is remembered");
    }
}
