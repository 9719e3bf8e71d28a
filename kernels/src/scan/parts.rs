//! Lines split into parts: reduce, then scan. Any kernel may walk the parts: [`before_part()`] finds what precedes one.
//!
//! ```text
//! launch 1   each part: its total
//! launch 2   each line: the exclusive scan of its totals, in place; left out if they are few
//! launch 3   each part: what precedes it, then its scan
//! ```
//!
//! A line of one part needs launch 3 alone. In launch 2 a cube scans the totals of a line; each unit takes neighbouring
//! parts.

pub(crate) use super::split::Split;

use super::components::cube_totals::scan_totals;
use super::components::tile::TileConfig;
use super::grid::cube_count;
use super::scratch::temporary_words;
use crate::monoid::{Monoid, Operator, State, StateOf, join, read_state, write_state};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// The most totals that each part folds for itself: more take longer than a launch.
const FOLDED_BY_EACH: usize = 16;

/// Units that scan the totals of a line. Few enough that one of them walks all their totals quickly. No loop comes near
/// the 65,535 rounds after which some drivers end it: that would take 2^22 parts.
const UNITS: usize = 64;

/// Lines, `[outer, parts, inner]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Parts {
    /// Lines one after the other.
    pub outer: usize,
    /// Parts of a line.
    pub parts: usize,
    /// Lines side by side.
    pub inner: usize,
}

impl Parts {
    /// The parts of all lines.
    pub(crate) fn count(&self) -> usize {
        self.outer * self.parts * self.inner
    }

    /// Launches the kernels that walk the parts. `walk` without a carry writes the state of each part into its buffer;
    /// with one it reads from that buffer what [`before_part()`] needs. If lines have one part, it is only called with
    /// [`CarryIn::Whole`], and does not read its buffer.
    ///
    /// The two types are of elements and of their accumulator. Nothing waits for the device.
    pub(crate) fn launch<O: Operator>(
        self,
        client: &Client,
        [dtype, accumulator]: [ElemType; 2],
        op: O::Config,
        walk: impl Fn(BufferArg, Option<CarryIn>),
    ) {
        let carry_in = match self.parts {
            1 => CarryIn::Whole,
            ..=FOLDED_BY_EACH => CarryIn::Totals,
            _ => CarryIn::Prefixes,
        };
        let words = match carry_in {
            CarryIn::Whole => 1,
            _ => O::state_size(accumulator).div_ceil(size_of::<u32>()) * self.count(),
        };
        let states = temporary_words(client, words);
        let states = || states.clone().into_buffer_arg();
        if self.parts > 1 {
            walk(states(), None);
        }
        if carry_in == CarryIn::Prefixes {
            let lines = self.outer * self.inner;
            // SAFETY: a state for each part of each line.
            unsafe {
                prefixes_kernel::launch_unchecked::<O>(
                    client,
                    cube_count(client, lines),
                    CubeDim::new_1d(UNITS as u32),
                    AddressType::default(),
                    states(),
                    lines,
                    self.parts,
                    self.inner,
                    O::seed(op, dtype, accumulator),
                    op,
                    accumulator,
                );
            }
        }
        walk(states(), Some(carry_in));
    }
}

/// How a part learns what precedes it.
#[derive_cube_comptime]
pub(crate) enum CarryIn {
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
pub(crate) fn before_part<A: Numeric, M: Monoid<A>>(
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

/// Turns the totals of each line into what precedes its parts.
#[cube(launch_unchecked, address_type = "dynamic")]
fn prefixes_kernel<A: Numeric, O: Operator>(
    states: &mut [u32],
    lines: usize,
    parts: usize,
    inner: usize,
    seed: InputScalar,
    #[comptime] op: O::Config,
    #[define(A)] _accumulator: ElemType,
) {
    if CUBE_POS < lines {
        let at = CUBE_POS / inner * parts * inner + CUBE_POS % inner;
        let identity = O::Monoid::<A>::identity(seed.get::<A>(), op);
        let config = comptime!(TileConfig::of_counts(false, [UNITS, 1], 1, 0));
        let mut shared = StateOf::<O, A>::allocate(comptime!(config.totals() + 1));
        let each = parts.div_ceil(UNITS);
        let first = min(UNIT_POS as usize * each, parts);
        let end = min(first + each, parts);
        let mut total = StateOf::<O, A>::copy(&identity);
        for part in first..end {
            let state = read_state::<StateOf<O, A>>(&*states, at + part * inner);
            total = join::<A, O::Monoid<A>>(&total, &state, op);
        }
        let own = scan_totals::<A, O::Monoid<A>>(&total, &identity, &mut shared, config, op);
        let mut running = own.exclusive;
        for part in first..end {
            let state = read_state::<StateOf<O, A>>(&*states, at + part * inner);
            write_state::<StateOf<O, A>>(states, at + part * inner, &running);
            running = join::<A, O::Monoid<A>>(&running, &state, op);
        }
    }
}
