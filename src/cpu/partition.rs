//! Stable grouping by key: a counting sort.
//!
//! The input is split into blocks. Each block counts its keys. A scan of the counts, key by key and block by block
//! within a key, gives every block the place of its first element of each key. Then every block numbers its elements
//! from there. Elements of one key stay in order, since blocks and the elements of a block are taken in order.
//!
//! Keys outside of `0..num_keys` are dropped.

use core::mem::MaybeUninit;

use super::buffer::{Output, SharedSlice};
use super::compress::Index;
use super::parallel;

/// The fewest elements in a block: a task of some 50 µs.
const BLOCK: usize = 1 << 15;

/// The fewest elements in a block for each key, so that the table of counts is small beside the input.
const ELEMENTS_PER_KEY: usize = 8;

/// The place of a dropped key. As an index of as many bits or fewer it is −1.
const NOWHERE: usize = usize::MAX;

/// For each key its destination, which is its place in the groups, or −1 for a key that is dropped; and the
/// `num_keys + 1` offsets of the groups.
pub(crate) fn partition_ranks<K: Index, I: Index>(keys: &[K], num_keys: usize) -> (Vec<I>, Vec<I>) {
    let plan = Plan::new(keys, num_keys);
    let mut destinations = Output::new(keys.len());
    let offsets = plan.place(destinations.slots());
    let offsets = offsets.into_iter().map(I::from_usize).collect();
    // SAFETY: the plan has written a destination for every key.
    (unsafe { destinations.finish() }, offsets)
}

/// The destinations of the elements.
struct Plan<'a, K> {
    keys: &'a [K],
    num_keys: usize,
    block: usize,
    /// For each block, the place of its first element of each key.
    cursors: Vec<usize>,
    offsets: Vec<usize>,
}

impl<'a, K: Index> Plan<'a, K> {
    fn new(keys: &'a [K], num_keys: usize) -> Self {
        let block = BLOCK.max(num_keys.saturating_mul(ELEMENTS_PER_KEY));
        let mut cursors = vec![0; keys.len().div_ceil(block) * num_keys];
        let mut offsets = vec![0; num_keys + 1];
        if num_keys > 0 {
            parallel::for_each_part_of(keys.len(), &mut cursors, num_keys, &|at, counts| {
                for &key in keys[at / num_keys * block..].iter().take(block) {
                    if let Some(count) = counts.get_mut(key.to_usize()) {
                        *count += 1;
                    }
                }
            });
            let mut place = 0;
            for key in 0..num_keys {
                for counts in cursors.chunks_mut(num_keys) {
                    let count = core::mem::replace(&mut counts[key], place);
                    place += count;
                }
                offsets[key + 1] = place;
            }
        }
        Self {
            keys,
            num_keys,
            block,
            cursors,
            offsets,
        }
    }

    /// Writes the destination of each key. Returns the offsets.
    fn place<I: Index>(mut self, destinations: &mut [MaybeUninit<I>]) -> Vec<usize> {
        if self.num_keys == 0 {
            destinations.fill(MaybeUninit::new(I::from_usize(NOWHERE)));
            return self.offsets;
        }
        let (keys, num_keys) = (self.keys, self.num_keys);
        let cursors = SharedSlice::new(&mut self.cursors);
        parallel::for_each_part_of(
            keys.len(),
            destinations,
            self.block,
            &|first, destinations| {
                let at = first / self.block * num_keys;
                // SAFETY: each block has cursors of its own, and is taken once.
                let cursors = unsafe { cursors.slice(at..at + num_keys) };
                place_block(cursors, &keys[first..], destinations);
            },
        );
        self.offsets
    }
}

/// Writes the destinations of a block of keys. `cursors` has the place of its next element of each key.
fn place_block<K: Index, I: Index>(
    cursors: &mut [usize],
    keys: &[K],
    destinations: &mut [MaybeUninit<I>],
) {
    for (destination, &key) in destinations.iter_mut().zip(keys) {
        let mut place = NOWHERE;
        if let Some(cursor) = cursors.get_mut(key.to_usize()) {
            place = *cursor;
            *cursor += 1;
        }
        destination.write(I::from_usize(place));
    }
}
