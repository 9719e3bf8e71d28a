//! The sizes of a permutation, and where its vectors lie.

use crate::checked_index::checked_index;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// `[outer, slices, inner]` and `[outer, destinations, inner]`, with `inner` in vectors.
#[derive(CubeType, CubeLaunch)]
pub(super) struct Permutation {
    inner: FastDivmod<usize>,
    inner_len: usize,
    slices: FastDivmod<usize>,
    pub destinations: usize,
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

impl PermutationShape {
    pub(super) fn elements(&self) -> usize {
        self.outer * self.slices * self.inner
    }

    /// The sizes for a kernel that moves vectors of `lanes`.
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
}
