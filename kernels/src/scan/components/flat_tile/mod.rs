//! A cube's part of rows that lie one after the other, each shorter than the cube's tile.
//!
//! The tensor is read as one flat sequence of vectors. Units of a plane (without plane operations: of the cube) take
//! vectors side by side, so every access is coalesced, whatever the length of a row:
//!
//! ```text
//! rows of 5 elements   a b c d e f g h i j k l m n o p …
//! vectors of 4         ├unit 0┤├unit 1┤├unit 2┤├unit 3┤
//! total of a vector    abcd    fgh     kl      p          since the last row that began in it
//! what precedes it     nothing abcd    fgh     kl         since its row began: see `vector_totals`
//! ```
//!
//! A unit has several such vectors, a stripe apart. A stripe hands the total of its last row on to the next one, and a
//! plane to the planes after it, through shared memory, unless each plane has whole rows.

mod held;
mod preceding;

use super::args::{Reads, Writes};
use super::flat_rows::{FlatRows, RowPlace};
use super::plane_scan::{lane_of_unit, plane_of_unit, plane_units};
use super::tensors::{stored_at, write_vector};
use super::tile::TileConfig;
use crate::monoid::{Monoid, State, join};
use cubecl::prelude::*;
use held::{element, load};
use preceding::{before_plane, in_cube, in_plane};

#[derive_cube_comptime]
pub(crate) struct FlatTileConfig {
    /// Nothing is staged, and nothing is read by elements.
    pub tile: TileConfig,
    /// Vectors straddle no rows.
    pub whole_vectors: bool,
    /// Each plane has rows of its own.
    pub planes_alone: bool,
}

impl FlatTileConfig {
    /// States in shared memory.
    fn shared_states(&self) -> usize {
        if self.planes_alone {
            1
        } else {
            self.tile.shared_states()
        }
    }

    /// Planes hand their totals on.
    fn planes_together(&self) -> bool {
        self.tile.plane && !self.planes_alone
    }
}

/// Where the vectors of a unit lie.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Stripes {
    flat: FlatRows,
    /// The number of the span.
    span: usize,
    /// The first vector of the units that hold vectors side by side: its place in the span, and in the tensor.
    in_span: usize,
    first: usize,
    /// The distance from stripe to stripe: the number of these units.
    apart: usize,
    /// This unit's place among them.
    own: usize,
    /// The first vector that belongs to others.
    end: usize,
}

#[cube]
impl Stripes {
    fn new(flat: FlatRows, #[comptime] config: FlatTileConfig) -> Stripes {
        let mut apart = comptime!(config.tile.units).runtime();
        let mut own = UNIT_POS as usize;
        let mut group = CUBE_POS;
        let mut within_group = 0usize;
        if comptime!(config.tile.plane) {
            apart = plane_units(config.tile.plane_size) as usize;
            own = lane_of_unit(config.tile.plane_size) as usize;
            let plane = plane_of_unit(config.tile.plane_size) as usize;
            if comptime!(config.planes_alone) {
                group = CUBE_POS * (comptime!(config.tile.units).runtime() / apart) + plane;
            } else {
                within_group = plane * apart * config.tile.vectors;
            }
        }
        Stripes {
            flat,
            span: group,
            in_span: within_group,
            first: group * flat.span + within_group,
            apart,
            own,
            end: min((group + 1) * flat.span, flat.vectors),
        }
    }

    /// How many vectors the unit's `k`-th one lies after the first.
    fn offset(&self, #[comptime] k: usize) -> usize {
        k * self.apart + self.own
    }

    /// The place of the first element of a vector, counted from the first of the stripes.
    fn place(&self, vector: usize, #[comptime] lanes: usize) -> RowPlace {
        self.flat.place(self.span, (self.in_span + vector) * lanes)
    }
}

#[cube]
pub(crate) fn scan_flat_tile<
    T: Numeric,
    A: Numeric,
    N: Size,
    B: Numeric,
    P: Numeric,
    M: Monoid<A>,
>(
    reads: &Reads<T, N, B>,
    writes: &mut Writes<T, N, P>,
    flat: FlatRows,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let stripes = Stripes::new(flat, config);
    let mut shared = M::State::allocate(comptime!(config.shared_states()));
    let held = load::<T, N, B>(reads, stripes, config);
    let preceding = if comptime!(config.tile.plane) {
        in_plane::<T, A, N, B, M>(&held, reads, stripes, identity, config, op)
    } else {
        in_cube::<T, A, N, B, M>(&held, &mut shared, reads, stripes, identity, config, op)
    };
    let mut prefix = M::State::copy(identity);
    if comptime!(config.planes_together()) {
        prefix = before_plane::<A, M>(
            &preceding.total,
            &mut shared,
            stripes,
            identity,
            lanes,
            config,
            op,
        );
    }
    #[unroll]
    for k in 0..config.tile.vectors {
        let vector = stripes.first + stripes.offset(k);
        let mut place = stripes.place(stripes.offset(k), lanes);
        let mut before = M::State::copy(&preceding.vectors[k]);
        if comptime!(config.planes_together()) {
            let lacks = place.within.div_ceil(lanes) > stripes.offset(k);
            let full = join::<A, M>(&prefix, &before, op);
            before = M::State::select(lacks, &full, &before);
        }
        let mut states = Sequence::<M::State>::new();
        #[unroll]
        for step in 0..lanes {
            let (earlier, own) = element::<T, A, N, B, M>(
                &held, k, step, &before, &place, reads, flat, identity, config, op,
            );
            before = join::<A, M>(&earlier, &own, op);
            if comptime!(config.tile.exclusive) {
                states.push(held.edges[k].before::<M::State>(&earlier, identity, step));
            } else {
                states.push(M::State::copy(&before));
            }
            place.advance(flat.len);
        }
        if vector < stripes.end {
            let to = stored_at(vector, flat.vectors, config.tile.reverse);
            write_vector::<T, A, N, P, M>(writes, to, &states, config.tile.reverse, op);
        }
    }
}
