//! The copy that the CPU engine is compared with: all threads, a fresh uninitialised output, huge pages.
//!
//! Each copy starts its threads, about 30 µs per thread, so small copies stay on one thread.

#![cfg(feature = "flex")]

use std::mem::MaybeUninit;

/// From this size, the memory bandwidth of further threads saves more than the start of a thread costs.
const PARALLEL_BYTES: usize = 4 << 20;

/// A copy of `input`, in as many parts as there are cores.
pub fn copy_parallel<T: Copy + Send + Sync>(input: &[T]) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if size_of_val(input) < PARALLEL_BYTES {
        1
    } else {
        cores
    };
    let part = input.len().div_ceil(threads).max(1);
    let mut output = Vec::with_capacity(input.len());
    advise_huge_pages(&output);
    let slots = &mut output.spare_capacity_mut()[..input.len()];
    std::thread::scope(|scope| {
        let mut parts = input.chunks(part).zip(slots.chunks_mut(part));
        let own = parts.next();
        for (from, to) in parts {
            scope.spawn(|| copy(from, to));
        }
        if let Some((from, to)) = own {
            copy(from, to);
        }
    });
    // SAFETY: the parts cover the first `input.len()` elements, and each part has been written by its thread.
    unsafe { output.set_len(input.len()) };
    output
}

fn copy<T: Copy>(from: &[T], to: &mut [MaybeUninit<T>]) {
    to.write_copy_of_slice(from);
}

#[cfg(target_os = "linux")]
fn advise_huge_pages<T>(buffer: &Vec<T>) {
    const HUGE_PAGE: usize = 2 << 20;

    let start = buffer.as_ptr() as usize;
    let first = start.next_multiple_of(HUGE_PAGE);
    let last = (start + buffer.capacity() * size_of::<T>()) / HUGE_PAGE * HUGE_PAGE;
    if first < last {
        // SAFETY: the pages lie inside the allocation, and the advice changes no content. It may fail without harm.
        unsafe {
            libc::madvise(
                first as *mut libc::c_void,
                last - first,
                libc::MADV_HUGEPAGE,
            )
        };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages<T>(_: &Vec<T>) {}
