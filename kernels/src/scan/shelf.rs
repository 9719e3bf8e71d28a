//! Buffers that outlive a launch: one for each stream, with the number of the launch that has it.

use std::collections::HashMap;
use std::hash::Hash;

/// Streams remembered; beyond it the buffers are forgotten and made anew. A thread has a stream of its own, and a program that
/// starts threads without end must not keep a buffer for each.
const MAX_STREAMS: usize = 64;

/// The smallest buffer, in words: enough for 2^24 elements in tiles of 4,096.
const MIN_WORDS: usize = 1 << 15;

/// The buffer of one stream.
pub(super) struct Kept<B> {
    pub(super) buffer: B,
    pub(super) words: usize,
    /// Which launch has the buffer, counted from 1; 0 is what a buffer is cleared to.
    pub(super) epoch: u32,
}

/// The buffers of all streams, by device and stream.
pub(super) struct Shelf<K, B>(HashMap<K, Kept<B>>);

impl<K, B> Default for Shelf<K, B> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Eq + Hash, B> Shelf<K, B> {
    /// The buffer of `key` for one launch more, of at least `words` words. `cleared` makes those that are new, larger, or used by as many
    /// launches as an epoch of 16 bits tells apart.
    pub(super) fn take(
        &mut self,
        key: K,
        words: usize,
        cleared: impl Fn(usize) -> B,
    ) -> &mut Kept<B> {
        if self.0.len() == MAX_STREAMS && !self.0.contains_key(&key) {
            self.0.clear();
        }
        let fresh = |words: usize| Kept {
            buffer: cleared(words),
            words,
            epoch: 0,
        };
        let words = words.max(MIN_WORDS).next_power_of_two();
        let kept = self.0.entry(key).or_insert_with(|| fresh(words));
        if kept.words < words || kept.epoch == u32::from(u16::MAX) {
            *kept = fresh(words.max(kept.words));
        }
        kept.epoch += 1;
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Takes so many words, and tells the number of the buffer, its words and its epoch.
    struct Counted {
        shelf: Shelf<usize, usize>,
        made: Cell<usize>,
    }

    impl Counted {
        fn new() -> Self {
            Self {
                shelf: Shelf::default(),
                made: Cell::new(0),
            }
        }

        fn take(&mut self, key: usize, words: usize) -> (usize, usize, u32) {
            let made = |_| {
                self.made.set(self.made.get() + 1);
                self.made.get()
            };
            let kept = self.shelf.take(key, words, made);
            (kept.buffer, kept.words, kept.epoch)
        }
    }

    #[test]
    fn a_buffer_is_kept_until_it_is_too_small() {
        let mut shelf = Counted::new();
        assert_eq!(shelf.take(7, 1), (1, 32_768, 1));
        assert_eq!(shelf.take(7, 32_768), (1, 32_768, 2));
        assert_eq!(shelf.take(7, 32_769), (2, 65_536, 1), "larger, and cleared");
        assert_eq!(shelf.take(7, 1), (2, 65_536, 2), "not made smaller");
    }

    #[test]
    fn streams_have_buffers_of_their_own() {
        let mut shelf = Counted::new();
        assert_eq!(shelf.take(7, 1).0, 1);
        assert_eq!(shelf.take(8, 1), (2, 32_768, 1));
        assert_eq!(shelf.take(7, 1), (1, 32_768, 2));
    }

    #[test]
    fn no_epoch_comes_twice() {
        let mut shelf = Counted::new();
        for epoch in 1..=65_535 {
            assert_eq!(shelf.take(7, 40_000), (1, 65_536, epoch));
        }
        assert_eq!(shelf.take(7, 1), (2, 65_536, 1), "cleared, and as large");
    }

    #[test]
    fn more_streams_than_are_remembered() {
        let mut shelf = Counted::new();
        for stream in 0..MAX_STREAMS {
            shelf.take(stream, 1);
        }
        assert_eq!(shelf.take(0, 1), (1, 32_768, 2), "as many are remembered");
        assert_eq!(shelf.take(MAX_STREAMS, 1).0, MAX_STREAMS + 1);
        assert_eq!(shelf.take(0, 1).2, 1, "and then none");
    }
}
