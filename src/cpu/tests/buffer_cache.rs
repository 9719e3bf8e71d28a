//! The buffer cache.

use super::super::buffer_cache::{Buffer, BufferCache, LEAST_BYTES};

const LEN: usize = LEAST_BYTES / 4;

fn give(cache: &BufferCache, len: usize) -> *const u32 {
    let vec = Vec::<u32>::with_capacity(len);
    let start = vec.as_ptr();
    cache.give(Buffer::new(vec));
    start
}

/// Takes all buffers of `LEN` elements, the oldest first, and gives them back in that order.
fn starts(cache: &BufferCache) -> Vec<*const u32> {
    let taken: Vec<_> = core::iter::from_fn(|| cache.take::<u32>(LEN)).collect();
    let starts = taken.iter().map(|vec| vec.as_ptr()).collect();
    for vec in taken {
        cache.give(Buffer::new(vec));
    }
    starts
}

#[test]
fn a_buffer_comes_back() {
    let cache = BufferCache::new(8 * LEAST_BYTES);
    let start = give(&cache, LEN);
    // These buffers have another alignment, or are too small.
    assert!(cache.take::<u64>(LEN / 2).is_none());
    assert!(cache.take::<f32>(LEN + 1).is_none());
    let mut vec = cache.take::<f32>(LEN - 5).unwrap();
    assert!(vec.as_ptr() == start.cast() && vec.is_empty() && vec.capacity() == LEN);
    vec.resize(LEN, 1.5);
    assert!(cache.take::<f32>(LEN).is_none());
}

#[test]
fn the_smallest_that_fits_is_taken() {
    let cache = BufferCache::new(8 * LEAST_BYTES);
    let large = give(&cache, 2 * LEN);
    let small = give(&cache, LEN + 64);
    let first = cache.take::<u32>(LEN).unwrap();
    assert!(first.as_ptr() == small);
    assert!(cache.take::<u32>(LEN).is_none());
    let second = cache.take::<u32>(2 * LEN - 7).unwrap();
    assert!(second.as_ptr() == large);
}

#[test]
fn the_cache_keeps_no_more_than_its_limit() {
    let cache = BufferCache::new(3 * LEAST_BYTES);
    give(&cache, LEN - 1);
    assert!(cache.take::<u32>(LEN - 1).is_none(), "too small to be kept");
    give(&cache, 4 * LEN);
    assert!(cache.take::<u32>(4 * LEN).is_none(), "too large to be kept");
    for _ in 0..5 {
        give(&cache, LEN);
    }
    let taken: Vec<_> = (0..5).map_while(|_| cache.take::<u32>(LEN)).collect();
    assert_eq!(taken.len(), 3);
    for vec in taken {
        cache.give(Buffer::new(vec));
    }
    cache.trim();
    assert!(cache.take::<u32>(LEN).is_none());
}

#[test]
fn a_lower_limit_frees_the_oldest_at_once() {
    let cache = BufferCache::new(4 * LEAST_BYTES);
    let given = [0; 4].map(|_| give(&cache, LEN));
    cache.set_limit(2 * LEAST_BYTES + 1);
    assert_eq!(starts(&cache), given[2..]);
    // There is no room for a third.
    let newest = give(&cache, LEN);
    assert_eq!(starts(&cache), [given[3], newest]);
}

#[test]
fn a_higher_limit_makes_room() {
    let cache = BufferCache::new(LEAST_BYTES);
    let first = give(&cache, LEN);
    cache.set_limit(2 * LEAST_BYTES);
    assert_eq!(starts(&cache), [first]);
    let second = give(&cache, LEN);
    assert_eq!(starts(&cache), [first, second]);
}

/// What the system may take of this process, in KiB.
#[cfg(target_os = "linux")]
fn offered() -> usize {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").expect("Linux 4.14 or later");
    let line = rollup
        .lines()
        .find_map(|line| line.strip_prefix("LazyFree:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.expect("a number of KiB").parse().unwrap()
}

/// Other tests have far smaller buffers.
#[cfg(target_os = "linux")]
#[test]
fn pages_are_offered_when_a_buffer_is_idle() {
    const BYTES: usize = 128 << 20;
    let cache = BufferCache::new(2 * BYTES);
    cache.give(Buffer::new(vec![1u8; BYTES]));
    assert!(offered() < BYTES / 2048, "a fresh one");
    std::thread::sleep(std::time::Duration::from_secs(1));
    give(&cache, LEN);
    assert!(offered() > BYTES / 2048, "an idle one");
    assert!(cache.take::<u8>(BYTES).is_some(), "it stays in the cache");
}

#[test]
fn a_limit_of_zero_turns_the_cache_off() {
    let cache = BufferCache::new(4 * LEAST_BYTES);
    give(&cache, LEN);
    cache.set_limit(0);
    assert!(cache.take::<u32>(LEN).is_none(), "what was kept is freed");
    give(&cache, LEN);
    assert!(cache.take::<u32>(LEN).is_none(), "nothing is kept");
    cache.set_limit(LEAST_BYTES);
    let start = give(&cache, LEN);
    assert_eq!(starts(&cache), [start]);
}
