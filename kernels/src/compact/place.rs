//! What a mask assigns to each position: its destination, or a value to receive.
//!
//! ```text
//! mask           1  0  1  1  0      packed   a b c
//! destinations   0 −1  1  2 −1
//! expanded       a  0  b  c  0
//! ```
//!
//! Tiles, ranks and lookback are as in [`compact`](super::compact()). The output is written in whole vectors.

use super::mask_tile::{Mark, MaskConfig, MaskRow, MaskTile};
use super::plan::{MaskLines, Plan, bindable, same_elements, unused, view};
use crate::ScanError;
use crate::error::{Typed, check_outputs};
use crate::scan::LaunchOptions;
use crate::scan::components::{
    lookback::tile_of_cube, tile::vector_in_tile, tile_state::TileWords,
};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

/// If the kernel `packs`, a position receives the packed value of its rank among the `true`s; zero under `false` and if
/// that value is missing. Otherwise it receives its rank, −1 under `false`.
#[cube(launch_unchecked, address_type = "dynamic")]
fn place_kernel<V: Numeric, M: Numeric, I: Numeric, N: Size>(
    packed: &[V],
    packed_len: usize,
    mask: LinearView<'_, Vector<M, N>>,
    output: &mut [Vector<V, N>],
    count: &mut [I],
    state: &[Atomic<u32>],
    vectors: usize,
    words: TileWords,
    #[comptime] packs: bool,
    #[comptime] config: MaskConfig,
    #[define(V)] _value_type: ElemType,
    #[define(M)] _mask_type: ElemType,
    #[define(I)] _index_type: ElemType,
) {
    let tile = tile_of_cube(state, CUBE_COUNT as u32, config.lookback.cubes_in_order);
    if tile < words.tiles {
        let row = MaskRow::of_tile(tile, vectors, words, config);
        let first = row.first;
        let mut tile_mask = MaskTile::load::<M, N>(&mask, row, config);
        let mut own = tile_mask.publish(state, tile, words, config);
        let before = own.seek::<M, N>(&mut tile_mask, &mask, state, row, config);
        if comptime!(!packs) && tile + 1 == words.tiles && UNIT_POS == 0 {
            count[0] = I::cast_from(before + own.survivors);
        }
        #[unroll]
        for k in 0..config.tile.vectors {
            let at = first + vector_in_tile(k, config.tile);
            if at < vectors {
                let flags = tile_mask.flags[k];
                let mut rank = before + own.unit + tile_mask.before[k];
                let mut result = Vector::<V, N>::new(V::from_int(0));
                #[unroll]
                for lane in 0..N::value().comptime() {
                    let keep = (flags >> comptime!(lane as u32)) & 1u32;
                    if comptime!(!packs) {
                        let destination = select(keep == 1u32, V::cast_from(rank), V::from_int(-1));
                        result.insert(lane, destination);
                    } else {
                        // It is read whether it is used or not: without a branch there is no misprediction.
                        let there = (rank as usize) < packed_len;
                        let value = packed[select(there, rank as usize, 0usize)];
                        let used = select(there, keep, 0u32) == 1u32;
                        result.insert(lane, select(used, value, V::from_int(0)));
                    }
                    rank += keep;
                }
                output[at] = result;
            }
        }
    }
}

/// The inverse of [`compact`](super::compact()): the `i`-th `true` of `mask` receives `packed[i]`. Elsewhere, and if
/// `packed` is too short, it writes zero.
///
/// `mask` may have any strides. `packed` is contiguous, of any length. `output` is contiguous and has the size of the
/// mask. Nothing waits for the device.
///
/// # Errors
///
/// As [`compact`](super::compact()).
pub fn expand(
    client: &Client,
    packed: TensorBinding,
    mask: (TensorBinding, ElemType),
    output: TensorBinding,
    dtype: ElemType,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    place(client, Some(packed), mask, (output, dtype), None, launch)
}

/// Places the values of `packed`. Without it, places destinations and writes their number into `count`.
pub(super) fn place(
    client: &Client,
    packed: Option<TensorBinding>,
    mask: Typed,
    output: Typed,
    count: Option<Typed>,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    same_elements("output", &output.0, &mask.0)?;
    let packs = packed.is_some();
    let packed = packed.unwrap_or_else(|| unused(client));
    let (count, index) = count.unwrap_or_else(|| (unused(client), u32::elem_type_native()));
    let inputs = [
        ("packed", &packed, output.1.size(), 0),
        ("mask", &mask.0, mask.1.size(), 0),
    ];
    let outputs = [
        ("output", &output.0, output.1.size(), 0),
        ("count", &count, index.size(), 1),
    ];
    let address_type = check_outputs(&inputs, &outputs)?;
    let packed_len: usize = packed.shape.iter().product();
    let lines = MaskLines::flat(&mask.0);
    let plan = Plan::new(client, &mask, &[&output], 0, lines, Mark::NonZero, launch)?;
    let (state, words) = plan.words(client);
    // SAFETY: mask and output hold the same number of elements, and the kernel guards each vector by it; a rank is
    // checked against the packed values before it is read; the state holds an aggregate and a fallback per tile and a
    // prefix per block.
    unsafe {
        place_kernel::launch_unchecked(
            client,
            plan.cube_count,
            plan.cube_dim,
            address_type,
            plan.lanes,
            bindable(client, packed).into_buffer_arg(),
            packed_len,
            view(client, mask.0),
            bindable(client, output.0).into_buffer_arg(),
            count.into_buffer_arg(),
            state,
            plan.vectors,
            words,
            packs,
            plan.config,
            output.1,
            mask.1,
            index,
        );
    }
    Ok(())
}
