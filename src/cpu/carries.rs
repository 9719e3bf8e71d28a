//! The carries between the blocks of a row, which threads hand to each other.
//!
//! Threads take blocks in order. A thread that needs a carry looks for it up to a spin limit. Then it finds the first
//! missing carry itself, so that no thread depends on another to go on. All threads find the same carry, and the first
//! to publish it is the one that counts.
//!
//! The atomics and the lock are those of `sync`. A model checker replaces them: `protocol/tests` tries all schedules of
//! this file.

use super::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, PoisonError, spin_loop};

/// The carries that threads have found.
pub(super) struct Carries<C> {
    /// Blocks that a thread has taken.
    taken: AtomicUsize,
    /// Blocks with a known carry out of them.
    known: AtomicUsize,
    /// The known carries: one into the first block, and one out of each known block.
    carries: Mutex<Vec<C>>,
}

impl<C: Copy> Carries<C> {
    /// Only the carry into the first block is known.
    pub(super) fn new(first: C) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            known: AtomicUsize::new(0),
            carries: Mutex::new(vec![first]),
        }
    }

    /// The next block. The numbers go on after the last block, too.
    pub(super) fn take(&self) -> usize {
        self.taken.fetch_add(1, Ordering::Relaxed)
    }

    /// The carry into the block `step`. After `spin_limit` looks, `find(block, carry)` finds a missing carry: the carry
    /// out of a block, from the carry into it.
    pub(super) fn wait(&self, step: usize, spin_limit: usize, find: impl Fn(usize, C) -> C) -> C {
        let mut looks = 0;
        loop {
            let known = self.known.load(Ordering::Acquire);
            if known >= step {
                return self.get(step);
            }
            if looks < spin_limit {
                looks += 1;
                spin_loop();
            } else {
                self.publish(known + 1, find(known, self.get(known)));
            }
        }
    }

    /// The carry into the block `step`, which is known.
    pub(super) fn get(&self, step: usize) -> C {
        self.carries()[step]
    }

    /// Makes the carry into the block `step` known, unless it already is. Every thread that finds this carry finds the
    /// same.
    pub(super) fn publish(&self, step: usize, carry: C) {
        let mut carries = self.carries();
        if carries.len() == step {
            carries.push(carry);
            self.known.store(step, Ordering::Release);
        }
    }

    fn carries(&self) -> MutexGuard<'_, Vec<C>> {
        self.carries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
