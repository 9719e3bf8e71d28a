//! The buffers in the cache, and which of them an output gets.
//!
//! The lock and the atomic are those of `sync`. A model checker replaces them: `protocol/tests` tries all schedules of
//! this file.

use core::alloc::Layout;

use super::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, PoisonError};

/// Memory that can be cached.
pub(super) trait Memory {
    fn layout(&self) -> Layout;
}

/// Buffers from the oldest to the newest.
pub(super) struct BufferList<B> {
    buffers: Mutex<Vec<B>>,
    /// The most bytes that all buffers together may have. It is stored under the lock, so that a thread that has the
    /// lock loads the latest.
    limit: AtomicUsize,
}

impl<B: Memory> BufferList<B> {
    /// Keeps buffers in the list, which is empty, and at most `limit` bytes.
    pub(super) const fn new(buffers: Mutex<Vec<B>>, limit: AtomicUsize) -> Self {
        Self { buffers, limit }
    }

    /// The most bytes that are kept.
    pub(super) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// Keeps at most `bytes` bytes from now on. Returns the oldest buffers, which exceed it.
    pub(super) fn set_limit(&self, bytes: usize) -> Vec<B> {
        let mut buffers = self.buffers();
        self.limit.store(bytes, Ordering::Relaxed);
        drain_oldest(&mut buffers, bytes)
    }

    /// The smallest buffer for `bytes` bytes that is at most a quarter larger, is aligned to `align`, and has a
    /// multiple of `size` bytes.
    pub(super) fn take(&self, bytes: usize, align: usize, size: usize) -> Option<B> {
        let fits = |layout: Layout| {
            layout.align() == align
                && layout.size().is_multiple_of(size)
                && (bytes..=bytes + bytes / 4).contains(&layout.size())
        };
        let mut buffers = self.buffers();
        let best = (0..buffers.len())
            .filter(|&index| fits(buffers[index].layout()))
            .min_by_key(|&index| buffers[index].layout().size())?;
        Some(buffers.remove(best))
    }

    /// Keeps `buffer`. Returns the oldest buffers, which must make room for it, or `buffer` itself if it is larger than
    /// the limit.
    pub(super) fn give(&self, buffer: B) -> Vec<B> {
        let mut buffers = self.buffers();
        let limit = self.limit();
        let Some(room) = limit.checked_sub(buffer.layout().size()) else {
            return vec![buffer];
        };
        let freed = drain_oldest(&mut buffers, room);
        buffers.push(buffer);
        freed
    }

    /// Calls `work` with each buffer. No other thread takes one meanwhile.
    pub(super) fn for_each(&self, work: impl FnMut(&mut B)) {
        self.buffers().iter_mut().for_each(work);
    }

    /// Takes all buffers out of the list.
    pub(super) fn trim(&self) -> Vec<B> {
        core::mem::take(&mut *self.buffers())
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<B>> {
        // No panic leaves the list half changed.
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes out the oldest buffers, until the others have at most `limit` bytes.
fn drain_oldest<B: Memory>(buffers: &mut Vec<B>, limit: usize) -> Vec<B> {
    let mut sum = 0;
    let newest = buffers
        .iter()
        .rev()
        .take_while(|buffer| {
            sum += buffer.layout().size();
            sum <= limit
        })
        .count();
    let oldest = buffers.len() - newest;
    buffers.drain(..oldest).collect()
}
