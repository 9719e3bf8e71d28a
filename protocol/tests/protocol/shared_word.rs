//! Relaxed atomic words. Loom explores all orders of their accesses, each once.
//!
//! Loom tries two accesses of a word in both orders only if the earlier one is the *last* access of that word before
//! the later one. Where a thread reads a word and then writes it, its own read is the last, and the write is never
//! tried before what others have read until then ([tokio-rs/loom#166](https://github.com/tokio-rs/loom/issues/166),
//! [#392](https://github.com/tokio-rs/loom/issues/392)). Cubes do just that with the words of a fallback.
//!
//! So here a word is one of loom's atomics for each pair of a writer and a reader, and no other access comes between a
//! write and a read of such a copy. A reader takes the first copy that was written to. That is as good as one word,
//! because all writers of a word write the same value, which is checked. No reader can see the order of two writes of
//! one value, and the copies have no order.
//!
//! The tests below check that loom does so.

use loom::sync::atomic::{AtomicU32, Ordering};
use std::sync::Mutex;

/// A word of one launch. Threads are numbered.
pub struct SharedWord {
    before: u32,
    /// The copies from each writer to each reader.
    copies: Vec<Vec<Option<AtomicU32>>>,
    may_write: Vec<bool>,
    may_read: Vec<bool>,
    written: Mutex<Written>,
}

struct Written {
    value: Option<u32>,
    by: Vec<bool>,
}

impl SharedWord {
    /// A word that holds `before` when the launch begins, and which threads may write and read.
    pub fn new(before: u32, writers: &[bool], readers: &[bool]) -> Self {
        let copy = |writer, reader| {
            let is_needed = writer != reader && writers[writer] && readers[reader];
            is_needed.then(|| AtomicU32::new(before))
        };
        let threads = writers.len();
        let copies = |writer| (0..threads).map(|reader| copy(writer, reader)).collect();
        Self {
            before,
            copies: (0..threads).map(copies).collect(),
            may_write: writers.to_vec(),
            may_read: readers.to_vec(),
            written: Mutex::new(Written {
                value: None,
                by: vec![false; threads],
            }),
        }
    }

    pub fn load(&self, reader: usize) -> u32 {
        assert!(self.may_read[reader], "an unexpected reader");
        if self.written(|written| written.by[reader]) {
            return self.latest();
        }
        let copies = self
            .copies
            .iter()
            .filter_map(|copies| copies[reader].as_ref());
        let mut seen = copies.map(|copy| copy.load(Ordering::Relaxed));
        seen.find(|value| *value != self.before)
            .unwrap_or(self.before)
    }

    pub fn store(&self, writer: usize, value: u32) {
        assert!(self.may_write[writer], "an unexpected writer");
        self.written(|written| {
            let first = *written.value.get_or_insert(value);
            assert_eq!(first, value, "a word gets two values in one launch");
            written.by[writer] = true;
        });
        for copy in self.copies[writer].iter().flatten() {
            copy.store(value, Ordering::Relaxed);
        }
    }

    /// What the word holds when all threads have ended.
    pub fn latest(&self) -> u32 {
        self.written(|written| written.value.unwrap_or(self.before))
    }

    /// Loom runs one thread at a time: no thread waits for the lock, and the lock orders nothing in the model.
    fn written<T>(&self, f: impl FnOnce(&mut Written) -> T) -> T {
        f(&mut self.written.lock().expect("no panic before"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::explore;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    type Program = fn(&[SharedWord], usize) -> u32;

    /// What the threads return, in all schedules.
    fn outcomes<const THREADS: usize>(threads: [Program; THREADS]) -> BTreeSet<[u32; THREADS]> {
        let found = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = found.clone();
        explore("outcomes", move || {
            let words =
                Arc::new([0, 1].map(|_| SharedWord::new(0, &[true; THREADS], &[true; THREADS])));
            let mut number = 0;
            let running = threads.map(|thread| {
                let (words, number_of_thread) = (words.clone(), number);
                number += 1;
                loom::thread::spawn(move || thread(&words[..], number_of_thread))
            });
            let outcome = running.map(|thread| thread.join().expect("it ends"));
            seen.lock().expect("not poisoned").insert(outcome);
        });
        let found = found.lock().expect("not poisoned");
        found.clone()
    }

    fn read(words: &[SharedWord], me: usize) -> u32 {
        words[0].load(me)
    }

    fn read_and_write(words: &[SharedWord], me: usize) -> u32 {
        let seen = words[0].load(me);
        if seen == 0 {
            words[0].store(me, 1);
        }
        seen
    }

    #[test]
    fn a_word_that_is_read_and_written_is_seen_before_and_after() {
        let found = outcomes([read, read_and_write]);
        assert_eq!(found, BTreeSet::from([[0, 0], [1, 0]]));
        let found = outcomes([read_and_write, read]);
        assert_eq!(found, BTreeSet::from([[0, 0], [0, 1]]));
    }

    #[test]
    fn two_may_write_what_one_reads() {
        let found = outcomes([read, read_and_write, read_and_write]);
        let writers = [[0, 0], [0, 1], [1, 0]];
        let expected = writers.iter().flat_map(|[a, b]| [[0, *a, *b], [1, *a, *b]]);
        assert_eq!(found, expected.collect());
    }

    #[test]
    fn two_words_are_seen_in_any_order() {
        let write: Program = |words, me| {
            words[0].store(me, 1);
            words[1].store(me, 1);
            0
        };
        let read: Program = |words, me| words[1].load(me) * 2 + words[0].load(me);
        let expected = [[0, 0], [0, 1], [0, 2], [0, 3]];
        assert_eq!(outcomes([write, read]), expected.into());
    }

    #[test]
    fn what_was_seen_is_seen_again() {
        let write: Program = |words, me| {
            words[0].store(me, 1);
            0
        };
        let read: Program = |words, me| words[0].load(me) * 2 + words[0].load(me);
        assert_eq!(outcomes([write, read]), [[0, 0], [0, 1], [0, 3]].into());
        let write_and_read: Program = |words, me| {
            words[0].store(me, 1);
            words[0].load(me)
        };
        assert_eq!(outcomes([write_and_read]), [[1]].into());
    }

    #[test]
    fn each_of_two_may_miss_what_the_other_writes() {
        let one: Program = |words, me| {
            words[0].store(me, 1);
            words[1].load(me)
        };
        let other: Program = |words, me| {
            words[1].store(me, 1);
            words[0].load(me)
        };
        let expected = [[0, 0], [0, 1], [1, 0], [1, 1]];
        assert_eq!(outcomes([one, other]), expected.into());
    }
}
