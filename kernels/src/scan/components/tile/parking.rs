//! Vectors that wait in shared memory.

use super::config::TileConfig;
use crate::scan::components::tensors::Loaded;
use cubecl::prelude::*;

/// Room for the parked vectors of `inputs` tensors.
pub(crate) fn parking(inputs: usize, config: TileConfig) -> usize {
    (inputs * config.parked * config.units).max(1)
}

/// How many vectors also have the totals before them parked. Compiled for sm_80 and sm_90, this removes the last spills
/// of scans of elements of up to 32 bits. For i64 it would add eight.
pub(super) fn parked_totals(element: usize, config: TileConfig) -> usize {
    if element <= 4 { config.parked } else { 0 }
}

/// Where a unit parks its `k`-th vector of an input. Neighbouring units are side by side.
#[cube]
pub(super) fn parking_place(
    #[comptime] input: usize,
    #[comptime] k: usize,
    #[comptime] config: TileConfig,
) -> usize {
    comptime!((input * config.parked + k) * config.units) + UNIT_POS as usize
}

/// Parks a unit's `k`-th vector.
#[cube]
pub(crate) fn park<T: Numeric, N: Size>(
    parked: &mut Shared<[Vector<T, N>]>,
    loaded: &Loaded<T, N>,
    #[comptime] k: usize,
    #[comptime] config: TileConfig,
) {
    #[unroll]
    for i in 0..loaded.vectors.len().comptime() {
        parked[parking_place(i, k, config)] = loaded.vectors[i];
    }
}

/// The elements of a unit's `k`-th vector, parked or not.
#[cube]
pub(crate) fn elements<T: Numeric, N: Size>(
    loaded: &Loaded<T, N>,
    parked: &Shared<[Vector<T, N>]>,
    #[comptime] k: usize,
    #[comptime] config: TileConfig,
) -> Loaded<T, N> {
    let mut vectors = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..loaded.vectors.len().comptime() {
        if comptime!(k < config.parked) {
            vectors.push(parked[parking_place(i, k, config)]);
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
