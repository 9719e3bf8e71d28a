//! The first few elements of a line in order, without a sort of the line.
//!
//! The line is read once. Elements that may be among the first are kept, with their positions, until they are twice as
//! many as are wanted. Then the first of them are selected, and the last of these is the limit: what comes later in the
//! line is kept only if its key is smaller, since of equal elements the first counts. A chunk of the line whose
//! smallest key reaches the limit is skipped at once. Of `n` elements in random order, all but about `k · ln(n / k)`
//! are skipped.

use super::super::buffer::{Output, Shared};
use super::super::compress::Index;
use super::super::parallel;
use super::super::processor::vectorize;
use super::keys::{Bits, Integers, Order};
use super::lines::SortInput;

/// Where more than one element in this many is wanted, the line is sorted. Not measured.
const FEW: usize = 8;

/// Elements whose smallest key is found before any of them is read singly. Not measured.
const CHUNK: usize = 256;

/// The fewest elements that are kept before the first are selected. Not measured.
const KEPT: usize = 1024;

/// The fewest elements of a part, where several threads share a line. Not measured.
const PART: usize = 1 << 16;

/// Whether `k` elements of a line are found without a sort.
pub(super) fn is_few(k: usize, len: usize) -> bool {
    k <= len / FEW
}

impl<B: Bits> SortInput<'_, B> {
    /// The first `k` elements of each line, and their positions.
    pub(super) fn first<O: Order<B>, I: Index>(&self, k: usize, order: O) -> (Vec<B>, Vec<I>) {
        let elements = self.outer * k * self.inner;
        if elements == 0 {
            return (Vec::new(), Vec::new());
        }
        let (mut values, mut positions) = (Output::new(elements), Output::new(elements));
        let value_slots = Shared::new(values.slots());
        let position_slots = Shared::new(positions.slots());
        let one = |line: usize, values: &[B]| {
            let first = first_of_line(values, k, order, self.are_long());
            let bits: Vec<B> = first.iter().map(|&(_, at)| values[at]).collect();
            let at: Vec<I> = first.iter().map(|&(_, at)| I::from_usize(at)).collect();
            self.store_line(line, &bits, &value_slots);
            self.store_line(line, &at, &position_slots);
        };
        self.for_each_group::<B>(&|groups| match self.inner {
            1 => groups.flatten().for_each(|row| {
                one(row, self.row(row));
            }),
            // Loaded as they are: the key of this order is the number itself.
            _ => self.load_each(groups, Integers::unsigned(false), &mut |group, items| {
                for (line, values) in group.clone().zip(items.chunks_exact(self.len)) {
                    one(line, values);
                }
            }),
        });
        // SAFETY: `k` places of every line have been written.
        unsafe { (values.finish(), positions.finish()) }
    }
}

/// A key as 64 bits, which takes no more room with a position, and the position.
type Candidate = (u64, usize);

/// Keys and positions of the first `k` elements, in order.
fn first_of_line<B: Bits, O: Order<B>>(
    line: &[B],
    k: usize,
    order: O,
    is_long: bool,
) -> Vec<Candidate> {
    let part = if is_long { PART.max(2 * k) } else { line.len() };
    let mut parts = vec![Vec::new(); line.len().div_ceil(part)];
    let elements = if is_long { line.len() } else { 0 };
    parallel::for_each_part_of(elements, &mut parts, 1, &|at, kept| {
        let first = at * part;
        let end = line.len().min(first + part);
        kept[0] = candidates(&line[first..end], first, k, order);
    });
    let mut all = parts.concat();
    select(&mut all, k);
    all.sort_unstable();
    all
}

/// Keys and positions of the first `k` elements of `part`, which starts at position `start`. In any order.
fn candidates<B: Bits, O: Order<B>>(
    part: &[B],
    start: usize,
    k: usize,
    order: O,
) -> Vec<Candidate> {
    let room = KEPT.max(2 * k);
    let mut kept: Vec<Candidate> = Vec::with_capacity(room + CHUNK);
    let mut limit = None;
    for (at, chunk) in part.chunks(CHUNK).enumerate() {
        if let Some(limit) = limit
            && smallest(chunk, order).wide() >= limit
        {
            continue;
        }
        for (i, &bits) in chunk.iter().enumerate() {
            let key = (order.key(bits) & order.mask()).wide();
            if limit.is_none_or(|limit| key < limit) {
                kept.push((key, start + at * CHUNK + i));
            }
        }
        if kept.len() >= room {
            limit = select(&mut kept, k);
        }
    }
    select(&mut kept, k);
    // The candidates of all parts wait for each other.
    kept.shrink_to_fit();
    kept
}

fn smallest<B: Bits, O: Order<B>>(chunk: &[B], order: O) -> B {
    vectorize!({
        chunk.iter().fold(B::ALL, |smallest, &bits| {
            smallest.min(order.key(bits) & order.mask())
        })
    })
}

/// Keeps the first `k` of more, and returns the key of the last of them.
fn select(kept: &mut Vec<Candidate>, k: usize) -> Option<u64> {
    if kept.len() <= k {
        return None;
    }
    let (_, &mut (key, _), _) = kept.select_nth_unstable(k - 1);
    kept.truncate(k);
    Some(key)
}
