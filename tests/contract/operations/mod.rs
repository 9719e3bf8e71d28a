//! The tests of each operation. The module above must define the sizes to try.
//!
//! `tests/remote` compiles this folder again, with fewer sizes.

use super::{LARGE_SIZES, SIZES, TILE};

/// `every_rank!(check)` is `check!([..], [..], ..)` with shapes of every rank. The rank is part of a tensor's type.
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

#[cfg(feature = "flex")]
mod burns_own;
mod compact;
mod compact_along;
mod compact_dim;
mod expand;
mod given_size;
mod indices;
mod largest;
mod log_sum_exp;
mod names;
mod partition;
mod ragged;
mod recurrence;
mod running;
mod runs;
mod scan;
mod scan_from;
mod scan_values;
mod scan_views;
mod segmented;
mod sort;
mod sort_by_key;
