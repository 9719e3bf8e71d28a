//! One scan: what the routines plan and launch from.

use super::components::rows::{RowsViewLaunch, rows_arg};
use super::components::stall::Stall;
use super::components::tensors::{ReadsLaunch, WritesLaunch};
use super::components::tile::TileConfig;
use super::problem::{Dim, Lines, ScanOptions, elements_before, widest_vector};
use super::strategy::LaunchOptions;
use super::tensors::ScanTensors;
use super::tuning::{CUBES_WITH_STAGED_TILES, PREFETCH_DEPTH, Tuning};
use crate::ScanError;
use crate::monoid::Operator;
use crate::operator::accumulator_of;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::into_contiguous;

/// The facts of one call. A tensor is `[outer…, len, inner]` around the scan axis. Without a dimension behind the axis,
/// lines are rows: their elements lie side by side. Otherwise lines are columns: neighbouring columns lie side by side.
pub(crate) struct Call<'a, O: Operator> {
    pub client: &'a Client,
    pub launch: LaunchOptions,
    pub tuning: Tuning,
    pub lines: Lines,
    /// Elements of a vector. All tensors are read and written in such vectors.
    pub lanes: usize,
    /// Rows are read and written element by element, but still dealt to units in vectors.
    pub by_elements: bool,
    /// Elements of the widest vector of the device.
    pub widest_vector: usize,
    /// As `lanes`, for tensors read as one flat sequence.
    pub flat_lanes: usize,
    pub address_type: AddressType,
    pub tensors: ScanTensors,
    pub options: ScanOptions,
    pub accumulator: ElemType,
    pub op: O::Config,
}

impl<'a, O: Operator> Call<'a, O> {
    /// `None` if there is nothing to scan.
    pub(crate) fn new(
        client: &'a Client,
        mut tensors: ScanTensors,
        op: O::Config,
        options: ScanOptions,
        launch: LaunchOptions,
    ) -> Result<Option<Self>, ScanError> {
        tensors.check::<O>(client)?;
        if tensors.inputs[0].shape.contains(&0) {
            return Ok(None);
        }
        let (axis, dtype) = (tensors.axis, tensors.dtype);
        let contiguous = |tensor| into_contiguous(client, tensor, dtype).binding();
        for input in &mut tensors.inputs {
            if !Lines::of(std::slice::from_ref(input), axis).is_coalesced() {
                *input = contiguous(input.clone());
            }
        }
        tensors.make_contiguous(client);
        let mut lines = Lines::of(&tensors.inputs, axis);
        if launch.strategy == Default::default() {
            lines = lines.with_single_elements_as_rows();
        }
        let vectors = || {
            let elements = tensors.inputs.iter().chain(&tensors.outputs);
            let elements = elements.map(|tensor| (tensor, dtype.size()));
            let positions = tensors.positions.iter();
            elements.chain(positions.map(|(tensor, dtype)| (tensor, dtype.size())))
        };
        let offset = vectors().fold(0, |bits, (tensor, size)| {
            bits | elements_before(tensor.handle.offset_start, size)
        });
        let largest = vectors().map(|(_, size)| size).max().unwrap_or(1);
        let widths = |common_alignment| {
            widest_vector(client.io_optimized_vector_sizes(largest), common_alignment)
        };
        let lanes = widths(lines.common_alignment(offset));
        let accumulator = accumulator_of(dtype);
        let mut tuning = Tuning::of(client, &launch);
        if lines.inner.is_empty() {
            tuning = tuning.for_accumulators(accumulator, &launch);
        }
        if launch.vectors.is_none() {
            // A unit holds a state for each element.
            let scalars = O::state_size(accumulator).div_ceil(accumulator.size());
            tuning.vectors = (tuning.vectors / scalars).max(1);
            let is_row = lines.inner.is_empty() && lanes == widths(0);
            if is_row && scalars == 1 && accumulator.size() == 4 && !launch.batch_invariant {
                tuning = tuning.for_long_rows(lines.len(), lanes, &launch);
            }
        }
        let call = Self {
            client,
            launch,
            tuning,
            lanes,
            by_elements: false,
            widest_vector: widths(0),
            flat_lanes: widths(lines.flat_alignment(offset)),
            address_type: tensors.address_type(),
            lines,
            tensors,
            options,
            accumulator,
            op,
        };
        Ok(Some(match launch.batch_invariant {
            true => call.batch_invariant(),
            false => call,
        }))
    }

    /// Elements of a vector in a tile of a row: the widest, whatever the row's length and offset, unless planes cannot
    /// hand elements over.
    fn tile_lanes(&self) -> usize {
        let smallest = self.client.properties().hardware.plane_size_min as usize;
        let refuses = self.tuning.plane && self.widest_vector > smallest;
        match self.lines.inner.is_empty() && !refuses {
            true => self.widest_vector,
            false => self.lanes,
        }
    }

    /// Rows in tiles, read and written element by element if vectors straddle them.
    pub(crate) fn in_tiles(mut self) -> Self {
        let lanes = self.tile_lanes();
        self.by_elements = self.lanes < lanes;
        self.lanes = lanes;
        self
    }

    pub(crate) fn stall(&self) -> Option<Stall> {
        self.launch.stall
    }

    /// Elements of a line.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// How many rows there are, or groups of columns.
    pub(crate) fn rows(&self) -> usize {
        self.lines.outer_count()
    }

    /// The types that define a kernel: of elements, accumulators, starts and positions.
    pub(crate) fn types(&self) -> [ElemType; 4] {
        let word = u32::elem_type_native();
        let starts = self.tensors.starts.as_ref().map_or(word, |it| it.1);
        let positions = self.tensors.positions.as_ref().map_or(word, |it| it.1);
        [self.tensors.dtype, self.accumulator, starts, positions]
    }

    /// The elements of a full tile.
    pub(crate) fn tile_elements(&self) -> usize {
        self.tuning.units * self.tuning.vectors * self.tile_lanes()
    }

    pub(crate) fn tiles_per_row(&self) -> usize {
        self.len().div_ceil(self.tile_elements())
    }

    /// Rows that a column loads before it combines the first.
    pub(crate) fn prefetch_depth(&self) -> usize {
        self.launch.vectors.unwrap_or(PREFETCH_DEPTH)
    }

    pub(crate) fn reads<T: Numeric, N: Size, B: Numeric>(&self) -> ReadsLaunch<T, N, B> {
        self.reads_beside(self.tensors.initial.as_deref().unwrap_or_default())
    }

    /// As [`reads`](Self::reads), for totals, which do not depend on what a line resumes from.
    pub(crate) fn reads_of_totals<T: Numeric, N: Size, B: Numeric>(&self) -> ReadsLaunch<T, N, B> {
        self.reads_beside(&[])
    }

    fn reads_beside<T: Numeric, N: Size, B: Numeric>(
        &self,
        initial: &[TensorBinding],
    ) -> ReadsLaunch<T, N, B> {
        let starts = self.tensors.starts.iter().map(|(tensor, _)| tensor);
        let [vectors, elements] = self.dealt(&self.tensors.inputs);
        ReadsLaunch::new(
            buffers(vectors),
            buffers(elements),
            buffers(starts),
            self.tensors.backwards != self.options.reverse,
            buffers(initial),
        )
    }

    pub(crate) fn writes<T: Numeric, N: Size, P: Numeric>(&self) -> WritesLaunch<T, N, P> {
        let positions = self.tensors.positions.iter().map(|(tensor, _)| tensor);
        let positions: Vec<_> = positions.cloned().collect();
        let [vectors, elements] = self.dealt(&self.tensors.outputs);
        let [vector_positions, element_positions] = self.dealt(&positions);
        WritesLaunch::new(
            buffers(vectors),
            buffers(elements),
            buffers(vector_positions),
            buffers(element_positions),
        )
    }

    /// The tensors that are accessed in vectors, and those accessed element by element.
    fn dealt<'t>(&self, tensors: &'t [TensorBinding]) -> [&'t [TensorBinding]; 2] {
        match self.by_elements {
            true => [&[], tensors],
            false => [tensors, &[]],
        }
    }

    /// Elements of one access to a row.
    fn stored_lanes(&self) -> usize {
        match self.by_elements {
            true => 1,
            false => self.lanes,
        }
    }

    /// The strides of the dimensions before the axis, of each input, in accesses to a row.
    pub(crate) fn outer_strides(&self) -> impl Iterator<Item = Vec<usize>> {
        (0..self.tensors.inputs.len()).map(|input| {
            let of_input = |dim: &Dim| dim.strides[input] / self.stored_lanes();
            self.lines.outer.iter().map(of_input).collect()
        })
    }

    pub(crate) fn rows_arg(&self) -> RowsViewLaunch {
        let sizes = self.lines.outer.iter().map(|dim| dim.size);
        let stored = self.len() / self.stored_lanes();
        rows_arg(
            sizes,
            self.outer_strides(),
            self.len().div_ceil(self.lanes),
            stored,
        )
    }

    pub(crate) fn seed(&self) -> InputScalar {
        O::seed(self.op, self.tensors.dtype, self.accumulator)
    }

    /// The words of a state.
    pub(crate) fn state_words(&self) -> usize {
        O::state_size(self.accumulator).div_ceil(size_of::<u32>())
    }

    pub(crate) fn tile_config(&self) -> TileConfig {
        let vectors = self.tuning.vectors;
        self.waiting(self.tuning.units, vectors, vectors)
    }

    /// A tile of so many units, and of so many vectors a unit. A unit stages `staged` of its vectors if there is room.
    pub(crate) fn waiting(&self, units: usize, vectors: usize, staged: usize) -> TileConfig {
        let elements = units * staged * self.lanes * self.tensors.inputs.len();
        let bytes = elements * self.tensors.dtype.size();
        let has_room = bytes * CUBES_WITH_STAGED_TILES <= self.tuning.shared_bytes;
        TileConfig {
            exclusive: self.options.exclusive,
            reverse: self.options.reverse,
            plane: self.tuning.plane,
            vectors,
            units,
            max_planes: self.tuning.max_planes,
            plane_size: self.tuning.plane_size,
            staged: if has_room { staged } else { 0 },
            by_elements: self.by_elements,
        }
    }
}

/// The launch argument of several tensors.
fn buffers<'t, T: LaunchArg<RuntimeArg = BufferArg>>(
    tensors: impl IntoIterator<Item = &'t TensorBinding>,
) -> SequenceArg<T> {
    let mut arg = SequenceArg::new();
    for tensor in tensors {
        arg.push(tensor.clone().into_buffer_arg());
    }
    arg
}
