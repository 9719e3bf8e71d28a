//! The carries between the blocks of a row, which threads hand to each other.
//!
//! Threads take blocks in order. Who needs a carry that is not known looks for it a bounded number of times, and then finds the next one that
//! is missing itself: no thread depends on another one to go on. All who find a carry find the same one, and the first is kept.
//!
//! The atomics and the lock are those of `sync`, in place of which a model checker has its own: `protocol/tests` tries all schedules of
//! this file.

use super::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, PoisonError, spin_loop};

pub(super) struct Carries<C> {
    /// Blocks that a thread has begun.
    taken: AtomicUsize,
    /// Carries behind the first that are known, and the carries: as many as there were blocks before them.
    known: AtomicUsize,
    carries: Mutex<Vec<C>>,
}

impl<C: Copy> Carries<C> {
    /// Nothing is known but the carry into the first block.
    pub(super) fn new(first: C) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            known: AtomicUsize::new(0),
            carries: Mutex::new(vec![first]),
        }
    }

    /// The next block, of which there may be none.
    pub(super) fn take(&self) -> usize {
        self.taken.fetch_add(1, Ordering::Relaxed)
    }

    /// The carry into a block. After `spin_limit` looks `find` is asked for the carry behind a block from that into it.
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

    /// A carry that is known.
    pub(super) fn get(&self, step: usize) -> C {
        self.carries()[step]
    }

    /// Every thread that finds a carry finds the same one.
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
