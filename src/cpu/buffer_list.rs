//! Which buffers are kept, and which of them an output gets.
//!
//! The lock is that of `sync`, in place of which a model checker has its own: `protocol/tests` tries all schedules of this file.

use core::alloc::Layout;

use super::sync::{Mutex, MutexGuard, PoisonError};

/// Memory that is kept.
pub(super) trait Memory {
    fn layout(&self) -> Layout;
}

/// Buffers from the oldest to the newest.
pub(super) struct BufferList<B> {
    buffers: Mutex<Vec<B>>,
    most: usize,
}

impl<B: Memory> BufferList<B> {
    /// Keeps buffers in the list, which is empty, and at most `most` bytes.
    pub(super) const fn new(buffers: Mutex<Vec<B>>, most: usize) -> Self {
        Self { buffers, most }
    }

    fn buffers(&self) -> MutexGuard<'_, Vec<B>> {
        // No panic leaves the list half changed.
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The smallest buffer for `bytes` bytes, if it is at most a quarter larger, aligned to `align`, and a multiple of `size` long.
    pub(super) fn take(&self, bytes: usize, align: usize, size: usize) -> Option<B> {
        let fits = |layout: Layout| {
            layout.align() == align
                && layout.size().is_multiple_of(size)
                && (bytes..=bytes + bytes / 4).contains(&layout.size())
        };
        let mut kept = self.buffers();
        let best = (0..kept.len())
            .filter(|&index| fits(kept[index].layout()))
            .min_by_key(|&index| kept[index].layout().size())?;
        Some(kept.remove(best))
    }

    /// Keeps `buffer`, of at most so many bytes as are kept, and returns as many of the oldest as it takes to make room.
    pub(super) fn give(&self, buffer: B) -> Vec<B> {
        let mut kept = self.buffers();
        let mut sum = buffer.layout().size();
        let newest = kept
            .iter()
            .rev()
            .take_while(|kept| {
                sum += kept.layout().size();
                sum <= self.most
            })
            .count();
        let oldest = kept.len() - newest;
        let freed = kept.drain(..oldest).collect();
        kept.push(buffer);
        freed
    }

    /// All that is kept, which then is not.
    pub(super) fn trim(&self) -> Vec<B> {
        core::mem::take(&mut *self.buffers())
    }
}
