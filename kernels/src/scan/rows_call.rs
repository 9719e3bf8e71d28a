//! A scan of rows whose elements lie side by side, of any operator: what the routines made of tiles plan and launch from.

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
pub(crate) struct RowsCall<'a, O: Operator> {
    pub client: &'a Client,
    pub tuning: Tuning,
    pub mute: Option<Mute>,
    /// Elements of a vector, in which all tensors are read and written.
    pub lanes: usize,
    pub address_type: AddressType,
    pub inputs: Vec<TensorBinding>,
    pub outputs: Vec<TensorBinding>,
    /// The sizes of the dimensions before the rows, outermost first.
    pub outer: Vec<usize>,
    /// Their strides in each input, in elements.
    pub strides: Vec<Vec<usize>>,
    /// Elements of a row.
    pub len: usize,
    pub options: ScanOptions,
    pub dtype: ElemType,
    pub accumulator: ElemType,
    pub op: O::Config,
}

impl<O: Operator> RowsCall<'_, O> {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.outer.iter().product()
    }

    /// The elements of a full tile.
    pub(crate) fn tile_elements(&self) -> usize {
        self.tuning.units * self.tuning.vectors * self.lanes
    }

    pub(crate) fn tiles_per_row(&self) -> usize {
        self.len.div_ceil(self.tile_elements())
    }

    pub(crate) fn rows_arg(&self) -> RowsViewLaunch {
        let lanes = self.lanes;
        let in_vectors = |strides: &Vec<usize>| strides.iter().map(|s| s / lanes).collect();
        let strides = self.strides.iter().map(in_vectors);
        rows_arg(self.outer.iter().copied(), strides, self.len / lanes)
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
