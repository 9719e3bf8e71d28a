//! The parts that units walk, and the segment of an element.

use crate::scan::problem::widest_vector;
use crate::segments::bounds::bounded;
use cubecl::client::Client;
use cubecl::prelude::*;

/// Elements of a part, and the most parts. No loop may come near the 65,535 rounds after which some drivers end it.
const PART: usize = 1024;
const MOST_PARTS: usize = 1 << 14;

/// Where a segment ends; `len` behind the last segment.
#[cube]
pub(super) fn end_of<I: Numeric>(
    offsets: &[I],
    segments: usize,
    segment: usize,
    len: usize,
) -> usize {
    let end = bounded::<I>(offsets[min(segment + 1, segments)], len);
    select(segment < segments, end, len)
}

/// The segment of an element; the number of segments behind the last one. `guess` is tried first.
#[cube]
pub(super) fn locate<I: Numeric>(
    offsets: &[I],
    segments: usize,
    at: usize,
    guess: usize,
    len: usize,
) -> usize {
    let mut low = 0usize;
    let mut high = segments;
    let guess = min(guess, segments);
    let before = bounded::<I>(offsets[guess], len);
    if before <= at && at < end_of::<I>(offsets, segments, guess, len) {
        low = guess;
        high = guess;
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if end_of::<I>(offsets, segments, middle, len) <= at {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Parts of the elements, in vectors.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct Parts {
    pub count: usize,
    /// Vectors of a part, and of all.
    pub len: usize,
    pub vectors: usize,
    pub segments: usize,
}

/// The parts of `len` elements of a tensor that begins at element `begin`: the launch argument, the lanes of a vector,
/// and the elements of a part.
pub(super) fn parts_of(
    client: &Client,
    len: usize,
    (begin, size): (usize, usize),
    segments: usize,
) -> (PartsLaunch, usize, usize) {
    let lanes = widest_vector(client.io_optimized_vector_sizes(size), len | begin);
    let part = PART.max(len.div_ceil(MOST_PARTS)).next_multiple_of(lanes);
    let (vectors, of_part) = (len / lanes, part / lanes);
    let parts = PartsLaunch::new(vectors.div_ceil(of_part), of_part, vectors, segments);
    (parts, lanes, part)
}
