//! Advice to the system about large buffers, on Linux.
//!
//! The pages of a buffer are mapped and cleared on first touch, 4 KiB at a time unless huge pages are asked for. At
//! 64 MiB, a copy into memory with this advice takes a quarter of the time of a copy into memory without.

#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;

/// Asks for huge pages.
pub(crate) fn ask(start: *const u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    advise(start, bytes, libc::MADV_HUGEPAGE);
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

/// Allows the system to take the memory, until it is written again. Its content is lost.
pub(crate) fn offer(start: *const u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    advise(start, bytes, libc::MADV_FREE);
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
}

/// Advises on the huge pages that lie inside a buffer. Less than two of them are left out.
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
