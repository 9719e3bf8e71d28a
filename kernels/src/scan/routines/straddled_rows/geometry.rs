//! Where the vectors, the edges and the chunks of a row lie.

use crate::scan::components::chunks::Chunks;
use crate::scan::components::tile::Row;
use cubecl::prelude::*;

/// The elements of one edge of a row, in the order of the scan.
#[derive(CubeType)]
pub(super) struct Edge {
    /// Where the first lies.
    pub start: usize,
    pub count: usize,
}

/// A row: its whole vectors, and its edges.
#[derive(CubeType)]
pub(super) struct Straddled {
    pub vectors: Row,
    pub before: Edge,
    pub behind: Edge,
}

/// Row `line` of rows of `len` elements.
#[cube]
pub(super) fn straddled_row<N: Size>(
    line: usize,
    len: usize,
    #[comptime] inputs: usize,
    #[comptime] reverse: bool,
) -> Straddled {
    let lanes = N::value().comptime();
    let (begin, end) = (line * len, (line + 1) * len);
    let (first, last) = (begin.div_ceil(lanes), end / lanes);
    let (head, tail) = (first * lanes - begin, end - last * lanes);
    let mut firsts = Sequence::<usize>::new();
    #[unroll]
    for _ in 0..inputs {
        firsts.push(first);
    }
    let vectors = Row {
        inputs: firsts,
        output: first,
        vectors: last - first,
        stored: last - first,
    };
    if comptime!(reverse) {
        Straddled {
            vectors,
            before: Edge {
                start: end - 1,
                count: tail,
            },
            behind: Edge {
                start: first * lanes - 1,
                count: head,
            },
        }
    } else {
        Straddled {
            vectors,
            before: Edge {
                start: begin,
                count: head,
            },
            behind: Edge {
                start: last * lanes,
                count: tail,
            },
        }
    }
}

/// Where the `i`-th element of an edge lies.
#[cube]
pub(super) fn place(edge: &Edge, i: usize, #[comptime] reverse: bool) -> usize {
    if comptime!(reverse) {
        edge.start - i
    } else {
        edge.start + i
    }
}

/// A chunk of a row, and its vectors.
#[derive(CubeType)]
pub(super) struct Chunk {
    /// The elements before its first own vector.
    pub head: Edge,
    /// Its own vectors, without the vector that it shares with the next chunk.
    pub first: usize,
    pub end: usize,
    /// Its own elements of that shared vector, or none.
    pub shared: Edge,
}

/// Chunk `chunk` of a row in the order of the scan. The last chunk takes all that is left.
#[cube]
pub(super) fn chunk_of_row<N: Size>(
    row: &Straddled,
    chunk: usize,
    chunks: Chunks,
    #[comptime] reverse: bool,
) -> Chunk {
    let lanes = N::value().comptime();
    let head = row.before.count;
    let first = chunk * chunks.vectors;
    let next = first + chunks.vectors;
    let is_last = chunk + 1 == chunks.per_row;
    let shares = !is_last && head > 0;
    let to_next = select(shares, next - 1, next);
    Chunk {
        head: Edge {
            start: place(&row.before, first * lanes, reverse),
            count: head,
        },
        first,
        end: select(is_last, row.vectors.vectors, to_next),
        shared: Edge {
            start: place(&row.before, head + (next - 1) * lanes, reverse),
            count: select(shares, lanes - head, 0),
        },
    }
}
