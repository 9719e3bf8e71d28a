//! Lines that are split into parts: reduce, then scan. Any kernel may walk the parts.
//!
//! ```text
//! launch 1   each part: its total
//! launch 2   each line: the exclusive scan of its totals, in place; left out if they are few
//! launch 3   each part: what precedes it, then its scan
//! ```
//!
//! A line of one part needs launch 3 alone. In launch 2 a cube scans the totals of a line; each unit takes neighbouring
//! parts.
//!
//! A kernel of your own needs only to walk a part. [`Split`] says how long parts should be, [`Parts::launch`] launches,
//! [`write_state()`] leaves a total, and [`before_part()`] finds what precedes a part.
//!
//! ```no_run
//! use cubecl::client::Client;
//! use cubecl::prelude::*;
//! use cubecl::server::Handle;
//! use cubecl_scan::ScanOp;
//! use cubecl_scan::monoid::{Fold, write_state};
//! use cubecl_scan::scan::parts::{CarryIn, Parts, Split, before_part};
//!
//! /// The number of zeros in each part.
//! #[cube(launch_unchecked)]
//! fn count(bytes: &[u32], states: &mut [u32], len: usize) {
//!     let first = ABSOLUTE_POS * len;
//!     let mut zeros = 0u32;
//!     for at in first..min(first + len, bytes.len()) {
//!         zeros += u32::cast_from(bytes[at] == 0);
//!     }
//!     if first < bytes.len() {
//!         write_state::<u32>(states, ABSOLUTE_POS, &zeros);
//!     }
//! }
//!
//! /// For each element, how many zeros precede it.
//! #[cube(launch_unchecked)]
//! fn rank(bytes: &[u32], states: &[u32], ranks: &mut [u32], len: usize, #[comptime] carry_in: CarryIn) {
//!     let first = ABSOLUTE_POS * len;
//!     if first < bytes.len() {
//!         let sum = comptime!(ScanOp::Sum);
//!         let none = 0u32.runtime();
//!         let mut zeros = before_part::<u32, Fold>(states, 0, 1, ABSOLUTE_POS, &none, carry_in, sum);
//!         for at in first..min(first + len, bytes.len()) {
//!             ranks[at] = zeros;
//!             zeros += u32::cast_from(bytes[at] == 0);
//!         }
//!     }
//! }
//!
//! fn ranks(client: &Client, bytes: Handle, ranks: Handle, elements: usize) {
//!     let split = Split::columns(client, 1, elements);
//!     let parts = Parts { outer: 1, parts: split.parts, inner: 1 };
//!     let cubes = || CubeCount::Static(parts.count().div_ceil(64) as u32, 1, 1);
//!     let units = CubeDim::new_1d(64);
//!     // SAFETY: both buffers hold so many elements, and the driver makes a state for each part.
//!     let buffer = |handle: &Handle| unsafe { BufferArg::from_raw_parts(handle.clone(), elements) };
//!     let totals = |states| unsafe {
//!         count::launch_unchecked(client, cubes(), units, buffer(&bytes), states, split.len);
//!     };
//!     let scan = |states| unsafe {
//!         let carry_in = parts.carry_in();
//!         rank::launch_unchecked(client, cubes(), units, buffer(&bytes), states, buffer(&ranks), split.len, carry_in);
//!     };
//!     let word = u32::elem_type_native();
//!     parts.launch::<Fold>(client, [word, word], ScanOp::Sum, totals, scan);
//! }
//! # fn main() {}
//! ```

pub use super::components::parts::{CarryIn, before_part};
pub use super::split::Split;

use super::components::cube_totals::scan_totals;
use super::components::tile::TileConfig;
use super::grid::cube_count;
use super::scratch;
use crate::monoid::{Monoid, Operator, State, join, read_state, write_state};
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
pub struct Parts {
    /// Lines one behind the other.
    pub outer: usize,
    /// Parts of a line.
    pub parts: usize,
    /// Lines side by side.
    pub inner: usize,
}

impl Parts {
    /// The parts of all lines.
    pub fn count(&self) -> usize {
        self.outer * self.parts * self.inner
    }

    /// How a part learns what precedes it.
    pub fn carry_in(&self) -> CarryIn {
        match self.parts {
            1 => CarryIn::Whole,
            ..=FOLDED_BY_EACH => CarryIn::Totals,
            _ => CarryIn::Prefixes,
        }
    }

    /// Launches the kernels that walk the parts. `totals` writes the state of each part into its buffer. `scan` reads
    /// from that buffer what [`before_part()`] needs. If lines have one part only `scan` is called, and does not read
    /// its buffer.
    ///
    /// The two types are of elements and of their accumulator. Nothing waits for the device.
    pub fn launch<O: Operator>(
        self,
        client: &Client,
        [dtype, accumulator]: [ElemType; 2],
        op: O::Config,
        totals: impl FnOnce(BufferArg),
        scan: impl FnOnce(BufferArg),
    ) {
        let words = match self.carry_in() {
            CarryIn::Whole => 1,
            _ => O::state_size(accumulator).div_ceil(size_of::<u32>()) * self.count(),
        };
        let states = scratch::temporary(client, words * size_of::<u32>());
        // SAFETY: the buffer was made with so many words.
        let buffer = || unsafe { BufferArg::from_raw_parts(states.clone(), words) };
        if self.parts > 1 {
            totals(buffer());
        }
        if self.carry_in() == CarryIn::Prefixes {
            let lines = self.outer * self.inner;
            // SAFETY: a state for each part of each line.
            unsafe {
                prefixes_kernel::launch_unchecked::<O>(
                    client,
                    cube_count(client, lines),
                    CubeDim::new_1d(UNITS as u32),
                    AddressType::default(),
                    buffer(),
                    lines,
                    self.parts,
                    self.inner,
                    O::seed(op, dtype, accumulator),
                    op,
                    accumulator,
                );
            }
        }
        scan(buffer());
    }
}

/// The cube of [`prefixes_kernel`]: one total for each unit.
fn totals_of_units() -> TileConfig {
    TileConfig {
        exclusive: true,
        reverse: false,
        plane: false,
        vectors: 1,
        units: UNITS,
        max_planes: 1,
        plane_size: 0,
        staged: 0,
        by_elements: false,
    }
}

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
        scan_line::<A, O::Monoid<A>>(states, at, parts, inner, &identity, op);
    }
}

/// Turns the totals of a line into what precedes its parts.
#[cube]
fn scan_line<A: Numeric, M: Monoid<A>>(
    states: &mut [u32],
    at: usize,
    parts: usize,
    apart: usize,
    identity: &M::State,
    #[comptime] op: M::Config,
) {
    let config = comptime!(totals_of_units());
    let mut shared = M::State::allocate(comptime!(config.totals() + 1));
    let each = parts.div_ceil(UNITS);
    let first = min(UNIT_POS as usize * each, parts);
    let end = min(first + each, parts);
    let mut total = M::State::copy(identity);
    for part in first..end {
        let state = read_state::<M::State>(&*states, at + part * apart);
        total = join::<A, M>(&total, &state, op);
    }
    let own = scan_totals::<A, M>(&total, identity, &mut shared, config, op);
    let mut running = own.exclusive;
    for part in first..end {
        let state = read_state::<M::State>(&*states, at + part * apart);
        write_state::<M::State>(states, at + part * apart, &running);
        running = join::<A, M>(&running, &state, op);
    }
}
