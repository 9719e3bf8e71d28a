//! The contract's own tests, on remote devices, of fewer sizes: what a size does to a kernel is not what a network
//! changes.

/// Shapes of every rank, as in the contract's own binary.
macro_rules! every_rank {
    ($check:ident) => {
        $check!(
            [11],
            [13, 7],
            [5, 3, 11],
            [3, 5, 2, 7],
            [0, 3],
            [2, 0, 4],
            [1, 1, 1, 1],
            [70, 90]
        )
    };
}

#[path = "../../contract/burns_own.rs"]
mod burns_own;
#[path = "../../contract/compact.rs"]
mod compact;
#[path = "../../contract/compact_along.rs"]
mod compact_along;
#[path = "../../contract/compact_dim.rs"]
mod compact_dim;
#[path = "../../contract/expand.rs"]
mod expand;
#[path = "../../contract/indices.rs"]
mod indices;
#[path = "../../contract/log_sum_exp.rs"]
mod log_sum_exp;
#[path = "../../contract/names.rs"]
mod names;
#[path = "../../contract/partition.rs"]
mod partition;
#[path = "../../contract/ragged.rs"]
mod ragged;
#[path = "../../contract/recurrence.rs"]
mod recurrence;
#[path = "../../contract/running.rs"]
mod running;
#[path = "../../contract/runs.rs"]
mod runs;
#[path = "../../contract/scan.rs"]
mod scan;
#[path = "../../contract/scan_from.rs"]
mod scan_from;
#[path = "../../contract/scan_values.rs"]
mod scan_values;
#[path = "../../contract/scan_views.rs"]
mod scan_views;
#[path = "../../contract/segmented.rs"]
mod segmented;

/// What the other binaries take for a tile; here a number of elements like any other.
const TILE: usize = 512;

/// Empty, one element, a few, many.
const SIZES: [usize; 6] = [0, 1, 2, 65, 1025, 4097];

/// Beyond what is scanned on one thread.
const LARGE_SIZES: [usize; 2] = [65_537, 262_143];
