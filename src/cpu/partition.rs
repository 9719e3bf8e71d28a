//! Stable grouping by key: a counting sort.
//!
//! ```text
//! keys     2 0 2 1 0          counts  2 1 2          offsets  0 2 3 5
//! places   3 0 4 2 1          the first place of each key, and one more for each of its elements
//! ```
//!
//! The input is split into blocks. Each block counts its keys. A scan of the counts, key by key and block by block
//! within a key, gives every block the place of its first element of each key. Then every block numbers its elements
//! from there. Elements of one key stay in order, since blocks and the elements of a block are taken in order.
//!
//! A single block counts in the offsets themselves. When it has numbered the elements of a key, the place of the next
//! one is where the next key starts, which is an offset. So a large number of keys with few elements needs only the
//! memory of the offsets.
//!
//! Keys outside `0..num_keys` are dropped.

use core::mem::MaybeUninit;

use super::buffer::{Output, SharedSlice};
use super::compact::fill_default;
use super::compress::Index;
use super::parallel;

/// The fewest elements in a block: a task of some 50 µs.
const BLOCK: usize = 1 << 15;

/// The fewest elements in a block for each key, so that the table of counts is small compared with the input.
const ELEMENTS_PER_KEY: usize = 8;

/// The place of a dropped key. As an index of as many bits or fewer it is −1.
const NOWHERE: usize = usize::MAX;

/// The destination of each key: its place in the groups, or −1 for a key that is dropped; and the `num_keys + 1`
/// offsets of the groups.
pub(crate) fn partition_ranks<K: Index, I: Index>(keys: &[K], num_keys: usize) -> (Vec<I>, Vec<I>) {
    let mut destinations = Output::new(keys.len());
    let mut offsets = Output::new(num_keys + 1);
    fill_default(offsets.slots());
    // SAFETY: each slot is zero.
    let mut offsets = unsafe { offsets.finish() };
    let block = BLOCK.max(num_keys.saturating_mul(ELEMENTS_PER_KEY));
    if keys.len() <= block {
        in_one_block(keys, &mut offsets[1..], destinations.slots());
    } else {
        in_blocks(keys, block, &mut offsets[1..], destinations.slots());
    }
    // SAFETY: the destination of every key has been written.
    (unsafe { destinations.finish() }, offsets)
}

/// Writes the destinations. Zeros in `ends`, one for each key, become the end of each key's group.
fn in_one_block<K: Index, I: Index>(
    keys: &[K],
    ends: &mut [I],
    destinations: &mut [MaybeUninit<I>],
) {
    count(keys, ends);
    let mut place = 0usize;
    for count in &mut *ends {
        let start = I::from_usize(place);
        place = place.wrapping_add(core::mem::replace(count, start).to_usize());
    }
    place_block(ends, keys, destinations);
}

/// The same in blocks, shared by several threads.
fn in_blocks<K: Index, I: Index>(
    keys: &[K],
    block: usize,
    ends: &mut [I],
    destinations: &mut [MaybeUninit<I>],
) {
    let num_keys = ends.len();
    if num_keys == 0 {
        destinations.fill(MaybeUninit::new(I::from_usize(NOWHERE)));
        return;
    }
    // For each block, the number of its elements of each key, then the place of its first one.
    let mut cursors = vec![0; keys.len().div_ceil(block) * num_keys];
    parallel::for_each_part_of(keys.len(), &mut cursors, num_keys, &|at, counts| {
        let keys = &keys[at / num_keys * block..];
        count(&keys[..block.min(keys.len())], counts);
    });
    let mut place = 0;
    for (key, end) in ends.iter_mut().enumerate() {
        for counts in cursors.chunks_mut(num_keys) {
            let count = core::mem::replace(&mut counts[key], place);
            place += count;
        }
        *end = I::from_usize(place);
    }
    let cursors = SharedSlice::new(&mut cursors);
    parallel::for_each_part_of(keys.len(), destinations, block, &|first, destinations| {
        let at = first / block * num_keys;
        // SAFETY: each block has cursors of its own, and is taken once.
        let cursors = unsafe { cursors.slice(at..at + num_keys) };
        place_block(cursors, &keys[first..], destinations);
    });
}

/// Writes the destinations of a block of keys. `cursors` has the place of its next element of each key.
fn place_block<K: Index, I: Index, C: Index>(
    cursors: &mut [C],
    keys: &[K],
    destinations: &mut [MaybeUninit<I>],
) {
    for (destination, &key) in destinations.iter_mut().zip(keys) {
        let mut place = NOWHERE;
        if let Some(cursor) = cursors.get_mut(key.to_usize()) {
            place = cursor.to_usize();
            step(cursor);
        }
        destination.write(I::from_usize(place));
    }
}

/// Counts the elements of each key.
fn count<K: Index, C: Index>(keys: &[K], counts: &mut [C]) {
    for &key in keys {
        if let Some(count) = counts.get_mut(key.to_usize()) {
            step(count);
        }
    }
}

#[inline(always)]
fn step<C: Index>(count: &mut C) {
    *count = C::from_usize(count.to_usize().wrapping_add(1));
}
