//! Which columns a unit walks, and where they lie.

use crate::monoid::Operator;
use crate::scan::call::Call;
use crate::scan::components::rows::{OuterDims, outer_dims};
use crate::scan::split::Split;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

#[derive_cube_comptime]
pub(crate) struct ColumnsConfig {
    pub exclusive: bool,
    pub reverse: bool,
    /// The rows that a unit loads before it combines the first, so that their latencies overlap.
    pub prefetch_depth: usize,
    /// Whether these rows may reach beyond the last.
    pub overshoots: bool,
}

/// `[outer…, len, columns]`, columns in vectors.
#[derive(CubeType, CubeLaunch)]
pub(crate) struct ColumnsView {
    outer: OuterDims,
    /// Vectors side by side.
    pub width: usize,
    pub by_width: FastDivmod<usize>,
    /// The axis' stride in each input, in vectors.
    pub strides: Sequence<usize>,
    pub len: usize,
    chunk_len: usize,
    /// Chunks of a column.
    pub chunks: usize,
    by_chunks: FastDivmod<usize>,
    /// Units with work.
    pub units: usize,
}

/// The work of one unit: one chunk of one column vector.
#[derive(CubeType)]
pub(crate) struct Column {
    pub inputs: Sequence<usize>,
    pub output: usize,
    pub first: usize,
    pub end: usize,
    /// The number of its line in units of vectors: each lane is a line.
    pub line: usize,
    /// Where the states of its chunks begin. They lie `width` vectors apart.
    pub states: usize,
    pub chunk: usize,
}

#[cube]
impl ColumnsView {
    pub fn column(&self, unit: usize) -> Column {
        let (rest, column) = self.by_width.div_mod(unit);
        let (outer, chunk) = self.by_chunks.div_mod(rest);
        let first = chunk * self.chunk_len;
        let end = min(first + self.chunk_len, self.len);
        Column {
            inputs: self.outer.begins(outer, column),
            output: outer * self.len * self.width + column,
            first,
            end,
            line: outer * self.width + column,
            states: outer * self.chunks * self.width + column,
            chunk,
        }
    }
}

/// Whether a row lies in the column's chunk.
#[cube]
pub(super) fn is_inside(
    logical: usize,
    column: &Column,
    #[comptime] config: ColumnsConfig,
) -> bool {
    if comptime!(config.overshoots) {
        logical < column.end
    } else {
        true.runtime()
    }
}

/// The columns of a call, split into chunks, with a unit for each.
pub(crate) fn columns_arg<O: Operator>(call: &Call<O>, split: Split) -> ColumnsViewLaunch {
    let columns = call.lines.inner_count() / call.lanes;
    let strides = call.lines.axis.strides.iter();
    ColumnsViewLaunch {
        outer: call.outer_dims(),
        strides: strides.map(|stride| stride / call.lanes).collect(),
        ..columns_without_inputs([call.rows(), call.len(), columns], split)
    }
}

/// Columns `[outer, len, width]`, in vectors, for kernels that read inputs where the output lies.
pub(crate) fn columns_without_inputs(
    [outer, len, width]: [usize; 3],
    split: Split,
) -> ColumnsViewLaunch {
    ColumnsViewLaunch::new(
        outer_dims(&[], 0, 1),
        width,
        width,
        SequenceArg::new(),
        len,
        split.len,
        split.parts,
        split.parts,
        outer * split.parts * width,
    )
}
