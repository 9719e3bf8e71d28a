//! From the totals of vectors to what precedes each of them in its row.
//!
//! The vectors of a cube or of a plane lie one after the other, and rows begin and end anywhere among them. A vector's
//! *reach* is how many vectors back the row of its last element begins. A scan of totals never combines across it.
//!
//! ```text
//! rows of 3 vectors    │ a b c │ d e f │ g h
//! reach                  0 1 2   0 1 2   0 1
//! inclusive              a ab abc d de def g gh
//! ```
//!
//! With plane operations: a Kogge-Stone ladder of shuffles (1973), as far as rows reach. Without them: some units rake
//! the totals in shared memory (Sengupta, Harris & Garland 2008): each walks neighbouring totals, twice.

use crate::monoid::{Monoid, State, join};
use cubecl::prelude::*;

/// Totals that a raker reads before it combines the first. Simulated, a row of 2^18 takes 10,200 cycles with eight,
/// 11,100 with four and 20,000 with one.
const AT_ONCE: usize = 8;

/// The units that rake, and the totals of each.
#[derive_cube_comptime]
pub(crate) struct Rake {
    pub totals: usize,
    pub rakers: usize,
    /// Totals that a raker reads at once.
    at_once: usize,
    /// A raker keeps its totals in registers between its two walks.
    memoizes: bool,
}

impl Rake {
    /// Up to 32 rakers: each walks its own totals, then the totals of the rakers before it.
    pub(crate) fn new(totals: usize, units: usize) -> Self {
        let share = totals.div_ceil(units.min(32));
        Self {
            totals,
            rakers: totals.div_ceil(share),
            at_once: AT_ONCE,
            memoizes: false,
        }
    }

    /// The same order of combinations, by rakers that read their totals once and keep them.
    pub(crate) fn memoizing(self) -> Self {
        Self {
            at_once: self.share(),
            memoizes: true,
            ..self
        }
    }

    /// The same order of combinations, in short code, for what runs rarely.
    pub(crate) fn in_short_code(self) -> Self {
        Self { at_once: 1, ..self }
    }

    pub(crate) fn share(&self) -> usize {
        self.totals.div_ceil(self.rakers)
    }

    /// Whether every share is whole batches of totals.
    fn is_even(&self) -> bool {
        self.totals.is_multiple_of(self.rakers * self.at_once)
    }

    /// The distance between shares. It is odd, so that rakers use different banks of shared memory.
    fn stride(&self) -> usize {
        self.share() | 1
    }

    /// Where the totals of the shares lie, after the totals.
    fn sums(&self) -> usize {
        self.rakers * self.stride()
    }

    /// The states in shared memory: the totals, then the totals of the shares, then that of all.
    pub(crate) fn states(&self) -> usize {
        self.sums() + self.rakers + 1
    }
}

/// Where total `index` lies.
#[cube]
pub(crate) fn place_of_total(index: usize, #[comptime] rake: Rake) -> usize {
    let share = comptime!(rake.share());
    index + index / share * comptime!(rake.stride() - share)
}

/// Where rows begin among the vectors of a cube.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(crate) struct RowsOfVectors {
    /// The last element of the first vector, in its row.
    pub last: usize,
    /// Elements of a row, and of a vector.
    pub len: usize,
    pub lanes: usize,
    /// Whether all vectors are of one row.
    #[cube(comptime)]
    pub is_one: bool,
}

#[cube]
impl RowsOfVectors {
    /// Vectors of one row that begins at or before the first of them.
    pub fn whole() -> RowsOfVectors {
        RowsOfVectors {
            last: 0usize,
            len: 0usize,
            lanes: 1usize,
            is_one: true,
        }
    }

    /// Whether a row begins in the last `count` vectors up to vector `index`.
    fn begins(&self, index: usize, count: usize) -> bool {
        let last = (self.last + index * self.lanes) % self.len;
        last < count * self.lanes
    }
}

/// Replaces each total by what precedes it, and returns the total of all since the last row began. Units have set the
/// totals at their [places](place_of_total()). The whole cube calls it; `shared` may be used again after a barrier.
#[cube]
pub(crate) fn rake_totals<A: Numeric, M: Monoid<A>>(
    shared: &mut <M::State as State>::Shared,
    rows: RowsOfVectors,
    identity: &M::State,
    #[comptime] rake: Rake,
    #[comptime] op: M::Config,
) -> M::State {
    let sums = comptime!(rake.sums());
    let unit = UNIT_POS as usize;
    let rakes = unit < comptime!(rake.rakers);
    sync_cube();
    let held = if comptime!(rake.memoizes) {
        read_share::<M::State>(&*shared, 0usize, rake)
    } else {
        Sequence::new()
    };
    if rakes {
        let mut running = M::State::copy(identity);
        for batch in 0..comptime!(rake.share().div_ceil(rake.at_once)) {
            let read = batch_of::<M::State>(&held, &*shared, batch, rake);
            #[unroll]
            for i in 0..rake.at_once {
                running = follow::<A, M>(
                    &running,
                    &read[i],
                    rows,
                    batch * comptime!(rake.at_once) + i,
                    rake,
                    op,
                );
            }
        }
        M::State::set(shared, sums + unit, &running);
    }
    sync_cube();
    if rakes {
        let mut running = before_share::<A, M>(&*shared, rows, identity, rake, op);
        for batch in 0..comptime!(rake.share().div_ceil(rake.at_once)) {
            let read = batch_of::<M::State>(&held, &*shared, batch, rake);
            #[unroll]
            for i in 0..rake.at_once {
                let at = batch * comptime!(rake.at_once) + i;
                if has_total(at, rake) {
                    M::State::set(shared, place_in_share(at, rake), &running);
                }
                running = follow::<A, M>(&running, &read[i], rows, at, rake, op);
            }
        }
        if unit == comptime!(rake.rakers - 1) {
            M::State::set(shared, sums + comptime!(rake.rakers), &running);
        }
    }
    sync_cube();
    M::State::get(&*shared, sums + comptime!(rake.rakers))
}

/// Whether the raker has such a total.
#[cube]
fn has_total(at: usize, #[comptime] rake: Rake) -> bool {
    if comptime!(rake.is_even()) {
        true.runtime()
    } else {
        let share = comptime!(rake.share());
        at < share && UNIT_POS as usize * share + at < rake.totals
    }
}

/// Where a total of the raker lies.
#[cube]
fn place_in_share(at: usize, #[comptime] rake: Rake) -> usize {
    UNIT_POS as usize * comptime!(rake.stride()) + at
}

/// A batch of the raker's totals. Totals that it does not have are unspecified.
#[cube]
fn read_share<S: State>(shared: &S::Shared, batch: usize, #[comptime] rake: Rake) -> Sequence<S> {
    let mut read = Sequence::<S>::new();
    #[unroll]
    for i in 0..rake.at_once {
        let at = place_in_share(batch * comptime!(rake.at_once) + i, rake);
        read.push(S::get(shared, min(at, comptime!(rake.states() - 1))));
    }
    read
}

/// A batch of the raker's totals: those that it `held`, if it memoizes.
#[cube]
fn batch_of<S: State>(
    held: &Sequence<S>,
    shared: &S::Shared,
    batch: usize,
    #[comptime] rake: Rake,
) -> Sequence<S> {
    if comptime!(rake.memoizes) {
        held.clone()
    } else {
        read_share::<S>(shared, batch, rake)
    }
}

/// What precedes the raker's next total, if `running` precedes this one.
#[cube]
fn follow<A: Numeric, M: Monoid<A>>(
    running: &M::State,
    total: &M::State,
    rows: RowsOfVectors,
    at: usize,
    #[comptime] rake: Rake,
    #[comptime] op: M::Config,
) -> M::State {
    let with = join::<A, M>(running, total, op);
    let with = if comptime!(rows.is_one) {
        with
    } else {
        let begins = rows.begins(UNIT_POS as usize * comptime!(rake.share()) + at, 1usize);
        M::State::select(begins, total, &with)
    };
    if comptime!(rake.is_even()) {
        with
    } else {
        M::State::select(has_total(at, rake), &with, running)
    }
}

/// What precedes the share of this raker: the totals of those before it.
#[cube]
fn before_share<A: Numeric, M: Monoid<A>>(
    shared: &<M::State as State>::Shared,
    rows: RowsOfVectors,
    identity: &M::State,
    #[comptime] rake: Rake,
    #[comptime] op: M::Config,
) -> M::State {
    let share = comptime!(rake.share());
    let sums = comptime!(rake.sums());
    let unit = UNIT_POS as usize;
    let mut running = M::State::copy(identity);
    let mut earlier = 0usize;
    while earlier < unit {
        let mut read = Sequence::<M::State>::new();
        #[unroll]
        for i in 0..rake.at_once {
            read.push(M::State::get(shared, sums + min(earlier + i, unit)));
        }
        #[unroll]
        for i in 0..rake.at_once {
            let with = join::<A, M>(&running, &read[i], op);
            let with = if comptime!(rows.is_one) {
                with
            } else {
                let begins = rows.begins((earlier + i + 1) * share - 1, share);
                M::State::select(begins, &read[i], &with)
            };
            running = M::State::select(earlier + i < unit, &with, &running);
        }
        earlier += comptime!(rake.at_once);
    }
    running
}
