//! A cube's part of rows that lie one behind the other, each shorter than the cube's tile.
//!
//! The tensor is read as one flat sequence of vectors. Units of a plane (without plane operations: of the cube) take
//! vectors side by side, so every access is coalesced, whatever the length of a row:
//!
//! ```text
//! rows of 5 elements   a b c d e f g h i j k l m n o p …
//! vectors of 4         ├unit 0┤├unit 1┤├unit 2┤├unit 3┤
//! total of a vector    abcd    fgh     kl      p          since the last row that began in it
//! what precedes it     nothing abcd    ijk(l)…            since its row began: see `vector_totals`
//! ```
//!
//! A unit has several such vectors, a stripe apart. A stripe hands the total of its last row on to the next one, and a
//! plane to the planes behind it, through shared memory: unless each plane has whole rows.

use super::flat_rows::{FlatRows, Place, flat_vectors};
use super::plane_scan::{lane_of_unit, plane_of_unit, plane_units, shift_up};
use super::tensors::{Edges, Reads, Writes, begin_of_line, lane_at, state_at, write_vector};
use super::vector_totals::{Rake, RowsOfVectors, place_of_total, rake_totals, scan_within_reach};
use crate::monoid::{Monoid, State, join};
use cubecl::prelude::*;

/// The comptime facts of the kernel.
#[derive_cube_comptime]
pub(crate) struct FlatTileConfig {
    pub exclusive: bool,
    pub reverse: bool,
    /// Vectors straddle no rows.
    pub whole_vectors: bool,
    /// Plane operations.
    pub plane: bool,
    /// Each plane has rows of its own.
    pub planes_alone: bool,
    pub plane_size: usize,
    pub max_planes: usize,
    /// Vectors held by a unit.
    pub vectors: usize,
    /// Units of a cube.
    pub units: usize,
}

impl FlatTileConfig {
    fn rake(&self) -> Rake {
        Rake::new(self.vectors * self.units, self.units)
    }

    /// States in shared memory.
    fn shared_states(&self) -> usize {
        match (self.plane, self.planes_alone) {
            (true, true) => 1,
            (true, false) => self.max_planes,
            (false, _) => self.rake().states(),
        }
    }
}

/// Where the vectors of a unit lie.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Stripes {
    /// The first vector of the units that hold vectors side by side.
    first: usize,
    /// From stripe to stripe: how many units these are.
    apart: usize,
    /// This unit's place among them.
    own: usize,
    /// The first vector that belongs to others.
    end: usize,
}

#[cube]
impl Stripes {
    fn new(flat: FlatRows, span: usize, #[comptime] config: FlatTileConfig) -> Stripes {
        let mut apart = comptime!(config.units).runtime();
        let mut own = UNIT_POS as usize;
        let mut group = CUBE_POS;
        let mut within_group = 0usize;
        if comptime!(config.plane) {
            apart = plane_units(config.plane_size) as usize;
            own = lane_of_unit(config.plane_size) as usize;
            let plane = plane_of_unit(config.plane_size) as usize;
            if comptime!(config.planes_alone) {
                group = CUBE_POS * (comptime!(config.units).runtime() / apart) + plane;
            } else {
                within_group = plane * apart * config.vectors;
            }
        }
        Stripes {
            first: group * span + within_group,
            apart,
            own,
            end: min((group + 1) * span, flat.vectors),
        }
    }

    /// How many vectors the unit's `k`-th one is behind the first.
    fn behind(&self, #[comptime] k: usize) -> usize {
        k * self.apart + self.own
    }
}

/// The vectors of a unit, as they were loaded.
#[derive(CubeType)]
struct Held<T: Numeric, N: Size> {
    loaded: Sequence<Sequence<Vector<T, N>>>,
    /// Of each element, in the order of the scan.
    edges: Sequence<Edges>,
}

/// What precedes a unit's vectors in their rows, as far as its plane or cube knows it.
#[derive(CubeType)]
struct Preceding<S: State> {
    vectors: Sequence<S>,
    /// The total of the plane since the last row in it began.
    total: S,
}

/// What is the same in every element: the tensors' rows, and how they begin.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Facts {
    flat: FlatRows,
    stripes: Stripes,
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
    span: usize,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) {
    let lanes = N::value().comptime();
    let stripes = Stripes::new(flat, span, config);
    let facts = Facts { flat, stripes };
    let mut shared = M::State::allocate(comptime!(config.shared_states()));
    let held = load::<T, N, B>(reads, facts, config);
    let preceding =
        preceding::<T, A, N, B, M>(&held, &mut shared, reads, facts, identity, config, op);
    let mut prefix = M::State::copy(identity);
    if comptime!(config.plane && !config.planes_alone) {
        prefix = before_plane::<A, M>(
            &preceding.total,
            &mut shared,
            facts,
            identity,
            lanes,
            config,
            op,
        );
    }
    #[unroll]
    for k in 0..config.vectors {
        let vector = stripes.first + stripes.behind(k);
        let place = flat.place(vector * lanes);
        let mut before = M::State::copy(&preceding.vectors[k]);
        if comptime!(config.plane && !config.planes_alone) {
            let lacks = place.within.div_ceil(lanes) > stripes.behind(k);
            let full = join::<A, M>(&prefix, &before, op);
            before = M::State::select(lacks, &full, &before);
        }
        let states =
            results::<T, A, N, B, M>(&held, k, before, place, reads, facts, identity, config, op);
        if vector < stripes.end {
            let to = flat.stored(vector, config.reverse);
            write_vector::<T, A, N, P, M>(writes, to, &states, config.reverse, op);
        }
    }
}

/// All loads of a unit, with no branch between them. Beyond the tensor its last vector is read again.
#[cube]
fn load<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    facts: Facts,
    #[comptime] config: FlatTileConfig,
) -> Held<T, N> {
    let lanes = N::value().comptime();
    let flat = facts.flat;
    let mut loaded = Sequence::<Sequence<Vector<T, N>>>::new();
    let mut edges = Sequence::<Edges>::new();
    #[unroll]
    for k in 0..config.vectors {
        let vector = facts.stripes.first + facts.stripes.behind(k);
        let stored = flat.stored(min(vector, flat.vectors - 1), config.reverse);
        loaded.push(flat_vectors::<T, N, B>(reads, stored));
        let mut place = flat.place(vector * lanes);
        #[unroll]
        for step in 0..lanes {
            let at = stored * lanes + comptime!(lane_at(step, lanes, config.reverse));
            edges.push(flat.edges::<T, N, B>(reads, at, &place, config.reverse));
            place.advance(flat.len);
        }
    }
    Held::<T, N> { loaded, edges }
}

/// The state before an element, and that of the element itself.
#[derive(CubeType)]
struct Element<S: State> {
    before: S,
    own: S,
}

/// An element of a unit's `k`-th vector. `running` is what precedes it, unless its row begins with it.
#[cube]
fn element<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    #[comptime] k: usize,
    #[comptime] step: usize,
    running: &M::State,
    place: &Place,
    reads: &Reads<T, N, B>,
    flat: FlatRows,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> Element<M::State> {
    let lanes = N::value().comptime();
    let mut before = M::State::copy(running);
    if comptime!(step == 0 || !config.whole_vectors) {
        let line = flat.line(place, config.reverse);
        let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
        before = M::State::select(place.within == 0, &begin, running);
    }
    let lane = comptime!(lane_at(step, lanes, config.reverse));
    let edges = &held.edges[comptime!(k * lanes + step)];
    let position = flat.position(place, config.reverse);
    let own = state_at::<T, A, N, M>(&held.loaded[k], lane, edges, 0usize, position, op);
    Element::<M::State> { before, own }
}

/// The total of a unit's `k`-th vector since the last row that began in it.
#[cube]
fn total_of_vector<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    #[comptime] k: usize,
    mut place: Place,
    reads: &Reads<T, N, B>,
    flat: FlatRows,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let lanes = N::value().comptime();
    let mut running = M::State::copy(identity);
    #[unroll]
    for step in 0..lanes {
        let element = element::<T, A, N, B, M>(
            held, k, step, &running, &place, reads, flat, identity, config, op,
        );
        running = join::<A, M>(&element.before, &element.own, op);
        place.advance(flat.len);
    }
    running
}

/// What precedes the unit's vectors in its plane, or without plane operations in its cube.
#[cube]
fn preceding<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    shared: &mut <M::State as State>::Shared,
    reads: &Reads<T, N, B>,
    facts: Facts,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> Preceding<M::State> {
    if comptime!(config.plane) {
        in_plane::<T, A, N, B, M>(held, reads, facts, identity, config, op)
    } else {
        in_cube::<T, A, N, B, M>(held, shared, reads, facts, identity, config, op)
    }
}

/// What precedes the unit's vectors in its plane.
#[cube]
fn in_plane<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    reads: &Reads<T, N, B>,
    facts: Facts,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> Preceding<M::State> {
    let lanes = N::value().comptime();
    let (flat, stripes) = (facts.flat, facts.stripes);
    let units = plane_units(config.plane_size);
    let lane = lane_of_unit(config.plane_size);
    let farthest = min((flat.len - 1) / lanes, units as usize - 1) as u32;
    let mut vectors = Sequence::<M::State>::new();
    let mut carry = M::State::copy(identity);
    #[unroll]
    for k in 0..config.vectors {
        let place = flat.place((stripes.first + stripes.behind(k)) * lanes);
        let within = place.within;
        let own =
            total_of_vector::<T, A, N, B, M>(held, k, place, reads, flat, identity, config, op);
        // From the row's begin to the last element, and to the first.
        let reach = (within + lanes - 1) % flat.len / lanes;
        let reach_of_first = within.div_ceil(lanes);
        let inclusive = scan_within_reach::<A, M>(
            &own,
            min(reach, lane as usize) as u32,
            farthest,
            config.plane_size,
            op,
        );
        let earlier = shift_up::<M::State>(&inclusive, identity, config.plane_size);
        let with = join::<A, M>(&carry, &earlier, op);
        let with = M::State::select(lane == 0, &carry, &with);
        vectors.push(M::State::select(
            reach_of_first > lane as usize,
            &with,
            &earlier,
        ));
        let with = join::<A, M>(&carry, &inclusive, op);
        let full = M::State::select(reach > lane as usize, &with, &inclusive);
        carry = M::State::shuffle(&full, units - 1);
    }
    Preceding::<M::State> {
        vectors,
        total: carry,
    }
}

/// What the planes before this one hold of the row that its first element belongs to.
#[cube]
fn before_plane<A: Numeric, M: Monoid<A>>(
    total: &M::State,
    shared: &mut <M::State as State>::Shared,
    facts: Facts,
    identity: &M::State,
    #[comptime] lanes: usize,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> M::State {
    let plane = plane_of_unit(config.plane_size) as usize;
    if lane_of_unit(config.plane_size) == 0 {
        M::State::set(shared, plane, total);
    }
    sync_cube();
    let of_plane = facts.stripes.apart * comptime!(config.vectors * lanes);
    let begun = facts.flat.place(facts.stripes.first * lanes).within;
    let first = plane - min(begun.div_ceil(of_plane), plane);
    let mut prefix = M::State::copy(identity);
    for earlier in first..plane {
        let total = M::State::get(&*shared, earlier);
        let with = join::<A, M>(&prefix, &total, op);
        // The first total may hold what the row resumes from, which is no operand on the right.
        prefix = M::State::select(earlier == first, &total, &with);
    }
    prefix
}

/// What precedes the unit's vectors in its cube.
#[cube]
fn in_cube<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    shared: &mut <M::State as State>::Shared,
    reads: &Reads<T, N, B>,
    facts: Facts,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> Preceding<M::State> {
    let lanes = N::value().comptime();
    let (flat, stripes) = (facts.flat, facts.stripes);
    let rake = comptime!(config.rake());
    #[unroll]
    for k in 0..config.vectors {
        let place = flat.place((stripes.first + stripes.behind(k)) * lanes);
        let own =
            total_of_vector::<T, A, N, B, M>(held, k, place, reads, flat, identity, config, op);
        M::State::set(shared, place_of_total(stripes.behind(k), rake), &own);
    }
    let rows = RowsOfVectors {
        last: flat.place(stripes.first * lanes).within + lanes - 1,
        len: flat.len,
        lanes,
    };
    let total = rake_totals::<A, M>(shared, rows, identity, rake, op);
    let mut vectors = Sequence::<M::State>::new();
    #[unroll]
    for k in 0..config.vectors {
        vectors.push(M::State::get(
            &*shared,
            place_of_total(stripes.behind(k), rake),
        ));
    }
    Preceding::<M::State> { vectors, total }
}

/// The results in a unit's `k`-th vector, in the order of the scan.
#[cube]
fn results<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    #[comptime] k: usize,
    before: M::State,
    mut place: Place,
    reads: &Reads<T, N, B>,
    facts: Facts,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> Sequence<M::State> {
    let lanes = N::value().comptime();
    let mut running = before;
    let mut states = Sequence::<M::State>::new();
    #[unroll]
    for step in 0..lanes {
        let element = element::<T, A, N, B, M>(
            held, k, step, &running, &place, reads, facts.flat, identity, config, op,
        );
        running = join::<A, M>(&element.before, &element.own, op);
        if comptime!(config.exclusive) {
            let edges = &held.edges[comptime!(k * lanes + step)];
            states.push(edges.before::<M::State>(&element.before, identity, 0usize));
        } else {
            states.push(M::State::copy(&running));
        }
        place.advance(facts.flat.len);
    }
    states
}
