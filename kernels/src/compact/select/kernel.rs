//! The entry kernel: one tile a cube.

use super::tile::{
    load_survivors, stage_survivors, staged_elements, write_positions, write_staged,
};
use crate::compact::emit::Emit;
use crate::compact::mask_tile::{MaskConfig, MaskTile, Row};
use crate::scan::components::{lookback::tile_of_cube, tile_state::TileWords};
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn compact_kernel<V: Numeric, M: Numeric, I: Numeric, N: Size>(
    values: LinearView<'_, Vector<V, N>>,
    mask: LinearView<'_, Vector<M, N>>,
    output: &mut [V],
    positions: &mut Sequence<&'static mut [I]>,
    counts: &mut [I],
    state: &[Atomic<u32>],
    vectors: usize,
    words: TileWords,
    #[comptime] emit: Emit,
    #[comptime] config: MaskConfig,
    #[define(V)] _value_type: ElemType,
    #[define(M)] _mask_type: ElemType,
    #[define(I)] _index_type: ElemType,
) {
    let tile = tile_of_cube(state, CUBE_COUNT as u32, config.lookback.cubes_in_order);
    if tile < words.tiles {
        let row = Row::of_tile(tile, vectors, words, config);
        let mut tile_mask = MaskTile::load::<M, N>(&mask, row, config);
        let loaded = load_survivors::<V, N>(&tile_mask, &values, row, emit, config);
        let mut own = tile_mask.publish(state, tile, words, config);
        let lanes = N::value().comptime();
        let mut stage = Shared::<[V]>::new_slice(comptime!(staged_elements(lanes, config.tile)));
        stage_survivors::<V, N>(&mut stage, &tile_mask, &loaded, own.unit);
        // A barrier is in here: all survivors are staged before any is written.
        let before = own.seek::<M, N>(&mut tile_mask, &mask, state, row, words, config);
        let rank = before + own.unit;
        let (front, survivors) = (before as usize, own.survivors as usize);
        write_staged::<V, N>(&stage, output, row, front, survivors, emit, config);
        write_positions::<I>(&tile_mask, positions, row, rank, lanes, config);
        if (tile + 1) % words.per_row == 0 && UNIT_POS == 0 {
            counts[row.index] = I::cast_from(before + own.survivors);
        }
    }
}
