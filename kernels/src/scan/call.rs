//! One scan: what the routines plan and launch from.

use super::components::args::Access;
use super::components::rows::{OuterDimsLaunch, RowsViewLaunch, outer_dims};
use super::components::tile::TileConfig;
use super::problem::{Lines, ScanOptions, widest_vector};
use super::strategy::{LaunchOptions, Strategy};
use super::tensors::ScanTensors;
use super::tuning::{CUBES_WITH_STAGED_TILES, Tuning};
use crate::ScanError;
use crate::monoid::Operator;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The facts of one call. A tensor is `[outer…, len, inner]` around the scan axis. Without a dimension after the axis,
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
    /// The types that define a kernel: of elements, accumulators, starts and positions.
    pub types: [ElemType; 4],
    /// Segments extend against the direction of the scan.
    pub opposed: bool,
    pub options: ScanOptions,
    pub op: O::Config,
}

impl<'a, O: Operator> Call<'a, O> {
    /// The call of these tensors, which it copies where they cannot be read in place. `None` if there is nothing to
    /// scan.
    pub(crate) fn new(
        client: &'a Client,
        tensors: &mut ScanTensors,
        op: O::Config,
        options: ScanOptions,
        launch: LaunchOptions,
    ) -> Result<Option<Self>, ScanError> {
        tensors.check::<O>(client)?;
        if tensors.inputs[0].shape.contains(&0) {
            return Ok(None);
        }
        tensors.make_readable(client);
        let is_free = launch.strategy == Strategy::Inferred && !launch.batch_invariant;
        if is_free && Lines::of(&tensors.inputs, tensors.axis).are_short_with_gaps() {
            tensors.align(client, 1);
        }
        let mut call = Self::plan(
            client,
            Lines::of(&tensors.inputs, tensors.axis),
            tensors.offset(),
            tensors.types(),
            op,
            options,
            launch,
        );
        call.opposed = tensors.backwards != options.reverse;
        call.address_type = tensors.address_type();
        if call.keeps_places() {
            tensors.align(client, call.widest_vector);
            call.lines = Lines::of(&tensors.inputs, tensors.axis);
        }
        Ok(Some(call))
    }

    /// The call of these lines. `offset` is the bitwise or of the elements before each tensor.
    pub(crate) fn plan(
        client: &'a Client,
        mut lines: Lines,
        offset: usize,
        types: [ElemType; 4],
        op: O::Config,
        options: ScanOptions,
        launch: LaunchOptions,
    ) -> Self {
        let [dtype, accumulator, _, positions] = types;
        if launch.strategy == Default::default() {
            lines = lines.with_single_elements_as_rows();
        }
        let largest = if O::POSITIONS {
            dtype.size().max(positions.size())
        } else {
            dtype.size()
        };
        let widths = |common_alignment| {
            widest_vector(client.io_optimized_vector_sizes(largest), common_alignment)
        };
        let lanes = widths(lines.common_alignment(offset));
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
            address_type: AddressType::default(),
            lines,
            types,
            opposed: false,
            options,
            op,
        };
        if launch.batch_invariant {
            call.batch_invariant()
        } else {
            call
        }
    }

    /// Elements of a vector in a tile of a row: the widest, whatever the row's length and offset, unless planes cannot
    /// hand elements over.
    fn tile_lanes(&self) -> usize {
        let smallest = self.client.properties().hardware.plane_size_min as usize;
        let refuses = self.tuning.plane && self.widest_vector > smallest;
        if self.lines.inner.is_empty() && !refuses {
            self.widest_vector
        } else {
            self.lanes
        }
    }

    /// Elements of one access to a row in tiles.
    pub(crate) fn stored_lanes_in_tiles(&self) -> usize {
        if self.lanes < self.tile_lanes() {
            1
        } else {
            self.lanes
        }
    }

    /// Rows in tiles, read and written element by element if vectors straddle them.
    pub(crate) fn in_tiles(mut self) -> Self {
        let lanes = self.tile_lanes();
        self.by_elements = self.lanes < lanes;
        self.lanes = lanes;
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// How many rows there are, or groups of columns.
    pub(crate) fn rows(&self) -> usize {
        self.lines.outer_count()
    }

    /// The elements of a full tile.
    pub(crate) fn tile_elements(&self) -> usize {
        self.tuning.units * self.tuning.vectors * self.tile_lanes()
    }

    pub(crate) fn tiles_per_row(&self) -> usize {
        self.len().div_ceil(self.tile_elements())
    }

    /// Units of a cube: at most this number, unless the caller sets it.
    pub(crate) fn units_up_to(&self, most: usize) -> usize {
        let most = self.launch.units.map_or(most, |_| usize::MAX);
        self.tuning.units.min(most)
    }

    /// How the kernels access their tensors.
    pub(crate) fn access(&self) -> Access {
        Access {
            by_elements: self.by_elements,
            opposed: self.opposed,
            for_totals: false,
        }
    }

    /// Elements of one access to a row.
    fn stored_lanes(&self) -> usize {
        if self.by_elements { 1 } else { self.lanes }
    }

    /// The dimensions before the axis. Strides are in accesses to a row.
    pub(crate) fn outer_dims(&self) -> OuterDimsLaunch {
        outer_dims(&self.lines.outer, O::INPUTS, self.stored_lanes())
    }

    /// The rows. A last vector may be incomplete.
    pub(crate) fn rows_arg(&self) -> RowsViewLaunch {
        let vectors = self.len().div_ceil(self.lanes);
        let stored = self.len() / self.stored_lanes();
        RowsViewLaunch::new(self.outer_dims(), vectors, stored)
    }

    pub(crate) fn seed(&self) -> InputScalar {
        O::seed(self.op, self.types[0], self.types[1])
    }

    pub(crate) fn state_words(&self) -> usize {
        O::state_size(self.types[1]).div_ceil(size_of::<u32>())
    }

    pub(crate) fn tile_config(&self) -> TileConfig {
        let vectors = self.tuning.vectors;
        self.waiting(self.tuning.units, vectors, vectors)
    }

    /// A tile of `units` units with `vectors` vectors each, of which they stage `staged` if there is room.
    pub(crate) fn waiting(&self, units: usize, vectors: usize, staged: usize) -> TileConfig {
        let elements = units * staged * self.lanes * O::INPUTS;
        let bytes = elements * self.types[0].size();
        let has_room = bytes * CUBES_WITH_STAGED_TILES <= self.tuning.shared_bytes;
        TileConfig {
            exclusive: self.options.exclusive,
            reverse: self.options.reverse,
            plane: self.tuning.plane,
            vectors,
            units,
            max_planes: self.tuning.max_planes,
            plane_size: self.tuning.plane_size,
            planes_meet: self.tuning.lookback.meets,
            staged: if has_room { staged } else { 0 },
            by_elements: self.by_elements,
        }
    }
}
