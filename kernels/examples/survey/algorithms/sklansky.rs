//! Sklansky, "Conditional-sum addition logic" (1960).
//!
//! Scanned blocks are joined in pairs: every unit of the right block combines the total of the left one. There are
//! ⌈log₂ n⌉ supersteps of one barrier each. A superstep reads only ends of left blocks, and no unit writes these in the
//! same superstep.
//!
//! ```text
//! unit       0    1    2    3    4    5
//! value      a    b    c    d    e    f
//! width 1    a    ab   c    cd   e    ef
//! width 2    a    ab   abc  abcd e    ef
//! width 4    a    ab   abc  abcd a..e a..f
//! ```

use super::config::doublings;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::cube::CubeScanConfig;
use cubecl_scan::operator::combine;

/// Leaves the inclusive scan in the first `config.units` elements.
#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) {
    join::<A>(
        value,
        1usize,
        shared,
        comptime!(doublings(config.units, 1)),
        config.op,
    );
}

/// Joins blocks of `width` units, each scanned on its own, `doublings` times. `scanned` is this unit's part of its
/// block.
#[cube]
pub(super) fn join<A: Numeric>(
    scanned: A,
    width: usize,
    shared: &mut Shared<[A]>,
    #[comptime] doublings: usize,
    #[comptime] op: ScanOp,
) {
    let unit = UNIT_POS as usize;
    let mut total = scanned;
    shared[unit] = total;
    sync_cube();
    #[unroll]
    for step in 0..doublings {
        let width = width * comptime!(1usize << step);
        let block = unit / width;
        if block % 2 == 1 {
            total = combine::<A>(shared[block * width - 1], total, op);
            shared[unit] = total;
        }
        sync_cube();
    }
}
