//! Loom's atomics and lock, as `src/cpu/sync.rs` offers them.

use loom::sync::atomic::AtomicUsize as Atomic;
pub use loom::sync::atomic::Ordering;
pub use loom::sync::{Mutex, MutexGuard};
use std::cell::Cell;
pub use std::sync::PoisonError;

/// The most threads of a model.
const THREADS: usize = 3;

loom::thread_local! {
    static NUMBER: Cell<usize> = Cell::new(0);
}

/// Numbers this thread.
pub fn begin(number: usize) {
    NUMBER.with(|own| own.set(number));
}

/// A number that is either counted, or stored under a lock. In the latter case each thread loads a copy of its own, for
/// the reason that `shared_word` gives.
pub struct AtomicUsize {
    counter: Atomic,
    copies: Vec<Atomic>,
}

impl AtomicUsize {
    pub fn new(value: usize) -> Self {
        Self {
            counter: Atomic::new(value),
            copies: (0..THREADS).map(|_| Atomic::new(value)).collect(),
        }
    }

    pub fn fetch_add(&self, value: usize, order: Ordering) -> usize {
        self.counter.fetch_add(value, order)
    }

    pub fn load(&self, order: Ordering) -> usize {
        self.copies[NUMBER.with(Cell::get)].load(order)
    }

    pub fn store(&self, value: usize, order: Ordering) {
        for copy in &self.copies {
            copy.store(value, order);
        }
    }
}

/// Does nothing. With its own hint, loom would let others run first, and never try what happens if they do not.
pub fn spin_loop() {}
