//! The buffer cache, as programs see it.

use crate::cpu::buffer_cache::CACHE;

/// Frees the buffer cache of the CPU backend: the memory of large outputs that were dropped, which the backend keeps
/// for its next outputs.
///
/// # Example
///
/// ```
/// burn_scan::backends::free_kept_memory();
/// ```
pub fn free_kept_memory() {
    CACHE.trim();
}

/// Sets the most bytes that the CPU backend keeps in its buffer cache: the memory of large outputs that were dropped,
/// for its next outputs. 0 turns the cache off. The default is 256 MiB. One limit holds for all threads of the process.
///
/// If the cache exceeds the new limit, the oldest buffers are freed at once. An output larger than the limit is never
/// kept.
///
/// # Example
///
/// ```
/// use burn_scan::backends::set_cache_limit;
///
/// set_cache_limit(1 << 30); // four outputs of 2^26 floats
/// set_cache_limit(0); // keeps nothing
/// ```
pub fn set_cache_limit(bytes: usize) {
    CACHE.set_limit(bytes);
}
