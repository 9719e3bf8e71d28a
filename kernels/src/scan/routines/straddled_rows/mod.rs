//! `per_unit` for rows whose ends vectors straddle: rows of an odd length, one behind the other.
//!
//! ```text
//! row        h h│v v v v│v v v v│v v v v│v v v v│t     whole vectors of the tensor between two edges
//! chunks       └─ chunk 0 ─────┘└─ chunk 1 ─────┘└─ chunk 2 …  vectors straddle their ends, too
//! launch 1   the total of each chunk
//! launch 2   the exclusive scan of the totals of each row, if they are many
//! launch 3   each chunk again: its scan, stored in vectors; the last also stores what precedes the edge behind it
//! launch 4   both edges, element by element
//! ```
//!
//! An element in a vector costs a software adapter half as much as alone. Edges share their vectors with other rows,
//! and no kernel may write a buffer both in vectors and in elements. So a fourth launch writes the edges. Chunks end
//! where they would if the row began with a vector. So the bits of a result do not depend on the row's place in memory,
//! and a reverse scan mirrors a forward one. The chunk in which a vector begins stores it. Behind the chunk's last
//! element it continues from what precedes the next chunk.

mod chunks;
mod edges;
mod geometry;

use crate::monoid::Operator;
use crate::scan::call::Call;
use crate::scan::components::chunks::{ChunksLaunch, PerUnitConfig, config, grid};
use crate::scan::parts::{CarryIn, Parts};
use crate::scan::scratch;
use crate::scan::split::Split;
use chunks::{straddled_scan_kernel, straddled_totals_kernel};
use cubecl::prelude::*;
use edges::row_edges_kernel;

/// Whether vectors straddle the ends of rows, and rows are long enough to have vectors of their own.
pub(super) fn serves<O: Operator>(call: &Call<O>) -> bool {
    call.lanes < call.widest_vector
        && call.starts_aligned
        && call.lines.is_contiguous_rows()
        && call.len() >= 2 * call.widest_vector
        && call.tensors.starts.is_none()
        && call.tensors.positions.is_none()
}

/// The whole vectors that each row has at least, so that no chunk begins in the edge behind them.
pub(super) fn vectors<O: Operator>(call: &Call<O>) -> usize {
    call.len() / call.widest_vector - 1
}

/// Launches chunks of whole vectors as `split` says.
pub(super) fn launch<O: Operator>(call: Call<O>, split: Split) {
    let [dtype, accumulator, ..] = call.types();
    let parts = Parts {
        outer: call.rows(),
        parts: split.parts,
        inner: 1,
    };
    let launches = Launches {
        config: config(&call, parts.carry_in()),
        count: parts.count(),
        split,
        call: &call,
    };
    let words = call.rows() * call.state_words();
    let behind = scratch::temporary(call.client, words * size_of::<u32>());
    // SAFETY: the buffer was made with so many words.
    let behind = || unsafe { BufferArg::from_raw_parts(behind.clone(), words) };
    let totals = |states| launches.totals(states);
    let scan = |states| launches.scan(states, behind());
    parts.launch::<O>(call.client, [dtype, accumulator], call.op, totals, scan);
    launches.edges(behind());
}

/// What the launches of one call have in common.
struct Launches<'a, O: Operator> {
    call: &'a Call<'a, O>,
    split: Split,
    /// Chunks of all rows.
    count: usize,
    config: PerUnitConfig,
}

impl<O: Operator> Launches<'_, O> {
    fn chunks(&self) -> ChunksLaunch {
        ChunksLaunch::new(self.split.len, self.split.parts, self.count)
    }

    /// Launch 1: the total of each chunk.
    fn totals(&self, states: BufferArg) {
        let call = self.call;
        let [dtype, accumulator, starts, _] = call.types();
        let (cubes, cube_dim) = grid(call, self.count);
        // SAFETY: there is one state per chunk; a chunk ends with the whole vectors of its row.
        unsafe {
            straddled_totals_kernel::launch_unchecked::<O>(
                call.client,
                cubes,
                cube_dim,
                call.address_type,
                call.widest_vector,
                call.reads_both_ways(),
                states,
                call.len(),
                self.chunks(),
                call.seed(),
                PerUnitConfig {
                    exclusive: false,
                    carry_in: CarryIn::Whole,
                    ..self.config
                },
                call.op,
                dtype,
                accumulator,
                starts,
            );
        }
    }

    /// Launch 3: the scan of each chunk. The last chunk of a row leaves in `behind` what precedes the edge behind it.
    fn scan(&self, states: BufferArg, behind: BufferArg) {
        let call = self.call;
        let [dtype, accumulator, starts, positions] = call.types();
        let (cubes, cube_dim) = grid(call, self.count);
        // SAFETY: as for the totals, and one state per row; the outputs hold the same elements as the inputs.
        unsafe {
            straddled_scan_kernel::launch_unchecked::<O>(
                call.client,
                cubes,
                cube_dim,
                call.address_type,
                call.widest_vector,
                call.reads_both_ways(),
                call.writes(),
                states,
                behind,
                call.len(),
                self.chunks(),
                call.seed(),
                self.config,
                call.op,
                dtype,
                accumulator,
                starts,
                positions,
            );
        }
    }

    /// Launch 4: both edges of each row.
    fn edges(&self, behind: BufferArg) {
        let call = self.call;
        let [dtype, accumulator, starts, positions] = call.types();
        let count = 2 * call.rows();
        let (cubes, cube_dim) = grid(call, count);
        // SAFETY: one state per row; the outputs hold the same elements as the inputs, and an edge ends with its row.
        unsafe {
            row_edges_kernel::launch_unchecked::<O>(
                call.client,
                cubes,
                cube_dim,
                call.address_type,
                call.widest_vector,
                call.reads_both_ways(),
                call.writes_elements(),
                behind,
                call.len(),
                count,
                call.seed(),
                self.config,
                call.op,
                dtype,
                accumulator,
                starts,
                positions,
            );
        }
    }
}
