//! Flat compaction in a single pass.
//!
//! ```text
//! cube:   ticket → load mask tile → count per unit → scan counts ─→ publish count → look back → write
//! ```
//!
//! The scan of the mask exists in registers only. Survivors go to the front in order. The others fill the tail: the `f`-th `false` of the
//! input writes the zero at `n − 1 − f`, so that every slot is written exactly once and nobody needs to know the total first.
//!
//! Lookback, fallback and their guarantees are those of the scan: see [`lookback`](crate::scan::components::lookback).

use crate::scan::components::{
    cube_totals::scan_totals,
    lookback::{Chain, ChainConfig, Walk, take_ticket},
    tile::TileConfig,
};
use crate::scan::{LaunchOptions, cube_count, scratch, tuning::Tuning};
use crate::{ScanError, ScanOp};
use cubecl::client::Client;
use cubecl::ir::{ElemType, UIntKind};
use cubecl::prelude::*;

/// What [`compact`] writes.
#[derive_cube_comptime]
#[non_exhaustive]
pub enum Emit {
    /// The values under `true`, zeros behind them.
    Values,
    /// The row-major positions of the `true`s, zeros behind them.
    Indices,
    /// For each position its rank among the `true`s, or −1 under `false`.
    Slots,
}

/// Mask elements read ahead by a unit.
#[cube]
fn load_mask<M: Numeric, N: Size>(
    mask: &[Vector<M, N>],
    first: usize,
    vectors: usize,
    #[comptime] config: TileConfig,
) -> Array<Vector<M, N>> {
    let mut loaded = Array::<Vector<M, N>>::new(config.vectors);
    #[unroll]
    for k in 0..config.vectors {
        let at = first + UNIT_POS as usize * config.vectors + k;
        let mut value = Vector::<M, N>::new(M::from_int(0));
        if at < vectors {
            value = mask[at];
        }
        loaded[k] = value;
    }
    loaded
}

#[cube]
fn count_unit<M: Numeric, N: Size>(
    loaded: &Array<Vector<M, N>>,
    #[comptime] config: TileConfig,
) -> u32 {
    let mut count = 0u32;
    #[unroll]
    for k in 0..config.vectors {
        #[unroll]
        for lane in 0..N::value().comptime() {
            count += u32::cast_from(loaded[k].extract(lane) != M::from_int(0));
        }
    }
    count
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn compact_kernel<V: Numeric, M: Numeric, I: Numeric, N: Size>(
    values: &[Vector<V, N>],
    mask: &[Vector<M, N>],
    output: &mut [V],
    indices: &mut [I],
    count: &mut [I],
    state: &[Atomic<u32>],
    vectors: usize,
    tiles: usize,
    tag: u32,
    polls: u32,
    #[comptime] emit: Emit,
    #[comptime] config: TileConfig,
    #[comptime] chain_config: ChainConfig,
    #[define(V)] _value_type: ElemType,
    #[define(M)] _mask_type: ElemType,
    #[define(I)] _index_type: ElemType,
) {
    let lanes = N::value().comptime();
    let tile = take_ticket(state, CUBE_COUNT as u32);
    if tile < tiles {
        let mut totals = Shared::<[u32]>::new_slice(comptime!(config.totals() + 1));
        let per_tile = comptime!(config.units * config.vectors).runtime();
        let first = tile * per_tile;
        let loaded = load_mask::<M, N>(mask, first, vectors, config);
        let own = scan_totals::<u32>(
            count_unit::<M, N>(&loaded, config),
            0u32,
            &mut totals,
            config,
        );

        let chain = Chain { tiles, tag, polls };
        let mut walk = Walk::<u32>::new(tile, 0usize, chain_config);
        walk.announce(state, chain, own.aggregate, chain_config);
        walk.begin(state, chain, 0u32, chain_config);
        while walk.advance(state, chain, chain_config) {
            let other = load_mask::<M, N>(mask, walk.missing() * per_tile, vectors, config);
            let other = scan_totals::<u32>(
                count_unit::<M, N>(&other, config),
                0u32,
                &mut totals,
                config,
            );
            walk.supply(state, chain, other.aggregate, chain_config);
        }
        let before = walk.finish(state, chain, own.aggregate, chain_config);

        if tile + 1 == tiles && UNIT_POS == 0 {
            count[0] = I::cast_from(before + own.aggregate);
        }
        let mut rank = (before + own.exclusive) as usize;
        #[unroll]
        for k in 0..config.vectors {
            let at = first + UNIT_POS as usize * config.vectors + k;
            if at < vectors {
                let flags = loaded[k];
                let mut kept = Vector::<V, N>::new(V::from_int(0));
                if comptime!(emit == Emit::Values) {
                    kept = values[at];
                }
                #[unroll]
                for lane in 0..lanes {
                    let position = at * lanes + lane;
                    let keep = flags.extract(lane) != M::from_int(0);
                    let tail = vectors * lanes - 1 - (position - rank);
                    let slot = select(keep, rank, tail);
                    match emit {
                        Emit::Values => {
                            output[slot] = select(keep, kept.extract(lane), V::from_int(0));
                        }
                        Emit::Indices => {
                            indices[slot] = select(keep, I::cast_from(position), I::from_int(0));
                        }
                        Emit::Slots => {
                            indices[position] = select(keep, I::cast_from(rank), I::from_int(-1));
                        }
                    }
                    rank += usize::cast_from(keep);
                }
            }
        }
    }
}

/// Compacts by `mask` (any non-zero is true), row-major and in order.
///
/// All tensors are contiguous. With [`Emit::Values`], `values` and `output` have the mask's size and the element type `dtype`; otherwise the
/// output has the mask's size and the integer type `index`. `count` is one `index`. Nothing waits for the device.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] where the device cannot hold a type, [`ScanError::ShapeMismatch`] where sizes differ or the values to emit are missing,
/// [`ScanError::NoChain`] where the device has no 32-bit atomics or is capturing a graph.
#[expect(
    clippy::too_many_arguments,
    reason = "a tensor operation's arguments, then the launch options"
)]
pub fn compact(
    client: &Client,
    values: Option<(TensorBinding, ElemType)>,
    mask: (TensorBinding, ElemType),
    output: TensorBinding,
    count: TensorBinding,
    index: ElemType,
    emit: Emit,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    if let Some(obstacle) = scratch::obstacle(client) {
        return Err(ScanError::NoChain { obstacle });
    }
    let n: usize = mask.0.shape.iter().product();
    if emit == Emit::Values && values.is_none() {
        return Err(ScanError::ShapeMismatch {
            operand: "values",
            expected: mask.0.shape.to_vec(),
            found: Vec::new(),
        });
    }
    let (mask, mask_type) = mask;
    let elements = |tensor: &TensorBinding| tensor.shape.iter().product::<usize>();
    for (operand, found) in [("output", &output)]
        .into_iter()
        .chain(values.as_ref().map(|(values, _)| ("values", values)))
    {
        if elements(found) != n {
            return Err(ScanError::ShapeMismatch {
                operand,
                expected: mask.shape.to_vec(),
                found: found.shape.to_vec(),
            });
        }
    }
    let value_type = values.as_ref().map_or(index, |(_, dtype)| *dtype);
    for dtype in [value_type, mask_type, index] {
        if !client.properties().supports_type(dtype) {
            return Err(ScanError::UnsupportedType {
                dtype,
                device: client.name(),
            });
        }
    }
    let widest = value_type.size().max(mask_type.size());
    let offsets = [Some(&mask), values.as_ref().map(|(values, _)| values)];
    let lanes = client
        .io_optimized_vector_sizes(widest)
        .filter(|width| {
            n % width == 0
                && n > 0
                && offsets
                    .iter()
                    .flatten()
                    .zip([mask_type.size(), value_type.size()])
                    .all(|(tensor, size)| {
                        tensor.handle.offset_start.unwrap_or(0) as usize / size % width == 0
                    })
        })
        .max()
        .unwrap_or(1);
    let address_type = [
        Some(&mask),
        values.as_ref().map(|(values, _)| values),
        Some(&output),
    ]
    .into_iter()
    .flatten()
    .map(|tensor| tensor.required_address_type(1))
    .max()
    .unwrap_or_default();
    // Counts are scanned in shared memory whatever the device: the blocked arrangement keeps each unit's survivors together.
    let tuning = Tuning::of(
        client,
        &LaunchOptions {
            plane: Some(false),
            ..launch
        },
    );
    let config = TileConfig {
        op: ScanOp::Sum,
        exclusive: true,
        reverse: false,
        plane: false,
        vectors: tuning.vectors,
        units: tuning.units,
        max_planes: 0,
    };
    let chain = ChainConfig::new(
        ScanOp::Sum,
        ElemType::UInt(UIntKind::U32),
        tuning.units,
        launch.mute_every,
    );
    let vectors = n / lanes;
    let tiles = vectors.div_ceil(tuning.units * tuning.vectors).max(1);
    let (state, tag) = scratch::take(client, chain.state_words(tiles));
    // A buffer that is bound but never accessed: the outputs that `emit` does not name, and everything of an empty mask, since no
    // buffer of no bytes can be bound.
    // SAFETY: one element of any type fits.
    let unused = || unsafe { BufferArg::from_raw_parts(client.empty(16), 1) };
    let bound = |tensor: TensorBinding| {
        if n == 0 {
            unused()
        } else {
            tensor.into_buffer_arg()
        }
    };
    let (values, values_out, indices_out) = match (emit, values) {
        (Emit::Values, Some((values, _))) => (bound(values), bound(output), unused()),
        _ => (unused(), unused(), bound(output)),
    };
    // SAFETY: mask, values and output hold `n` elements, and the kernel guards each vector by that bound; the state holds an
    // aggregate and a prefix per tile.
    unsafe {
        compact_kernel::launch_unchecked(
            client,
            cube_count(client, tiles),
            CubeDim::new_1d(tuning.units as u32),
            address_type,
            lanes,
            values,
            bound(mask),
            values_out,
            indices_out,
            count.into_buffer_arg(),
            state,
            vectors,
            tiles,
            tag,
            tuning.polls,
            emit,
            config,
            chain,
            value_type,
            mask_type,
            index,
        );
    }
    Ok(())
}
