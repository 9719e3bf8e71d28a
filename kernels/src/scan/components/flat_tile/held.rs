//! The vectors of a unit, and the states of their elements.

use super::{FlatTileConfig, Stripes};
use crate::monoid::{Monoid, State, join};
use crate::scan::components::args::Reads;
use crate::scan::components::flat_rows::{FlatRows, RowPlace};
use crate::scan::components::tensors::{Edges, begin_of_line, state_at, stored_at};
use cubecl::prelude::*;

/// The vectors of a unit, as they were loaded.
#[derive(CubeType)]
pub(super) struct Held<T: Numeric, N: Size> {
    pub(super) loaded: Sequence<Sequence<Vector<T, N>>>,
    /// The edges in each vector, in the order of the scan.
    pub(super) edges: Sequence<Edges>,
}

/// All loads of a unit, with no branch between them. Beyond the tensor its last vector is read again.
#[cube]
pub(super) fn load<T: Numeric, N: Size, B: Numeric>(
    reads: &Reads<T, N, B>,
    stripes: Stripes,
    #[comptime] config: FlatTileConfig,
) -> Held<T, N> {
    let lanes = N::value().comptime();
    let flat = stripes.flat;
    let mut loaded = Sequence::<Sequence<Vector<T, N>>>::new();
    let mut edges = Sequence::<Edges>::new();
    #[unroll]
    for k in 0..config.tile.vectors {
        let vector = stripes.first + stripes.offset(k);
        let stored = stored_at(
            min(vector, flat.vectors - 1),
            flat.vectors,
            config.tile.reverse,
        );
        let mut vectors = Sequence::<Vector<T, N>>::new();
        #[unroll]
        for i in 0..comptime!(reads.inputs) {
            vectors.push(reads.vector(i, stored));
        }
        loaded.push(vectors);
        let mut place = stripes.place(stripes.offset(k), lanes);
        let mut own = Edges::new();
        #[unroll]
        for step in 0..lanes {
            let at = stored * lanes + comptime!(stored_at(step, lanes, config.tile.reverse));
            let position = flat.position(&place, config.tile.reverse);
            own.push::<T, N, B>(reads, at, position, flat.len, 1usize, config.tile.reverse);
            place.advance(flat.len);
        }
        edges.push(own);
    }
    Held::<T, N> { loaded, edges }
}

/// The states before an element of a unit's `k`-th vector, and of the element itself. `running` is what precedes it,
/// unless its row begins with it.
#[cube]
pub(super) fn element<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    #[comptime] k: usize,
    #[comptime] step: usize,
    running: &M::State,
    place: &RowPlace,
    reads: &Reads<T, N, B>,
    flat: FlatRows,
    identity: &M::State,
    #[comptime] config: FlatTileConfig,
    #[comptime] op: M::Config,
) -> (M::State, M::State) {
    let lanes = N::value().comptime();
    let mut before = M::State::copy(running);
    if comptime!(step == 0 || !config.whole_vectors) {
        let line = flat.line(place, config.tile.reverse);
        let begin = begin_of_line::<T, A, M>(&reads.initial, line, identity, op);
        before = M::State::select(place.within == 0, &begin, running);
    }
    let lane = comptime!(stored_at(step, lanes, config.tile.reverse));
    let position = flat.position(place, config.tile.reverse);
    let own = state_at::<T, A, N, M>(&held.loaded[k], lane, &held.edges[k], step, position, op);
    (before, own)
}

/// The total of a unit's `k`-th vector since the last row that began in it.
#[cube]
pub(super) fn total_of_vector<T: Numeric, A: Numeric, N: Size, B: Numeric, M: Monoid<A>>(
    held: &Held<T, N>,
    #[comptime] k: usize,
    mut place: RowPlace,
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
        let (earlier, own) = element::<T, A, N, B, M>(
            held, k, step, &running, &place, reads, flat, identity, config, op,
        );
        running = join::<A, M>(&earlier, &own, op);
        place.advance(flat.len);
    }
    running
}
