//! Whether scans are batch-invariant: a setting of the process.

use core::sync::atomic::{AtomicBool, Ordering};

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Sets whether a line's bits must depend on that line alone: its elements, their dtype, the operator and the
/// direction, on one device. Then a request has the same bits in a batch of one as in a batch of a thousand, which
/// helps whoever serves a model or replays a run.
///
/// It holds for scans of floats, recurrences, segmented scans and `logcumsumexp`, and for Burn's own `cumsum` and
/// `cumprod` after [`install()`](crate::install()). The CPU backend always works in this way. On other devices it is
/// off by default, because it costs time:
///
/// - rows of at most half a tile (4,096 `f32` on a GPU) have a cube each, unless their length is a power of two or a
///   multiple of 512;
/// - columns are scanned in tiles of 128 rows by at most 32 vectors, even if they are few.
///
/// A column counts as one if there are several: a single column is a row, which is added up in another order.
///
/// docs/algorithms.md says what holds without it. Set it before the first scan: a lazy device reads it when a scan
/// runs. A remote server has a setting of its own.
///
/// # Example
///
/// ```
/// burn_scan::backends::set_batch_invariance(true);
/// ```
pub fn set_batch_invariance(is_on: bool) {
    IS_ON.store(is_on, Ordering::Relaxed);
}

#[cfg(feature = "cubecl-backend")]
pub(crate) fn is_batch_invariant() -> bool {
    IS_ON.load(Ordering::Relaxed)
}
