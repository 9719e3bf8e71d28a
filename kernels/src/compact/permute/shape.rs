//! The sizes of a permutation, and where its vectors lie.

use crate::checked_index::checked_index;
use crate::error::expect_room;
use crate::scan::cube_count;
use crate::scan::problem::{elements_before, widest_vector};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// Units of a cube, as in CubeCL's element-wise kernels on GPUs. Each moves one vector.
pub(super) const UNITS: u32 = 128;

/// `[outer, slices, inner]` and `[outer, destinations, inner]`, with `inner` in vectors.
#[derive(CubeType, CubeLaunch)]
pub(super) struct Permutation {
    inner: FastDivmod<usize>,
    inner_len: usize,
    slices: FastDivmod<usize>,
    destinations: usize,
    /// Vectors on the side of the slices.
    pub vectors: usize,
}

/// Where vector `at` of the slices lies among the destinations, and whether it has a destination.
#[cube]
pub(super) fn locate<I: Numeric>(
    destination_list: &[I],
    permutation: &Permutation,
    at: usize,
) -> (usize, bool) {
    let (rest, column) = permutation.inner.div_mod(at);
    let (outer, slice) = permutation.slices.div_mod(rest);
    let (destination, valid) =
        checked_index::<I>(destination_list[slice], permutation.destinations);
    (
        (outer * permutation.destinations + destination) * permutation.inner_len + column,
        valid,
    )
}

/// The sizes of a permutation: `[outer, slices, inner]` to or from `[outer, destinations, inner]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermutationShape {
    /// The product of the dimensions before the axis.
    pub outer: usize,
    /// The length of the destination list.
    pub slices: usize,
    /// The number of destinations.
    pub destinations: usize,
    /// The product of the dimensions after the axis.
    pub inner: usize,
}

/// A tensor and its element type.
pub(super) type Typed<'t> = (&'t TensorBinding, ElemType);

/// The element of its buffer at which a tensor begins.
pub(super) fn begin((tensor, dtype): Typed) -> usize {
    elements_before(tensor.handle.offset_start, dtype.size())
}

impl PermutationShape {
    pub(super) fn elements(&self) -> usize {
        self.outer * self.slices * self.inner
    }

    /// Panics where a tensor is too small.
    #[track_caller]
    pub(super) fn check(
        &self,
        slices: &TensorBinding,
        destination_list: &TensorBinding,
        destinations: &TensorBinding,
    ) {
        expect_room("slices", slices, self.elements());
        expect_room("list of destinations", destination_list, self.slices);
        expect_room(
            "destinations",
            destinations,
            self.outer * self.destinations * self.inner,
        );
    }

    /// Whether slices are single elements, and there is one group of them.
    pub(super) fn moves_elements(&self) -> bool {
        self.outer == 1 && self.inner == 1
    }

    /// The widest vector that straddles no slice of either tensor.
    pub(super) fn lanes(&self, client: &Client, slices: Typed, destinations: Typed) -> usize {
        let common_alignment = self.inner | begin(slices) | begin(destinations);
        widest_vector(
            client.io_optimized_vector_sizes(slices.1.size()),
            common_alignment,
        )
    }

    /// The widest vector of single elements, in the slices and the destination list.
    pub(super) fn element_lanes(
        &self,
        client: &Client,
        slices: Typed,
        destination_list: Typed,
    ) -> usize {
        let common_alignment = self.slices | begin(slices) | begin(destination_list);
        let size = slices.1.size().max(destination_list.1.size());
        widest_vector(client.io_optimized_vector_sizes(size), common_alignment)
    }

    pub(super) fn arg(&self, lanes: usize) -> PermutationLaunch {
        let inner = self.inner / lanes;
        PermutationLaunch::new(
            inner,
            inner,
            self.slices,
            self.destinations,
            self.elements() / lanes,
        )
    }

    /// A unit for each vector.
    pub(super) fn cubes(&self, client: &Client, lanes: usize) -> CubeCount {
        cube_count(client, (self.elements() / lanes).div_ceil(UNITS as usize))
    }
}
