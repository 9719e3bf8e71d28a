//! Large buffers, kept for the next output of their size.
//!
//! The memory of a large output costs as much as filling it: the system maps and clears it page by page on first
//! touch, and takes it back when the output is dropped. A program that scans in a loop pays this every round: a sum of
//! 2^24 `f32` takes 1.5 times as long in fresh huge pages as in memory that was kept.
//!
//! The pool keeps the buffers of dropped outputs, as the memory pools of GPU backends do, and the next output of about
//! that size begins in pages that are mapped, and often still in a cache.
//!
//! What is kept is bounded by [`MOST_BYTES`], the oldest goes first, and on Linux the system is told that it may take
//! the pages of a kept buffer whenever it is short of memory; a buffer it took from is as good as a fresh one.
//! [`trim`] frees everything that is kept.

use core::alloc::Layout;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr::NonNull;
use std::alloc::dealloc;

use super::buffer_list::{BufferList, Memory};
use super::huge_pages;
use super::sync::Mutex;

/// The smallest buffer that is worth keeping: allocators keep smaller ones themselves.
pub(crate) const LEAST_BYTES: usize = 4 << 20;

/// The most that is kept: two outputs of 2^24 elements of 64 bits, or four of 32.
const MOST_BYTES: usize = 256 << 20;

/// Memory of the global allocator, as large as `layout`, that nobody else refers to. What it holds is undefined.
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
            // Not by way of a reference, which would be to the elements alone and not to the whole capacity.
            start: NonNull::new(vec.as_mut_ptr())
                .expect("a vector's pointer is not null")
                .cast(),
        }
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn slots(&self) -> &[MaybeUninit<u8>] {
        // SAFETY: the memory is as large as its layout says, and `self` its owner.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr().cast(), self.layout.size()) }
    }

    pub(crate) fn slots_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: as above, and `self` is borrowed for as long as the slots are.
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
        // SAFETY: the memory is the global allocator's, with the layout of that capacity, and this was its owner.
        unsafe { Vec::from_raw_parts(buffer.start.as_ptr().cast(), 0, capacity) }
    }
}

impl Memory for Buffer {
    fn layout(&self) -> Layout {
        self.layout
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: the memory is the global allocator's, of this layout, and this was its owner.
            unsafe { dealloc(self.start.as_ptr(), self.layout) };
        }
    }
}

static POOL: Pool = Pool::new(MOST_BYTES);

/// An empty vector for `len` elements, in memory that was kept if there is some of about that size.
pub(crate) fn take<T: Copy>(len: usize) -> Vec<T> {
    let bytes = len * size_of::<T>();
    if bytes < LEAST_BYTES {
        return Vec::with_capacity(len);
    }
    POOL.take(len).unwrap_or_else(|| {
        let vec = Vec::<T>::with_capacity(len);
        huge_pages::ask(vec.as_ptr().cast(), bytes);
        vec
    })
}

/// Keeps a buffer that is no longer needed, if it is of a size that is kept.
pub(crate) fn give(buffer: Buffer) {
    POOL.give(buffer);
}

/// Frees what is kept.
pub(crate) fn trim() {
    POOL.trim();
}

/// The buffers that are kept.
pub(super) struct Pool {
    kept: BufferList<Buffer>,
    most: usize,
}

impl Pool {
    /// Keeps at most `most` bytes.
    pub(super) const fn new(most: usize) -> Self {
        Self {
            kept: BufferList::new(Mutex::new(Vec::new()), most),
            most,
        }
    }

    /// The smallest buffer that holds `len` elements, if it is at most a quarter larger.
    pub(super) fn take<T: Copy>(&self, len: usize) -> Option<Vec<T>> {
        let bytes = len * size_of::<T>();
        let buffer = self.kept.take(bytes, align_of::<T>(), size_of::<T>())?;
        Some(buffer.into_vec())
    }

    /// Keeps `buffer`, and lets go of as many of the oldest as it takes to make room.
    pub(super) fn give(&self, buffer: Buffer) {
        let bytes = buffer.layout.size();
        if !(LEAST_BYTES..=self.most).contains(&bytes) {
            return;
        }
        huge_pages::offer(buffer.start.as_ptr(), bytes);
        // Unmapping takes a while: it is done here, where nothing is locked.
        drop(self.kept.give(buffer));
    }

    pub(super) fn trim(&self) {
        drop(self.kept.trim());
    }
}
