//! What precedes a part of a split line.

use crate::monoid::{Monoid, State, join, read_state};
use cubecl::prelude::*;

/// How a part learns what precedes it.
#[derive_cube_comptime]
pub enum CarryIn {
    /// The line is one part.
    Whole,
    /// The part folds the totals of the parts before it.
    Totals,
    /// Another launch has folded them.
    Prefixes,
}

/// What precedes part `part` of a line. `first` precedes the line. State number `at` belongs to the line's first part;
/// the others follow at distances of `apart`.
#[cube]
pub fn before_part<A: Numeric, M: Monoid<A>>(
    states: &[u32],
    at: usize,
    apart: usize,
    part: usize,
    first: &M::State,
    #[comptime] carry_in: CarryIn,
    #[comptime] op: M::Config,
) -> M::State {
    let mut running = M::State::copy(first);
    match carry_in {
        CarryIn::Whole => {}
        CarryIn::Totals => {
            for earlier in 0..part {
                let total = read_state::<M::State>(states, at + earlier * apart);
                running = join::<A, M>(&running, &total, op);
            }
        }
        CarryIn::Prefixes => {
            let prefix = read_state::<M::State>(states, at + part * apart);
            running = join::<A, M>(&running, &prefix, op);
        }
    }
    running
}
