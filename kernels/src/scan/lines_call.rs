//! A scan of lines with any operator: what the routines plan and launch from.
//!
//! A tensor is `[outer…, len, inner]` around the scan axis. Where there is no dimension behind the axis, lines are rows, whose elements lie side
//! by side; else they are columns, of which neighbours lie side by side.

use super::components::mute::Mute;
use super::components::rows::{RowsViewLaunch, rows_arg};
use super::components::tile::TileConfig;
use super::problem::ScanOptions;
use super::tuning::Tuning;
use crate::monoid::Operator;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The facts of one call.
pub(crate) struct LinesCall<'a, O: Operator> {
    pub client: &'a Client,
    pub tuning: Tuning,
    pub mute: Option<Mute>,
    /// Elements of a vector, in which all tensors are read and written.
    pub lanes: usize,
    pub address_type: AddressType,
    pub inputs: Vec<TensorBinding>,
    pub outputs: Vec<TensorBinding>,
    /// The sizes of the dimensions before the axis, outermost first.
    pub outer: Vec<usize>,
    /// Their strides in each input, in elements.
    pub strides: Vec<Vec<usize>>,
    /// Elements of a line.
    pub len: usize,
    /// The stride of the axis in each input, in elements.
    pub axis: Vec<usize>,
    /// Lines side by side; 1 for rows.
    pub inner: usize,
    /// Rows that a column loads before it combines the first.
    pub ahead: usize,
    pub options: ScanOptions,
    pub dtype: ElemType,
    pub accumulator: ElemType,
    pub op: O::Config,
}

impl<O: Operator> LinesCall<'_, O> {
    /// How many rows there are, or groups of columns.
    pub(crate) fn rows(&self) -> usize {
        self.outer.iter().product()
    }

    /// The strides before the axis in each input, in vectors.
    pub(crate) fn outer_strides(&self) -> impl Iterator<Item = Vec<usize>> {
        let lanes = self.lanes;
        let strides = self.strides.iter();
        strides.map(move |strides| strides.iter().map(|stride| stride / lanes).collect())
    }

    /// The elements of a full tile.
    pub(crate) fn tile_elements(&self) -> usize {
        self.tuning.units * self.tuning.vectors * self.lanes
    }

    pub(crate) fn tiles_per_row(&self) -> usize {
        self.len.div_ceil(self.tile_elements())
    }

    pub(crate) fn rows_arg(&self) -> RowsViewLaunch {
        let sizes = self.outer.iter().copied();
        rows_arg(sizes, self.outer_strides(), self.len / self.lanes)
    }

    pub(crate) fn seed(&self) -> InputScalar {
        O::seed(self.op, self.dtype, self.accumulator)
    }

    /// The words of a state.
    pub(crate) fn state_words(&self) -> usize {
        O::state_size(self.accumulator).div_ceil(size_of::<u32>())
    }

    pub(crate) fn tile_config(&self) -> TileConfig {
        TileConfig {
            exclusive: self.options.exclusive,
            reverse: self.options.reverse,
            plane: self.tuning.plane,
            vectors: self.tuning.vectors,
            units: self.tuning.units,
            max_planes: self.tuning.max_planes,
            plane_size: self.tuning.plane_size,
        }
    }
}

/// The launch argument of several tensors.
pub(crate) fn buffers<T: LaunchArg<RuntimeArg = BufferArg>>(
    tensors: &[TensorBinding],
) -> SequenceArg<T> {
    let mut arg = SequenceArg::new();
    for tensor in tensors {
        arg.push(tensor.clone().into_buffer_arg());
    }
    arg
}
