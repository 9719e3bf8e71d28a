//! The buffer cache: large freed outputs, kept for the next outputs of their size.
//!
//! The memory of a large output costs as much as filling it: the system maps and clears it page by page on first
//! touch, and takes it back when the output is dropped. A program that scans in a loop pays this every round: a sum of
//! 2^24 `f32` takes 1.5 times as long in fresh huge pages as in cached memory.
//!
//! The cache keeps the buffers of dropped outputs, as the memory pools of GPU backends do. The next output of about
//! that size then starts in pages that are mapped, and often still in a processor cache.
//!
//! The cache keeps at most as many bytes as [`set_limit`](BufferCache::set_limit) says, and frees the oldest buffers
//! first. [`trim`](BufferCache::trim) frees all buffers in the cache.
//!
//! On Linux the system may take the pages of an idle buffer when it is short of memory; the cache offers them when the
//! next buffer comes in. A buffer whose pages were taken is as good as a fresh one.

use core::alloc::Layout;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;
use std::alloc::dealloc;

use super::buffer_list::{BufferList, Memory};
use super::huge_pages::{self, Offer};
use super::sync::{AtomicUsize, Mutex};

/// The smallest buffer that is cached: allocators keep smaller ones themselves.
pub(crate) const LEAST_BYTES: usize = 4 << 20;

/// The limit until [`set_limit`](BufferCache::set_limit) is called: two outputs of 2^24 elements of 64 bits, or four of 32.
const DEFAULT_LIMIT: usize = 256 << 20;

/// Memory of the global allocator, as large as `layout`, to which nothing else refers. Its content is undefined.
pub(crate) struct Buffer {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a buffer owns its memory, and is not tied to a thread.
unsafe impl Send for Buffer {}
// SAFETY: a shared buffer can only be read.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// The memory of a vector, its elements forgotten. They are `Copy`, so that nothing is lost.
    pub(crate) fn new<T: Copy>(vec: Vec<T>) -> Self {
        let mut vec = ManuallyDrop::new(vec);
        Self {
            layout: Layout::array::<T>(vec.capacity()).expect("the layout of a vector that exists"),
            // Not through a reference, which would cover the elements alone and not the whole capacity.
            start: NonNull::new(vec.as_mut_ptr())
                .expect("a vector's pointer is not null")
                .cast(),
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn slots(&self) -> &[MaybeUninit<u8>] {
        // SAFETY: the memory is as large as its layout says, and `self` owns it.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr().cast(), self.layout.size()) }
    }

    pub(crate) fn slots_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: as in `slots`, and `self` is borrowed for as long as the slots are.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.layout.size()) }
    }

    /// The memory, which the caller has to deallocate.
    pub(crate) fn leak(self) -> NonNull<u8> {
        ManuallyDrop::new(self).start
    }

    /// An empty vector in this memory, which has the alignment of `T` and a size that its elements fill.
    fn into_vec<T: Copy>(self) -> Vec<T> {
        let buffer = ManuallyDrop::new(self);
        assert!(buffer.layout.align() == align_of::<T>());
        let capacity = buffer.layout.size() / size_of::<T>();
        assert!(capacity * size_of::<T>() == buffer.layout.size());
        // SAFETY: the global allocator gave the memory with the layout of that capacity, and `self` owned it.
        unsafe { Vec::from_raw_parts(buffer.start.as_ptr().cast(), 0, capacity) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: the global allocator gave the memory with this layout, and `self` owns it.
            unsafe { dealloc(self.start.as_ptr(), self.layout) };
        }
    }
}

/// A buffer in the cache.
struct Cached {
    buffer: Buffer,
    offer: Offer,
}

impl Memory for Cached {
    fn layout(&self) -> Layout {
        self.buffer.layout
    }
}

/// The cache of the process.
pub(crate) static CACHE: BufferCache = BufferCache::new(DEFAULT_LIMIT);

/// An empty vector for `len` elements, in cached memory if there is a buffer of about that size.
pub(crate) fn take<T: Copy>(len: usize) -> Vec<T> {
    let bytes = len.saturating_mul(size_of::<T>());
    if bytes < LEAST_BYTES {
        return Vec::with_capacity(len);
    }
    CACHE.take(len).unwrap_or_else(|| {
        let mut vec = Vec::<T>::new();
        // `with_capacity` would end the process.
        if vec.try_reserve_exact(len).is_err() {
            let reason = format!("The system has no {bytes} bytes for a result.");
            crate::refusal::fail("Allocation", &reason);
        }
        huge_pages::ask(vec.as_ptr().cast(), bytes);
        vec
    })
}

/// The buffers of one cache.
pub(crate) struct BufferCache {
    buffers: BufferList<Cached>,
}

impl BufferCache {
    /// Keeps at most `limit` bytes.
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            buffers: BufferList::new(Mutex::new(Vec::new()), AtomicUsize::new(limit)),
        }
    }

    /// The smallest buffer that holds `len` elements, if it is at most a quarter larger.
    pub(super) fn take<T: Copy>(&self, len: usize) -> Option<Vec<T>> {
        let bytes = len * size_of::<T>();
        let cached = self.buffers.take(bytes, align_of::<T>(), size_of::<T>())?;
        Some(cached.buffer.into_vec())
    }

    /// Keeps a buffer that is no longer needed if its size allows, and frees it otherwise. Frees the oldest buffers until
    /// it fits, and offers the idle ones to the system.
    pub(crate) fn give(&self, buffer: Buffer) {
        let bytes = buffer.layout.size();
        if !(LEAST_BYTES..=self.buffers.limit()).contains(&bytes) {
            return;
        }
        let cached = Cached {
            buffer,
            offer: Offer::begin(),
        };
        // Unmapping takes a while: the buffers are dropped here, where the lock is free.
        drop(self.buffers.give(cached));
        self.buffers.for_each(|Cached { buffer, offer }| {
            offer.make_if_idle(buffer.start.as_ptr(), buffer.layout.size());
        });
    }

    /// Keeps at most `bytes` bytes from now on. A lower limit than before frees the oldest buffers at once; 0 turns the
    /// cache off.
    pub(crate) fn set_limit(&self, bytes: usize) {
        drop(self.buffers.set_limit(bytes));
    }

    /// Frees all buffers in the cache.
    pub(crate) fn trim(&self) {
        drop(self.buffers.trim());
    }
}
