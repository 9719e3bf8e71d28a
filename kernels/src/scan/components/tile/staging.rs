//! Vectors that are staged in shared memory, where they wait for what precedes them.

use super::config::TileConfig;
use crate::scan::components::tensors::Loaded;
use cubecl::prelude::*;

/// Room for the staged vectors of `inputs` tensors.
pub(crate) fn staged_vectors(inputs: usize, config: TileConfig) -> usize {
    (inputs * config.staged * config.units).max(1)
}

/// How many vectors also have the totals before them staged. Compiled for sm_80 and sm_90, this removes the last spills
/// of scans of elements of up to 32 bits. For i64 it would add eight.
pub(super) fn staged_totals(element: usize, config: TileConfig) -> usize {
    if element <= 4 { config.staged } else { 0 }
}

/// Where a unit stages its `k`-th vector of an input. Neighbouring units are side by side.
#[cube]
pub(super) fn staged_place(
    #[comptime] input: usize,
    #[comptime] k: usize,
    #[comptime] config: TileConfig,
) -> usize {
    comptime!((input * config.staged + k) * config.units) + UNIT_POS as usize
}

/// Stages a unit's `k`-th vector.
#[cube]
pub(crate) fn stage<T: Numeric, N: Size>(
    staged: &mut Shared<[Vector<T, N>]>,
    loaded: &Loaded<T, N>,
    #[comptime] k: usize,
    #[comptime] config: TileConfig,
) {
    #[unroll]
    for i in 0..loaded.vectors.len().comptime() {
        staged[staged_place(i, k, config)] = loaded.vectors[i];
    }
}

/// The elements of a unit's `k`-th vector, staged or not.
#[cube]
pub(crate) fn elements<T: Numeric, N: Size>(
    loaded: &Loaded<T, N>,
    staged: &Shared<[Vector<T, N>]>,
    #[comptime] k: usize,
    #[comptime] config: TileConfig,
) -> Loaded<T, N> {
    let mut vectors = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..loaded.vectors.len().comptime() {
        if comptime!(k < config.staged) {
            vectors.push(staged[staged_place(i, k, config)]);
        } else {
            vectors.push(loaded.vectors[i]);
        }
    }
    Loaded::<T, N> {
        vectors,
        edges: loaded.edges.clone(),
        position: loaded.position,
        step: loaded.step,
    }
}
