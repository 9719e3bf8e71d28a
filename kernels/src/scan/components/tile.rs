//! One tile of a row, held in registers.
//!
//! A tile is what one cube scans: `units × vectors × lanes` consecutive elements of a row. Which vectors a unit holds depends
//! on the arrangement:
//!
//! ```text
//! blocked (no plane ops)              striped (plane ops)
//! unit 0   v0 v1 v2 v3                unit 0   v0 v8  v16 …      plane 0 holds v0 … v31,
//! unit 1   v4 v5 v6 v7                unit 1   v1 v9  v17 …      plane 1 the next 32, …
//! ```
//!
//! Blocked, a unit scans all it holds on its own, and only its total meets the cube. Striped, a load of the whole plane is one
//! coalesced run; the totals of each run are scanned across the plane and carried into the next.
//!
//! Positions along the row are *logical*: with `reverse` the logical element `j` is the stored element `len − 1 − j`.
//!
//! Beyond the end of its row a tile holds the row's last vector over and over: nothing passes from later elements to earlier ones, and nobody
//! asks for the total of a row's last tile. So all loads of a tile are issued without a branch between them.

use super::element_rows::{ElementAccess, load_elements, write_elements};
use super::plane_scan::{lane_of_unit, plane_of_unit, plane_units, shift_up};
use super::tensors::{Edges, Loaded, Reads, Writes, lane_at, state_of, write_vector};
use crate::monoid::{Monoid, State, join};
use cubecl::prelude::*;

/// The comptime facts of a tile; the key of a compiled kernel.
#[derive_cube_comptime]
pub struct TileConfig {
    /// Leave the own element out.
    pub exclusive: bool,
    /// From the last element towards the first.
    pub reverse: bool,
    /// Striped arrangement with plane scans, or blocked without.
    pub plane: bool,
    /// Vectors a unit holds.
    pub vectors: usize,
    /// Units of a cube.
    pub units: usize,
    /// An upper bound of the planes in a cube.
    pub max_planes: usize,
    /// Units of a plane, or 0 where they are not known.
    pub plane_size: usize,
    /// How many of a unit's vectors wait in shared memory for what precedes them, not in registers: its first.
    pub parked: usize,
    /// Rows are read and written one by one: see [`element_rows`](super::element_rows).
    pub by_elements: bool,
}

impl TileConfig {
    /// How rows are read one by one.
    pub(crate) fn access(&self) -> ElementAccess {
        ElementAccess {
            plane: self.plane,
            plane_size: self.plane_size,
            reverse: self.reverse,
        }
    }

    /// How many totals of one tile meet in shared memory.
    pub(crate) fn totals(&self) -> usize {
        if self.plane {
            self.max_planes
        } else {
            self.units
        }
    }
}

/// A row as a kernel sees it, in vectors, or in elements where it is read one by one.
#[derive(CubeType)]
pub(crate) struct Row {
    /// Where the row begins in each input.
    pub inputs: Sequence<usize>,
    /// Where it begins in the output.
    pub output: usize,
    /// Its length.
    pub vectors: usize,
    /// The same, in elements where the row is read one by one.
    pub stored: usize,
}

/// What one unit holds after its own scan.
///
/// The elements wait as they were loaded. Every one is combined into a total first, and into what precedes it once that is known. In registers
/// a compiler would keep what it has made of them instead, such as f16 as f32.
#[derive(CubeType)]
pub(crate) struct UnitTile<T: Numeric, N: Size, S: State> {
    loaded: Sequence<Loaded<T, N>>,
    /// Where the elements are parked, input after input; each unit reads what it wrote.
    parked: Shared<[Vector<T, N>]>,
    /// The total of what the unit (or its plane) holds before each vector, parked or not: see [`parked_totals`].
    before: Sequence<S>,
    parked_before: S::Shared,
    /// The total of the unit (blocked) or of its plane (striped).
    pub total: S,
}

/// The logical vector, counted from the tile's first, that this unit holds as its `k`-th.
#[cube]
pub(crate) fn vector_in_tile(k: usize, #[comptime] config: TileConfig) -> usize {
    if comptime!(config.plane) {
        let units = plane_units(config.plane_size) as usize;
        let plane = plane_of_unit(config.plane_size) as usize * units * config.vectors;
        plane + k * units + lane_of_unit(config.plane_size) as usize
    } else {
        UNIT_POS as usize * config.vectors + k
    }
}

#[cube]
pub(crate) fn stored_vector(logical: usize, row: &Row, #[comptime] reverse: bool) -> usize {
    if comptime!(reverse) {
        row.vectors - 1 - logical
    } else {
        logical
    }
}

/// A logical vector of the row, or its last, of each input.
#[cube]
pub(crate) fn load_vectors<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    row: &Row,
    logical: usize,
    #[comptime] reverse: bool,
) -> Loaded<T, N> {
    let lanes = N::value().comptime();
    let logical = min(logical, row.vectors - 1);
    let at = stored_vector(logical, row, reverse);
    let mut vectors = Sequence::<Vector<T, N>>::new();
    #[unroll]
    for i in 0..reads.inputs.len().comptime() {
        vectors.push(reads.inputs[i][row.inputs[i] + at]);
    }
    let mut edges = Edges::new();
    #[unroll]
    for lane in 0..lanes {
        let index = (row.output + at) * lanes + lane;
        let position = at * lanes + lane;
        let len = row.vectors * lanes;
        edges.push::<T, N, B>(reads, index, position, len, 1usize, reverse);
    }
    Loaded::<T, N> {
        vectors,
        edges,
        position: at * lanes,
        step: 1usize,
    }
}

/// A logical vector of a tile.
#[cube]
fn load_of_tile<T: Numeric, A: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    row: &Row,
    logical: usize,
    #[comptime] config: TileConfig,
) -> Loaded<T, N> {
    if comptime!(config.by_elements) {
        load_elements::<T, A, N, B>(reads, row, logical, config.access())
    } else {
        load_vectors::<T, N, B>(reads, row, logical, config.reverse)
    }
}

/// Room for the parked vectors of `inputs` tensors.
pub(crate) fn parking(inputs: usize, config: TileConfig) -> usize {
    (inputs * config.parked * config.units).max(1)
}

/// Of how many vectors the totals before them are parked beside the elements. Compiled for sm_80 and sm_90, it saves the scans of elements of up
/// to 32 bits their last spills, and costs those of i64 eight.
fn parked_totals(element: usize, config: TileConfig) -> usize {
    if element <= 4 { config.parked } else { 0 }
}

/// Where a unit parks its `k`-th vector of an input: neighbours side by side.
#[cube]
fn parking_place(
    #[comptime] input: usize,
    #[comptime] k: usize,
    #[comptime] config: TileConfig,
) -> usize {
    comptime!((input * config.parked + k) * config.units) + UNIT_POS as usize
}

/// Puts a unit's `k`-th vector where it waits.
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

/// The elements of a unit's `k`-th vector, from where they wait.
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

/// The total of the elements of a vector.
#[cube]
fn fold_vectors<T: Numeric, A: Numeric, N: Size, M: Monoid<A>>(
    loaded: &Loaded<T, N>,
    #[comptime] config: TileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let lanes = N::value().comptime();
    let first = comptime!(lane_at(0, lanes, config.reverse));
    let mut total = state_of::<T, A, N, M>(loaded, first, op);
    #[unroll]
    for step in 1..lanes {
        let lane = comptime!(lane_at(step, lanes, config.reverse));
        let state = state_of::<T, A, N, M>(loaded, lane, op);
        total = join::<A, M>(&total, &state, op);
    }
    total
}

/// The total that [`UnitTile::load`] would find, without holding the tile.
///
/// A loop, not unrolled: on software adapters, which run both sides of a branch with the idle one masked, the code of a
/// fallback that is not taken costs as much as it is long.
#[cube]
pub(crate) fn total_of<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    reads: &Reads<T, N, B>,
    row: &Row,
    first: usize,
    identity: &M::State,
    #[comptime] config: TileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let last_lane = plane_units(config.plane_size) - 1;
    let mut total = M::State::copy(identity);
    for k in 0..config.vectors {
        let logical = first + vector_in_tile(k, config);
        let loaded = load_of_tile::<T, A, N, B>(reads, row, logical, config);
        let mut run = fold_vectors::<T, A, N, M>(&loaded, config, op);
        if comptime!(config.plane) {
            let inclusive = M::plane_inclusive(&run, config.plane_size, op);
            run = M::State::shuffle(&inclusive, last_lane);
        }
        total = join::<A, M>(&total, &run, op);
    }
    total
}

#[cube]
impl<T: Numeric, N: Size, S: State> UnitTile<T, N, S> {
    /// Loads the tile that begins at the row's vector `first` and learns what precedes each vector that this unit holds.
    pub fn load<A: Numeric, B: Numeric, M: Monoid<A, State = S>>(
        reads: &Reads<T, N, B>,
        row: &Row,
        first: usize,
        identity: &S,
        #[comptime] config: TileConfig,
        #[comptime] op: M::Config,
    ) -> UnitTile<T, N, S> {
        let mut loaded = Sequence::<Loaded<T, N>>::new();
        #[unroll]
        for k in 0..config.vectors {
            let logical = first + vector_in_tile(k, config);
            loaded.push(load_of_tile::<T, A, N, B>(reads, row, logical, config));
        }
        let inputs = comptime!(reads.inputs.len() + reads.elements.len());
        let mut parked = Shared::<[Vector<T, N>]>::new_slice(comptime!(parking(inputs, config)));
        #[unroll]
        for k in 0..config.parked {
            park::<T, N>(&mut parked, &loaded[k], k, config);
        }
        let mut before = Sequence::<S>::new();
        let element = elem_type_of::<T>();
        let totals = comptime!(parked_totals(element.size(), config));
        let mut parked_before = S::allocate(comptime!((totals * config.units).max(1)));
        let last_lane = plane_units(config.plane_size) - 1;
        let mut total = S::copy(identity);
        #[unroll]
        for k in 0..config.vectors {
            let own = fold_vectors::<T, A, N, M>(&loaded[k], config, op);
            if comptime!(config.plane) {
                let inclusive = M::plane_inclusive(&own, config.plane_size, op);
                let earlier = shift_up::<S>(&inclusive, identity, config.plane_size);
                before.push(join::<A, M>(&total, &earlier, op));
                let run = S::shuffle(&inclusive, last_lane);
                total = join::<A, M>(&total, &run, op);
            } else {
                before.push(S::copy(&total));
                total = join::<A, M>(&total, &own, op);
            }
            if comptime!(k < totals) {
                S::set(
                    &mut parked_before,
                    parking_place(0usize, k, config),
                    &before[k],
                );
            }
        }
        UnitTile::<T, N, S> {
            loaded,
            parked,
            before,
            parked_before,
            total,
        }
    }

    fn before(&self, #[comptime] k: usize, #[comptime] config: TileConfig) -> S {
        let element = elem_type_of::<T>();
        if comptime!(k < parked_totals(element.size(), config)) {
            S::get(&self.parked_before, parking_place(0usize, k, config))
        } else {
            S::copy(&self.before[k])
        }
    }

    /// Writes the scanned tile, `prefix` being the total of all that precedes this unit (or its plane) in the row.
    #[allow(
        clippy::too_many_arguments,
        reason = "what a tile is written from, and the facts of a kernel"
    )]
    pub fn store<A: Numeric, P: Numeric, M: Monoid<A, State = S>>(
        &self,
        writes: &mut Writes<T, N, P>,
        row: &Row,
        first: usize,
        prefix: &S,
        identity: &S,
        #[comptime] config: TileConfig,
        #[comptime] op: M::Config,
    ) {
        #[unroll]
        for k in 0..config.vectors {
            let logical = first + vector_in_tile(k, config);
            if comptime!(config.by_elements) {
                // The plane hands the results over, also beyond the row.
                let states = self.results::<A, M>(k, prefix, identity, config, op);
                write_elements::<T, A, N, P, M>(writes, row, logical, &states, config.access(), op);
            } else if logical < row.vectors {
                let states = self.results::<A, M>(k, prefix, identity, config, op);
                let at = row.output + stored_vector(logical, row, config.reverse);
                write_vector::<T, A, N, P, M>(writes, at, &states, config.reverse, op);
            }
        }
    }

    /// The results in a unit's `k`-th vector, in the order of the scan.
    fn results<A: Numeric, M: Monoid<A, State = S>>(
        &self,
        #[comptime] k: usize,
        prefix: &S,
        identity: &S,
        #[comptime] config: TileConfig,
        #[comptime] op: M::Config,
    ) -> Sequence<S> {
        let lanes = N::value().comptime();
        let own = elements::<T, N>(&self.loaded[k], &self.parked, k, config);
        let mut running = join::<A, M>(prefix, &self.before(k, config), op);
        let mut states = Sequence::<S>::new();
        #[unroll]
        for step in 0..lanes {
            let lane = comptime!(lane_at(step, lanes, config.reverse));
            let state = state_of::<T, A, N, M>(&own, lane, op);
            if comptime!(config.exclusive) {
                states.push(own.edges.before::<S>(&running, identity, lane));
            }
            running = join::<A, M>(&running, &state, op);
            if comptime!(!config.exclusive) {
                states.push(S::copy(&running));
            }
        }
        states
    }
}
