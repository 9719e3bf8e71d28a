//! Advice to the system about large buffers, on Linux.
//!
//! The pages of a buffer are mapped and cleared on first touch, 4 KiB at a time unless huge pages are asked for. At 64
//! MiB, a copy into memory with this advice takes a quarter of the time of a copy into memory without it.

#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// Asks for huge pages.
pub(crate) fn ask(start: *const u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    advise(start, bytes, libc::MADV_HUGEPAGE);
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

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

/// Advises on the huge pages that lie entirely inside a buffer.
#[cfg(target_os = "linux")]
fn advise(start: *const u8, bytes: usize, advice: libc::c_int) {
    let first = start.addr().next_multiple_of(HUGE_PAGE);
    let last = (start.addr() + bytes) / HUGE_PAGE * HUGE_PAGE;
    if first < last {
        let first = start.wrapping_add(first - start.addr()).cast_mut();
        // SAFETY: the pages lie inside a buffer whose content is not read again. The result is ignored, because the
        // buffer is as good without the advice.
        unsafe { libc::madvise(first.cast(), last - first.addr(), advice) };
    }
}
