//! How the survivors of one tile are staged and written.

use crate::compact::emit::{Emit, emitted};
use crate::compact::mask_tile::{MaskConfig, MaskRow, MaskTile};
use crate::scan::components::tile::vector_in_tile;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

/// Writes the positions of a unit's survivors. `rank` survivors precede the unit (or its plane).
#[cube]
pub(super) fn write_positions<I: Numeric>(
    tile_mask: &MaskTile,
    positions: &mut Sequence<&'static mut [I]>,
    row: MaskRow,
    rank: u32,
    #[comptime] lanes: usize,
    #[comptime] config: MaskConfig,
) {
    #[unroll]
    for _ in 0..positions.len().comptime() {
        let positions = &mut positions[0];
        #[unroll]
        for k in 0..config.tile.vectors {
            let at = row.first + vector_in_tile(k, config.tile);
            let flags = tile_mask.flags[k];
            let mut rank = (rank + tile_mask.before[k]) as usize;
            #[unroll]
            for lane in 0..lanes {
                if (flags >> comptime!(lane as u32)) & 1u32 == 1u32 {
                    positions[rank] = I::cast_from(at * lanes + lane);
                    rank += 1;
                }
            }
        }
    }
}

/// Loads what a unit stages: the vectors with survivors.
#[cube]
pub(super) fn load_survivors<V: Numeric, N: Size>(
    tile_mask: &MaskTile,
    values: &LinearView<'_, Vector<V, N>>,
    row: MaskRow,
    #[comptime] emit: Emit,
    #[comptime] config: MaskConfig,
) -> Sequence<Vector<V, N>> {
    let first = row.begin + row.first;
    let mut loaded = Sequence::<Vector<V, N>>::new();
    #[unroll]
    for k in 0..config.tile.vectors {
        let mut value = Vector::<V, N>::new(V::from_int(0));
        if tile_mask.flags[k] != 0u32 {
            value = emitted::<V, N>(values, first + vector_in_tile(k, config.tile), emit);
        }
        loaded.push(value);
    }
    loaded
}

/// Stages a unit's survivors at their ranks in the tile. `rank` survivors of the tile precede the unit (or its plane).
#[cube]
pub(super) fn stage_survivors<V: Numeric, N: Size>(
    stage: &mut Shared<[V]>,
    tile_mask: &MaskTile,
    loaded: &Sequence<Vector<V, N>>,
    rank: u32,
) {
    #[unroll]
    for k in 0..loaded.len().comptime() {
        let flags = tile_mask.flags[k];
        let mut rank = (rank + tile_mask.before[k]) as usize;
        #[unroll]
        for lane in 0..N::value().comptime() {
            if (flags >> comptime!(lane as u32)) & 1u32 == 1u32 {
                stage[rank] = loaded[k].extract(lane);
                rank += 1;
            }
        }
    }
}

/// Writes the staged survivors of the tile in order. `front` is the number of survivors of earlier tiles of the row.
#[cube]
pub(super) fn write_staged<V: Numeric, N: Size>(
    stage: &Shared<[V]>,
    output: &mut [V],
    row: MaskRow,
    front: usize,
    survivors: usize,
    #[comptime] emit: Emit,
    #[comptime] config: MaskConfig,
) {
    let lanes = N::value().comptime();
    let within = min(
        row.vectors - row.first,
        comptime!(config.tile.units * config.tile.vectors),
    );
    let others = within * lanes - survivors;
    let begin = row.begin * lanes;
    // The zeros of the tile end where the zeros of earlier tiles begin.
    let tail = begin + row.vectors * lanes - (row.first * lanes - front) - others;
    #[unroll]
    for step in 0..comptime!(config.tile.vectors * lanes) {
        let i = step * comptime!(config.tile.units) + UNIT_POS as usize;
        if i < survivors {
            output[begin + front + i] = stage[i];
        }
        if comptime!(emit.fills()) && i < others {
            output[tail + i] = V::from_int(0);
        }
    }
}
