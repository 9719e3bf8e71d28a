//! An allocator that counts: exact, and the same on every system, where the resident size of a process depends on pages
//! and on what the system's allocator keeps. Memory that was asked for and not touched counts, too.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use burn_scan::backends::{free_kept_memory, set_cache_limit};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

fn shrink(bytes: usize) {
    LIVE.fetch_sub(bytes, Relaxed);
}

// SAFETY: the system's allocator does the work, and the counts change nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        shrink(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(start, layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old place and the new one exist at once, unless the system extends the old one.
        grow(size);
        shrink(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.realloc(start, layout, size) }
    }
}

/// The bytes that are allocated.
pub fn live() -> usize {
    LIVE.load(Relaxed)
}

/// What a call did with memory.
pub struct Use {
    /// The most bytes at once, in addition to what existed before and what its results hold.
    pub temporary: usize,
    /// The bytes that are held once the call and all that it was given are gone.
    pub held: usize,
}

/// Measures a call. What it makes and drops counts; its results and the inputs that somebody else holds do not.
pub fn measured<R>(call: impl FnOnce() -> R) -> Use {
    // Otherwise the memory of a dropped output would count for the next one.
    set_cache_limit(0);
    free_kept_memory();
    let before = live();
    PEAK.store(before, Relaxed);
    let results = call();
    let held = live().saturating_sub(before);
    let temporary = PEAK.load(Relaxed) - before - held;
    drop(results);
    Use { temporary, held }
}
