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

/// The units that rake, and the totals of each.
#[derive_cube_comptime]
pub(crate) struct Rake {
    pub totals: usize,
    pub rakers: usize,
}

impl Rake {
    /// Up to 32 rakers: each walks its own totals, then the totals of the rakers before it.
    pub(crate) fn new(totals: usize, units: usize) -> Self {
        let rakers = units.min(32);
        Self { totals, rakers }
    }

    pub(crate) fn share(&self) -> usize {
        self.totals.div_ceil(self.rakers)
    }

    /// The states in shared memory: the totals, each share one state apart from the next so that rakers use different
    /// banks, then the totals of the shares, then that of all.
    pub(crate) fn states(&self) -> usize {
        self.rakers * (self.share() + 1) + self.rakers + 1
    }
}

/// Where total `index` lies.
#[cube]
pub(crate) fn place_of_total(index: usize, #[comptime] rake: Rake) -> usize {
    let share = comptime!(rake.share());
    index + index / share
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
}

#[cube]
impl RowsOfVectors {
    /// Vectors of one row that begins at or before the first of them.
    pub fn whole() -> RowsOfVectors {
        RowsOfVectors {
            last: 0usize,
            len: 0usize,
            lanes: 1usize,
        }
    }

    /// Whether a row begins in the last `count` vectors up to vector `index`.
    fn begins(&self, index: usize, count: usize) -> bool {
        let last = (self.last + index * self.lanes) % max(self.len, 1usize);
        self.len > 0 && last < count * self.lanes
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
    let share = comptime!(rake.share());
    let sums = comptime!(rake.rakers * (rake.share() + 1));
    let unit = UNIT_POS as usize;
    let first = unit * share;
    let rakes = unit < comptime!(rake.rakers);
    sync_cube();
    if rakes {
        let mut running = M::State::copy(identity);
        for i in 0..share {
            if first + i < rake.totals {
                let total = M::State::get(&*shared, place_of_total(first + i, rake));
                let with = join::<A, M>(&running, &total, op);
                let begins = rows.begins(first + i, 1usize);
                running = M::State::select(begins, &total, &with);
            }
        }
        M::State::set(shared, sums + unit, &running);
    }
    sync_cube();
    if rakes {
        let mut running = M::State::copy(identity);
        for earlier in 0..unit {
            let total = M::State::get(&*shared, sums + earlier);
            let with = join::<A, M>(&running, &total, op);
            let begins = rows.begins((earlier + 1) * share - 1, share);
            running = M::State::select(begins, &total, &with);
        }
        for i in 0..share {
            if first + i < rake.totals {
                let at = place_of_total(first + i, rake);
                let total = M::State::get(&*shared, at);
                M::State::set(shared, at, &running);
                let with = join::<A, M>(&running, &total, op);
                let begins = rows.begins(first + i, 1usize);
                running = M::State::select(begins, &total, &with);
            }
        }
        if unit == comptime!(rake.rakers - 1) {
            M::State::set(shared, sums + comptime!(rake.rakers), &running);
        }
    }
    sync_cube();
    M::State::get(&*shared, sums + comptime!(rake.rakers))
}
