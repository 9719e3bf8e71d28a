//! A row, and the vectors that a unit loads from it.

use crate::scan::components::args::Reads;
use crate::scan::components::tensors::{Edges, Loaded, stored_at};
use cubecl::prelude::*;

/// A row in memory. Offsets are in vectors, or in elements if it is read element by element.
#[derive(CubeType)]
pub(crate) struct Row {
    /// Where the row begins in each input.
    pub inputs: Sequence<usize>,
    /// Where it begins in the output.
    pub output: usize,
    /// Its length in vectors.
    pub vectors: usize,
    /// Its length in vectors, or in elements if the row is read element by element.
    pub stored: usize,
}

/// A logical vector of each input; beyond the row, its last.
#[cube]
pub(crate) fn load_vectors<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    row: &Row,
    logical: usize,
    #[comptime] reverse: bool,
) -> Loaded<T, N> {
    let lanes = N::value().comptime();
    let logical = min(logical, row.vectors - 1);
    let at = stored_at(logical, row.vectors, reverse);
    let mut vectors = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..comptime!(reads.inputs) {
        vectors.push(reads.vector(i, row.inputs[i] + at));
    }
    let mut edges = Edges::new();
    #[unroll]
    for lane in 0..lanes {
        let index = (row.output + at) * lanes + lane;
        let position = at * lanes + lane;
        let len = row.vectors * lanes;
        edges.push::<T, N, B>(reads, index, position, len, 1usize, reverse);
    }
    Loaded::<T, N> {
        vectors,
        edges,
        position: at * lanes,
        step: 1usize,
    }
}
