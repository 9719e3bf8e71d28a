//! Flat compaction in a single pass.
//!
//! ```text
//! cube:   ticket → load mask tile → count per unit → scan counts ─→ publish count → look back → write
//!                  └ load values of units with survivors            └ stage survivors
//! ```
//!
//! The scan of the mask exists in registers only. Survivors go to the front in order. The others fill the tail: the `f`-th `false` of the
//! input writes the zero at `n − 1 − f`, so that every destination is written exactly once and nobody needs to know the total first.
//!
//! Where planes are used, the survivors of a tile first meet in shared memory, before the tile looks back, and neighbouring units then write
//! neighbouring elements:
//!
//! ```text
//! tile     a · b c · · d ·        shared   a b c d        output   … │ a b c d │ …     (zeros of the tile likewise, at the tail)
//! ```
//!
//! Elsewhere, in practice on software adapters, scattered writes cost no more than others, and each unit writes its own.
//!
//! Lookback, fallback and their guarantees are those of the scan: see [`lookback`](crate::scan::components::lookback).

use super::mask_tile::{Mark, MaskConfig, MaskTile, Row};
use super::plan::{Lines, Plan, Typed, bindable, same_elements, unused, view};
use super::{per_unit, place};
use crate::ScanError;
use crate::error::{check_outputs, check_types, expect_room};
use crate::scan::LaunchOptions;
use crate::scan::components::{
    lookback::take_ticket,
    tile::{TileConfig, vector_in_tile},
    tile_state::TileWords,
};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::LinearView;

/// What [`compact`] writes.
#[derive_cube_comptime]
#[non_exhaustive]
pub enum Emit {
    /// The values under `true`, zeros behind them.
    Values,
    /// The values under `true`; what is behind them is unspecified.
    ValuesUnpadded,
    /// The row-major positions of the `true`s, zeros behind them.
    Indices,
    /// The row-major positions of the `true`s; what is behind them is unspecified.
    IndicesUnpadded,
    /// For each position its rank among the `true`s, or −1 under `false`.
    Destinations,
}

impl Emit {
    pub(super) fn values(&self) -> bool {
        matches!(self, Emit::Values | Emit::ValuesUnpadded)
    }

    pub(super) fn fills(&self) -> bool {
        matches!(self, Emit::Values | Emit::Indices)
    }
}

/// What vector `at` has to emit.
#[cube]
pub(super) fn emitted<V: Numeric, N: Size>(
    values: &LinearView<'_, Vector<V, N>>,
    at: usize,
    #[comptime] emit: Emit,
) -> Vector<V, N> {
    if comptime!(emit.values()) {
        values.read(at)
    } else {
        let lanes = N::value().comptime();
        let mut positions = Vector::<V, N>::new(V::from_int(0));
        #[unroll]
        for lane in 0..lanes {
            positions.insert(lane, V::cast_from(at * lanes + lane));
        }
        positions
    }
}

/// Where the elements of a line go in the output.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct LineOut {
    /// The place of the first.
    pub first: usize,
    /// From one to the next.
    pub step: usize,
    pub len: usize,
}

/// Writes the lanes of vector `at` of a line to its front or, as zeros, to its tail; `rank` trues precede it.
#[cube]
pub(super) fn write_vector<V: Numeric, N: Size>(
    output: &mut [V],
    value: Vector<V, N>,
    flags: u32,
    rank: u32,
    at: usize,
    line: LineOut,
) {
    let lanes = N::value().comptime();
    let mut rank = rank as usize;
    #[unroll]
    for lane in 0..lanes {
        let keep = (flags >> comptime!(lane as u32)) & 1u32 == 1u32;
        let position = at * lanes + lane;
        let tail = line.len - 1 - (position - rank);
        let destination = line.first + select(keep, rank, tail) * line.step;
        output[destination] = select(keep, value.extract(lane), V::from_int(0));
        rank += select(keep, 1, 0);
    }
}

/// Writes the positions of what a unit holds, of which `rank` survivors precede the first (or that of its plane).
#[cube]
fn write_positions<I: Numeric>(
    tile_mask: &MaskTile,
    positions: &mut Sequence<&'static mut [I]>,
    row: Row,
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
            let flags = tile_mask.flags(k);
            let mut rank = (rank + tile_mask.before(k)) as usize;
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

/// Every unit writes what it holds, of which `rank` survivors precede the first (or that of its plane).
#[cube]
fn write_directly<V: Numeric, N: Size>(
    tile_mask: &MaskTile,
    values: &LinearView<'_, Vector<V, N>>,
    output: &mut [V],
    row: Row,
    rank: u32,
    #[comptime] emit: Emit,
    #[comptime] config: MaskConfig,
) {
    let lanes = N::value().comptime();
    let line = LineOut {
        first: row.begin * lanes,
        step: 1usize.runtime(),
        len: row.vectors * lanes,
    };
    #[unroll]
    for k in 0..config.tile.vectors {
        let at = row.first + vector_in_tile(k, config.tile);
        if at < row.vectors {
            let value = emitted::<V, N>(values, row.begin + at, emit);
            let rank = rank + tile_mask.before(k);
            let flags = tile_mask.flags(k);
            write_vector::<V, N>(output, value, flags, rank, at, line);
        }
    }
}

/// Vectors of a tile that are staged, a unit.
fn staged_vectors(config: TileConfig) -> usize {
    if config.plane { config.vectors } else { 0 }
}

/// Elements of the stage of a cube.
fn staged_elements(lanes: usize, config: TileConfig) -> usize {
    (staged_vectors(config) * config.units * lanes).max(1)
}

/// What a unit has to stage: the vectors in which something survives.
#[cube]
fn load_survivors<V: Numeric, N: Size>(
    tile_mask: &MaskTile,
    values: &LinearView<'_, Vector<V, N>>,
    row: Row,
    #[comptime] emit: Emit,
    #[comptime] config: MaskConfig,
) -> Sequence<Vector<V, N>> {
    let first = row.begin + row.first;
    let mut loaded = Sequence::<Vector<V, N>>::new();
    #[unroll]
    for k in 0..comptime!(staged_vectors(config.tile)) {
        let mut value = Vector::<V, N>::new(V::from_int(0));
        if tile_mask.flags(k) != 0u32 {
            value = emitted::<V, N>(values, first + vector_in_tile(k, config.tile), emit);
        }
        loaded.push(value);
    }
    loaded
}

/// Puts a unit's survivors where they belong among those of the tile; `rank` precede its own (or those of its plane).
#[cube]
fn stage_survivors<V: Numeric, N: Size>(
    stage: &mut Shared<[V]>,
    tile_mask: &MaskTile,
    loaded: &Sequence<Vector<V, N>>,
    rank: u32,
) {
    #[unroll]
    for k in 0..loaded.len().comptime() {
        let flags = tile_mask.flags(k);
        let mut rank = (rank + tile_mask.before(k)) as usize;
        #[unroll]
        for lane in 0..N::value().comptime() {
            if (flags >> comptime!(lane as u32)) & 1u32 == 1u32 {
                stage[rank] = loaded[k].extract(lane);
                rank += 1;
            }
        }
    }
}

/// Writes the staged survivors of the tile in order, `front` being those of the tiles before it in its row.
#[cube]
fn write_staged<V: Numeric, N: Size>(
    stage: &Shared<[V]>,
    output: &mut [V],
    row: Row,
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
    // The zeros of the tile end where those of the tiles before it begin.
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

#[cube(launch_unchecked, address_type = "dynamic")]
fn compact_kernel<V: Numeric, M: Numeric, I: Numeric, N: Size>(
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
    let tile = take_ticket(state, CUBE_COUNT as u32);
    if tile < words.tiles {
        let row = Row::of_tile(tile, vectors, words, config);
        let tile_mask = MaskTile::load::<M, N>(&mask, row, config);
        let loaded = load_survivors::<V, N>(&tile_mask, &values, row, emit, config);
        let mut own = tile_mask.publish(state, tile, words, config);
        let lanes = N::value().comptime();
        let mut stage = Shared::<[V]>::new_slice(comptime!(staged_elements(lanes, config.tile)));
        stage_survivors::<V, N>(&mut stage, &tile_mask, &loaded, own.unit);
        // The cube meets in it: all is staged before anything is written.
        let before = own.seek::<M, N>(&mask, state, tile, row, words, config);
        let rank = before + own.unit;
        if comptime!(config.tile.plane) {
            let (front, survivors) = (before as usize, own.survivors as usize);
            write_staged::<V, N>(&stage, output, row, front, survivors, emit, config);
        } else {
            write_directly::<V, N>(&tile_mask, &values, output, row, rank, emit, config);
        }
        write_positions::<I>(&tile_mask, positions, row, rank, lanes, config);
        if (tile + 1) % words.per_row == 0 && UNIT_POS == 0 {
            counts[row.index] = I::cast_from(before + own.survivors);
        }
    }
}

/// Compacts by `mask` (any non-zero is true), row-major and in order.
///
/// `values` and `mask` may have any strides and are read in place; `output` is contiguous. With [`Emit::Values`], `values` and `output` have the mask's
/// size and the element type `dtype`; otherwise `output` has the mask's size and the integer type `index`. `count` is one `index`. Nothing
/// waits for the device.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] where the device cannot hold a type, [`ScanError::ShapeMismatch`] where sizes differ or the values to emit are missing,
/// [`ScanError::InvalidOutput`] and [`ScanError::OverlappingMemory`] of outputs, [`ScanError::LookbackUnsupported`] where the device has no 32-bit atomics or is
/// capturing a graph.
///
/// # Panics
///
/// If `count` is empty.
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
    expect_room("count", &count, 1);
    if emit == Emit::Destinations {
        return place::destinations(client, mask, (output, index), count, launch);
    }
    same_elements("output", &output, &mask.0)?;
    let values = match values {
        Some(values) if emit.values() => {
            same_elements("values", &values.0, &mask.0)?;
            values
        }
        None if emit.values() => {
            return Err(ScanError::ShapeMismatch {
                operand: "values",
                expected: mask.0.shape.to_vec(),
                found: Vec::new(),
            });
        }
        _ => (unused(client), index),
    };
    let selection = Selection {
        lines: Lines::flat(&mask.0),
        values,
        mask,
        mark: Mark::NonZero,
        output,
        positions: None,
        counts: count,
        index,
        emit,
    };
    selection.launch(client, launch)
}

/// What a launch reads and writes, by the mask's elements.
pub(super) struct Selection {
    pub values: Typed,
    pub mask: Typed,
    pub lines: Lines,
    pub mark: Mark,
    pub output: TensorBinding,
    /// Room for the positions of what is kept, if they are asked for.
    pub positions: Option<TensorBinding>,
    /// One for each line.
    pub counts: TensorBinding,
    pub index: ElemType,
    pub emit: Emit,
}

impl Selection {
    /// Sizes have been checked.
    pub fn launch(self, client: &Client, launch: LaunchOptions) -> Result<(), ScanError> {
        let plan = self.plan(client, &[], launch)?;
        match plan.per_unit {
            true => per_unit::launch(client, plan, self),
            false => self.launch_tiles(client, &plan),
        }
        Ok(())
    }

    /// How to launch it, after all other checks. `others` are written beside what it names, with the bytes of their elements.
    pub fn plan(
        &self,
        client: &Client,
        others: &[(&'static str, &TensorBinding, usize)],
        launch: LaunchOptions,
    ) -> Result<Plan, ScanError> {
        let (emitted, index) = (self.values.1, self.index);
        let inputs = [
            ("values", &self.values.0, emitted.size()),
            ("mask", &self.mask.0, self.mask.1.size()),
        ];
        let output = [("output", &self.output, emitted.size())];
        let count = [("count", &self.counts, index.size())];
        check_outputs(&inputs, &[&output, others, &count].concat())?;
        // Where no values are asked for, a buffer of the call's own stands in.
        let beside = [&self.values];
        let beside = if self.emit.values() { &beside[..] } else { &[] };
        let plan = Plan::new(
            client,
            &self.mask,
            beside,
            emitted.size(),
            self.lines,
            self.mark,
            launch,
        )?;
        check_types(client, [emitted, index])?;
        Ok(plan)
    }

    /// One launch, by tiles.
    pub fn launch_tiles(self, client: &Client, plan: &Plan) {
        let (state, words) = plan.words(client);
        let address_type = self.address_type(plan);
        let mut positions = SequenceArg::new();
        if let Some(room) = self.positions {
            positions.push(room.into_buffer_arg());
        }
        // SAFETY: mask, values and output hold the same number of elements, and the kernel guards each vector by its row; a rank is below the
        // number of trues, and the tail begins behind them; the state holds an aggregate and a fallback per tile and a prefix per block; there is
        // a count for each row.
        unsafe {
            compact_kernel::launch_unchecked(
                client,
                plan.cube_count.clone(),
                plan.cube_dim,
                address_type,
                plan.lanes,
                view(client, self.values.0),
                view(client, self.mask.0),
                bindable(client, self.output).into_buffer_arg(),
                positions,
                bindable(client, self.counts).into_buffer_arg(),
                state,
                plan.vectors,
                words,
                self.emit,
                plan.config,
                self.values.1,
                self.mask.1,
                self.index,
            );
        }
    }

    pub fn address_type(&self, plan: &Plan) -> AddressType {
        plan.address_type
            .max(self.output.required_address_type(self.values.1.size()))
    }
}
