//! Narrow tiles of columns: units read a tile's vectors in the order of memory, and exchange them in shared memory.
//!
//! ```text
//! in memory    r0x0 r0x1 r1x0 r1x1 r2x0 r2x1 …     two vectors a row: neighbouring units load neighbouring vectors
//! in shared    the same order, with a gap behind every eighth
//! unit (x, y)  the rows of y, in column x
//! ```
//!
//! If rows are shorter than what a plane reads at once, units that walk down their own rows would read a few bytes of
//! many cache lines. Results go back the same way. Without the gaps, the rows of neighbouring units would lie in one
//! bank of shared memory.

use super::columns::{Column, ColumnsView};
use super::tensors::{Edges, Loaded, Reads, Writes};
use cubecl::prelude::*;

/// Vectors between two gaps. 8 vectors of 16 bytes cover all banks of an NVIDIA GPU.
const BETWEEN_GAPS: usize = 8;

/// The comptime facts of an exchange.
#[derive_cube_comptime]
pub(crate) struct ExchangeConfig {
    /// Units of the cube, and rows of each.
    pub units: usize,
    pub rows: usize,
    pub reverse: bool,
}

/// Vectors of shared memory for one tensor.
pub(crate) fn room(config: ExchangeConfig) -> usize {
    let held = config.units * config.rows;
    held + held / BETWEEN_GAPS
}

/// A cube's tile: where it begins, and how many vectors it has. Rows of the tile are rows of the view.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct NarrowTile {
    /// Its first logical row.
    pub first: usize,
    pub vectors: usize,
}

/// Where a vector of the tile lies in shared memory.
#[cube]
fn place(vector: usize, #[comptime] tensor: usize, #[comptime] config: ExchangeConfig) -> usize {
    comptime!(tensor * room(config)) + vector + vector / BETWEEN_GAPS
}

/// The vector of the tile that a unit loads or stores in a turn.
#[cube]
fn in_turn(#[comptime] turn: usize, #[comptime] config: ExchangeConfig) -> usize {
    comptime!(turn * config.units) + UNIT_POS as usize
}

/// Loads the tile, each vector once. `column` is the unit's own. Rows beyond the last repeat it. A barrier must follow
/// before units read.
#[cube]
pub(crate) fn load_tile<T: Numeric, N: Size, B: Numeric>(
    shared: &mut Shared<[Vector<T, N>]>,
    reads: &Reads<T, N, B>,
    view: &ColumnsView,
    column: &Column,
    tile: NarrowTile,
    #[comptime] config: ExchangeConfig,
) {
    let inputs = reads.inputs.len().comptime();
    let mut loaded = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for turn in 0..config.rows {
        let at = min(in_turn(turn, config), tile.vectors - 1);
        let (row, x) = view.by_width.div_mod(at);
        let position = view.stored(min(tile.first + row, view.len - 1), config.reverse);
        #[unroll]
        for i in 0..inputs {
            let begin = column.inputs[i] - column.x;
            loaded.push(reads.inputs[i][begin + x + position * view.strides[i]]);
        }
    }
    #[unroll]
    for turn in 0..config.rows {
        let at = in_turn(turn, config);
        if at < tile.vectors {
            #[unroll]
            for i in 0..inputs {
                shared[place(at, i, config)] = loaded[comptime!(turn * inputs + i)];
            }
        }
    }
}

/// The vector of the tile that is row `k` of the `y`-th unit's rows.
#[cube]
fn own_vector(
    view: &ColumnsView,
    column: &Column,
    y: usize,
    #[comptime] k: usize,
    #[comptime] config: ExchangeConfig,
) -> usize {
    (y * config.rows + k) * view.width + column.x
}

/// Row `k` of the `y`-th unit's rows, from shared memory.
#[cube]
pub(crate) fn own_row<T: Numeric, N: Size>(
    shared: &Shared<[Vector<T, N>]>,
    view: &ColumnsView,
    column: &Column,
    y: usize,
    #[comptime] k: usize,
    #[comptime] inputs: usize,
    #[comptime] config: ExchangeConfig,
) -> Loaded<T, N> {
    let at = own_vector(view, column, y, k, config);
    let mut vectors = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..inputs {
        vectors.push(shared[place(at, i, config)]);
    }
    Loaded::<T, N> {
        vectors,
        edges: Edges::new(),
        position: view.stored(min(column.first + k, view.len - 1), config.reverse),
        step: 0usize,
    }
}

/// Leaves the results of such a row in its place in shared memory.
#[cube]
pub(crate) fn leave_row<T: Numeric, N: Size>(
    shared: &mut Shared<[Vector<T, N>]>,
    results: &Sequence<Vector<T, N>>,
    view: &ColumnsView,
    column: &Column,
    y: usize,
    #[comptime] k: usize,
    #[comptime] config: ExchangeConfig,
) {
    let at = own_vector(view, column, y, k, config);
    #[unroll]
    for i in 0..results.len().comptime() {
        shared[place(at, i, config)] = results[i];
    }
}

/// Stores the tile, once all results are in shared memory.
#[cube]
pub(crate) fn store_tile<T: Numeric, N: Size, P: Numeric>(
    shared: &Shared<[Vector<T, N>]>,
    writes: &mut Writes<T, N, P>,
    view: &ColumnsView,
    column: &Column,
    tile: NarrowTile,
    #[comptime] config: ExchangeConfig,
) {
    let begin = column.output - column.x;
    #[unroll]
    for turn in 0..config.rows {
        let at = in_turn(turn, config);
        let (row, x) = view.by_width.div_mod(at);
        let logical = tile.first + row;
        if at < tile.vectors && logical < view.len {
            let to = begin + x + view.stored(logical, config.reverse) * view.width;
            #[unroll]
            for i in 0..writes.outputs.len().comptime() {
                let output = &mut writes.outputs[i];
                output[to] = shared[place(at, i, config)];
            }
        }
    }
}
