//! Advice to the system about large buffers, on Linux.
//!
//! The pages of a buffer are mapped and cleared on first touch, 4 KiB at a time unless huge pages are asked for. At 64
//! MiB, a copy into memory with this advice takes a quarter of the time of a copy into memory without it.

use core::mem::MaybeUninit;
use core::ops::Range;
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use bytemuck::Zeroable;

#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// Asks for huge pages.
pub(crate) fn ask(start: *const u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    advise(start, bytes, libc::MADV_HUGEPAGE);
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

/// Fewer bytes are cleared by writing zeros.
#[cfg(target_os = "linux")]
const LEAST_CLEARED: usize = 4 * HUGE_PAGE;

/// How long a buffer is unused before the system may take its pages. A loop uses its buffers again within that time:
/// where pages are small, each must be marked for the offer and again on the next write. With an offer in every round,
/// a sum of 2^22 `f32` takes 2.2 times as long (Intel Xeon, 2 cores).
#[cfg(target_os = "linux")]
const IDLE: Duration = Duration::from_secs(1);

/// An offer to the system: it may take the memory of a buffer that became unused, until it is written again.
pub(crate) struct Offer {
    /// Other systems get no advice, and WebAssembly has no clock.
    #[cfg(target_os = "linux")]
    unused_since: Instant,
    #[cfg(target_os = "linux")]
    is_made: bool,
}

impl Offer {
    /// The buffer becomes unused.
    pub(crate) fn begin() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            unused_since: Instant::now(),
            #[cfg(target_os = "linux")]
            is_made: false,
        }
    }

    /// Offers the buffer, once, if it has been unused for long. Its content is lost.
    pub(crate) fn make_if_idle(&mut self, start: *const u8, bytes: usize) {
        #[cfg(target_os = "linux")]
        if !self.is_made && self.unused_since.elapsed() >= IDLE {
            advise(start, bytes, libc::MADV_FREE);
            self.is_made = true;
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (start, bytes);
    }
}

/// Gives the huge pages inside some slots back to the system, which are zero when they are touched again. Returns the
/// slots before and after them, which are as they were.
pub(crate) fn clear<T: Zeroable>(
    slots: &mut [MaybeUninit<T>],
) -> (&mut [MaybeUninit<T>], &mut [MaybeUninit<T>]) {
    let cleared = cleared(slots);
    let (before, rest) = slots.split_at_mut(cleared.start);
    (before, &mut rest[cleared.len()..])
}

/// The slots of `clear` that are zero.
#[cfg(target_os = "linux")]
fn cleared<T: Zeroable>(slots: &mut [MaybeUninit<T>]) -> Range<usize> {
    let start: *mut u8 = slots.as_mut_ptr().cast();
    let pages = pages_inside(start, size_of_val(slots));
    // Slots lie in a whole number of huge pages if their size divides one.
    if pages.len() >= LEAST_CLEARED
        && HUGE_PAGE.is_multiple_of(size_of::<T>())
        && start.addr().is_multiple_of(size_of::<T>())
    {
        let first = start.wrapping_add(pages.start);
        // SAFETY: the pages lie inside the slots, which have no content that counts. Memory that several mappings
        // share, or that is locked, is not zero afterwards: a byte tells.
        let is_zero = unsafe {
            first.write_volatile(1);
            libc::madvise(first.cast(), pages.len(), libc::MADV_DONTNEED) == 0
                && first.read_volatile() == 0
        };
        if is_zero {
            return pages.start / size_of::<T>()..pages.end / size_of::<T>();
        }
    }
    0..0
}

#[cfg(not(target_os = "linux"))]
fn cleared<T: Zeroable>(_slots: &mut [MaybeUninit<T>]) -> Range<usize> {
    0..0
}

/// Advises on the huge pages that lie entirely inside a buffer.
#[cfg(target_os = "linux")]
fn advise(start: *const u8, bytes: usize, advice: libc::c_int) {
    let pages = pages_inside(start, bytes);
    if !pages.is_empty() {
        let first = start.wrapping_add(pages.start).cast_mut();
        // SAFETY: the pages lie inside a buffer whose content is not read again. The result is ignored, because the
        // buffer is as good without the advice.
        unsafe { libc::madvise(first.cast(), pages.len(), advice) };
    }
}

/// The huge pages that lie entirely inside a buffer, as bytes of the buffer.
#[cfg(target_os = "linux")]
fn pages_inside(start: *const u8, bytes: usize) -> Range<usize> {
    let first = start.addr().next_multiple_of(HUGE_PAGE);
    let last = (start.addr() + bytes) / HUGE_PAGE * HUGE_PAGE;
    first - start.addr()..last.max(first) - start.addr()
}
