//! What becomes of large buffers.

use super::super::buffer_cache::{Buffer, LEAST_BYTES, Pool};

const LEN: usize = LEAST_BYTES / 4;

fn give(pool: &Pool, len: usize) -> *const u32 {
    let vec = Vec::<u32>::with_capacity(len);
    let start = vec.as_ptr();
    pool.give(Buffer::new(vec));
    start
}

#[test]
fn a_buffer_comes_back() {
    let pool = Pool::new(8 * LEAST_BYTES);
    let start = give(&pool, LEN);
    // Of another alignment, and too small.
    assert!(pool.take::<u64>(LEN / 2).is_none());
    assert!(pool.take::<f32>(LEN + 1).is_none());
    let mut vec = pool.take::<f32>(LEN - 5).unwrap();
    assert!(vec.as_ptr() == start.cast() && vec.is_empty() && vec.capacity() == LEN);
    vec.resize(LEN, 1.5);
    assert!(pool.take::<f32>(LEN).is_none());
}

#[test]
fn the_smallest_that_fits_is_taken() {
    let pool = Pool::new(8 * LEAST_BYTES);
    let large = give(&pool, 2 * LEN);
    let small = give(&pool, LEN + 64);
    let first = pool.take::<u32>(LEN).unwrap();
    assert!(first.as_ptr() == small);
    assert!(pool.take::<u32>(LEN).is_none());
    let second = pool.take::<u32>(2 * LEN - 7).unwrap();
    assert!(second.as_ptr() == large);
}

#[test]
fn what_is_kept_is_bounded() {
    let pool = Pool::new(3 * LEAST_BYTES);
    give(&pool, LEN - 1);
    assert!(pool.take::<u32>(LEN - 1).is_none(), "too small to be kept");
    give(&pool, 4 * LEN);
    assert!(pool.take::<u32>(4 * LEN).is_none(), "too large to be kept");
    for _ in 0..5 {
        give(&pool, LEN);
    }
    let taken: Vec<_> = (0..5).map_while(|_| pool.take::<u32>(LEN)).collect();
    assert_eq!(taken.len(), 3);
    for vec in taken {
        pool.give(Buffer::new(vec));
    }
    pool.trim();
    assert!(pool.take::<u32>(LEN).is_none());
}
