//! The engine against oracles of a few lines each.

mod buffer_cache;
mod compact;
mod extremum;
mod lanes;
mod log_sum_exp;
mod ragged;
mod range;
mod recurrences;
mod scan;
mod segments;
mod sort;

use std::io::Write;

use super::element::TILE;
use super::*;

/// A scan of a contiguous tensor.
fn scan<T: ElementType>(
    input: &[T],
    shape: [usize; 3],
    op: ScanOp,
    exclusive: bool,
    reverse: bool,
) -> Vec<T> {
    super::scan(input, shape, shape[1] * shape[2], op, exclusive, reverse)
}

/// Lengths around every size at which the engine takes another path.
const LENGTHS: [usize; 17] = [
    0,
    1,
    2,
    7,
    127,
    128,
    129,
    TILE - 1,
    TILE,
    TILE + 1,
    3 * TILE + 133,
    (1 << 15) - 1,
    1 << 15,
    (1 << 16) + 129,
    (1 << 17) + 1,
    (1 << 20) - 1,
    (1 << 20) + TILE + 9,
];

/// Whether a test has time for this many elements. Under valgrind everything takes fifty times as long. The tests that
/// remain there still reach every path, also the paths of several threads.
fn has_time_for(elements: usize) -> bool {
    const MOST: usize = 160_000;
    let has_time = elements <= MOST || std::env::var_os("BURN_SCAN_MEMCHECK").is_none();
    if !has_time {
        // Written, since the harness captures what a passing test prints.
        let line =
            format!("\nleft out under BURN_SCAN_MEMCHECK: {elements} elements, more than {MOST}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
    has_time
}

const OPS: [ScanOp; 4] = [ScanOp::Sum, ScanOp::Prod, ScanOp::Max, ScanOp::Min];

/// Whether a scan is exclusive, and whether it is reverse.
const WAYS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

/// The places of the elements of each line along the middle dimension, in the order of a scan.
fn line_places([outer, len, inner]: [usize; 3], reverse: bool) -> impl Iterator<Item = Vec<usize>> {
    (0..outer * inner).map(move |line| {
        let place = |step: usize| {
            let along = if reverse { len - 1 - step } else { step };
            (line / inner * len + along) * inner + line % inner
        };
        (0..len).map(place).collect()
    })
}

/// A small generator, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    fn mask(&mut self, len: usize, percent: u64) -> Vec<u8> {
        (0..len)
            .map(|_| {
                if self.next() % 100 < percent {
                    1 + (self.next() % 255) as u8
                } else {
                    0
                }
            })
            .collect()
    }
}
