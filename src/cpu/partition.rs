//! Stable grouping by key: a counting sort.
//!
//! The input is cut into blocks. Each block counts its keys; a scan of the counts, key by key and block by block
//! within a key, gives every block the place of its first element of each key; then every block moves its elements
//! there. Elements of one key stay in the order they came in, since blocks and the elements of a block are taken in
//! order.
//!
//! Keys outside of `0..num_keys` are dropped.

use rayon::prelude::*;

use super::buffer::{Output, Shared};
use super::compact::Index;
use super::rows::PARALLEL;

/// The fewest elements in a block: a task of some 50 µs.
const BLOCK: usize = 1 << 15;

/// Elements in a block for each key, at the least, so that the table of counts stays small beside the input.
const ELEMENTS_PER_KEY: usize = 8;

/// The index each place of the groups takes its element from, and the `num_keys + 1` offsets of the groups.
pub(crate) fn partition_permutation<K: Index>(
    keys: &[K],
    num_keys: usize,
) -> (Vec<usize>, Vec<usize>) {
    let plan = Plan::new(keys, num_keys);
    let mut output = Output::new(plan.kept());
    let offsets = plan.place(Shared::new(output.slots()), |index| index);
    // SAFETY: there are as many slots as elements that are kept.
    (unsafe { output.finish() }, offsets)
}

/// Where the elements go.
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
            let count = |(counts, keys): (&mut [usize], &[K])| {
                for &key in keys {
                    if let Some(count) = counts.get_mut(key.to_usize()) {
                        *count += 1;
                    }
                }
            };
            if keys.len() < PARALLEL {
                cursors
                    .chunks_mut(num_keys)
                    .zip(keys.chunks(block))
                    .for_each(count);
            } else {
                cursors
                    .par_chunks_mut(num_keys)
                    .zip(keys.par_chunks(block))
                    .for_each(count);
            }
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

    /// The number of elements whose key is in range.
    fn kept(&self) -> usize {
        self.offsets[self.num_keys]
    }

    /// Writes `value(index)` to the place of each element that is kept. Returns the offsets.
    fn place<T: Send>(
        mut self,
        groups: Shared<'_, T>,
        value: impl Fn(usize) -> T + Sync,
    ) -> Vec<usize> {
        if self.kept() == 0 {
            return self.offsets;
        }
        let block = self.block;
        let move_block = |(number, (cursors, keys)): (usize, (&mut [usize], &[K]))| {
            for (index, &key) in keys.iter().enumerate() {
                if let Some(cursor) = cursors.get_mut(key.to_usize()) {
                    // SAFETY: the counts gave each block as many places of a key as it has elements of it, and the
                    // places of all blocks and keys follow each other up to the number of slots.
                    unsafe { groups.write(*cursor, value(number * block + index)) };
                    *cursor += 1;
                }
            }
        };
        let cursors = &mut self.cursors;
        if self.keys.len() < PARALLEL {
            cursors
                .chunks_mut(self.num_keys)
                .zip(self.keys.chunks(block))
                .enumerate()
                .for_each(move_block);
        } else {
            cursors
                .par_chunks_mut(self.num_keys)
                .zip(self.keys.par_chunks(block))
                .enumerate()
                .for_each(move_block);
        }
        self.offsets
    }
}
