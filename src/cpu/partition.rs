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
//! Keys outside `0..num_keys` are dropped. What a destination is for, to be kept or to move a value, is a reference to a
//! function, so that the counting sort is compiled once for a type of keys.

use core::mem::MaybeUninit;

use super::buffer::{Output, Shared};
use super::compact::fill_default;
use super::compress::{Index, Word};
use super::parallel;

/// The fewest elements in a block: a task of some 50 µs.
const BLOCK: usize = 1 << 15;

/// The fewest elements in a block for each key, so that the table of counts is small compared with the input.
const ELEMENTS_PER_KEY: usize = 8;

/// Destinations that are found before the first of them is used.
const FOUND: usize = 1 << 10;

/// The place of a dropped key. As an index of as many bits or fewer it is −1.
const NOWHERE: usize = usize::MAX;

/// Takes the number of a key and the destinations of the keys from there on. No destination of another call is among
/// them, but [`NOWHERE`].
type Use<'a> = dyn Fn(usize, &[usize]) + Sync + 'a;

/// The destination of each key: its place in the groups, or −1 for a key that is dropped; and the `num_keys + 1`
/// offsets of the groups.
pub(crate) fn partition_ranks<K: Index, I: Index>(keys: &[K], num_keys: usize) -> (Vec<I>, Vec<I>) {
    let mut destinations = Output::new(keys.len());
    let slots = Shared::new(destinations.slots());
    let offsets = find(keys, num_keys, &|first, found| {
        // SAFETY: no two calls have a key in common.
        let slots = unsafe { slots.slice(first..first + found.len()) };
        for (slot, &place) in slots.iter_mut().zip(found) {
            slot.write(I::from_usize(place));
        }
    });
    // SAFETY: the destination of every key has been written.
    (unsafe { destinations.finish() }, offsets)
}

/// The values in groups of one key, followed by zeros, and the `num_keys + 1` offsets of the groups.
pub(crate) fn partition<T: Word, K: Index, I: Index>(
    values: &[T],
    keys: &[K],
    num_keys: usize,
) -> (Vec<T>, Vec<I>) {
    assert_eq!(values.len(), keys.len(), "one key for each value");
    let mut output = Output::new(values.len());
    let slots = Shared::new(output.slots());
    let offsets: Vec<I> = find(keys, num_keys, &|first, found| {
        for (&value, &place) in values[first..].iter().zip(found) {
            if place != NOWHERE {
                // SAFETY: no two keys have one destination.
                unsafe { slots.set(place, MaybeUninit::new(value)) };
            }
        }
    });
    let kept = offsets.last().map_or(0, |end| end.to_usize());
    fill_default(&mut output.slots()[kept..]);
    // SAFETY: the groups and the zeros are the whole output.
    (unsafe { output.finish() }, offsets)
}

/// Hands over the destination of each key, and returns the offsets of the groups.
fn find<K: Index, I: Index>(keys: &[K], num_keys: usize, destinations: &Use<'_>) -> Vec<I> {
    let mut offsets = Output::new(num_keys + 1);
    fill_default(offsets.slots());
    // SAFETY: each slot is zero.
    let mut offsets = unsafe { offsets.finish() };
    let block = BLOCK.max(num_keys.saturating_mul(ELEMENTS_PER_KEY));
    if keys.len() <= block {
        in_one_block(keys, &mut offsets[1..], destinations);
    } else {
        in_blocks(keys, block, &mut offsets[1..], destinations);
    }
    offsets
}

/// Zeros in `ends`, one for each key, become the end of each key's group.
fn in_one_block<K: Index, I: Index>(keys: &[K], ends: &mut [I], destinations: &Use<'_>) {
    count(keys, ends);
    let mut place = 0usize;
    for count in &mut *ends {
        let start = I::from_usize(place);
        place = place.wrapping_add(core::mem::replace(count, start).to_usize());
    }
    place_block(ends, 0, keys, destinations);
}

/// The same in blocks, shared by several threads.
fn in_blocks<K: Index, I: Index>(keys: &[K], block: usize, ends: &mut [I], destinations: &Use<'_>) {
    // Without keys there is nothing to count.
    let num_keys = ends.len().max(1);
    // For each block, the number of its elements of each key, then the place of its first one.
    let mut cursors = vec![0; keys.len().div_ceil(block) * num_keys];
    parallel::for_each_part_of(keys.len(), &mut cursors, num_keys, &|at, counts| {
        let keys = &keys[at / num_keys * block..];
        count(&keys[..block.min(keys.len())], &mut counts[..ends.len()]);
    });
    let mut place = 0;
    for (key, end) in ends.iter_mut().enumerate() {
        for counts in cursors.chunks_mut(num_keys) {
            let count = core::mem::replace(&mut counts[key], place);
            place += count;
        }
        *end = I::from_usize(place);
    }
    parallel::for_each_part_of(keys.len(), &mut cursors, num_keys, &|at, cursors| {
        let first = at / num_keys * block;
        let keys = &keys[first..keys.len().min(first + block)];
        place_block(&mut cursors[..ends.len()], first, keys, destinations);
    });
}

/// Hands over the destinations of a block of keys, whose first one has the number `first`. `cursors` has the place of the
/// next element of each key.
fn place_block<K: Index, C: Index>(
    cursors: &mut [C],
    first: usize,
    keys: &[K],
    destinations: &Use<'_>,
) {
    let room = &mut [NOWHERE; FOUND];
    for (part, keys) in keys.chunks(FOUND).enumerate() {
        let found = &mut room[..keys.len()];
        for (place, &key) in found.iter_mut().zip(keys) {
            *place = NOWHERE;
            if let Some(cursor) = cursors.get_mut(key.to_usize()) {
                *place = cursor.to_usize();
                step(cursor);
            }
        }
        destinations(first + part * FOUND, found);
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
