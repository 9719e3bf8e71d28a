//! Hillis & Steele, "Data parallel algorithms" (1986); the network of Kogge & Stone (1973).
//!
//! After the superstep of distance `d` a unit holds the total of the `2d` values that end with its own. There are ⌈log₂
//! n⌉ supersteps, and nearly every unit combines in each. All units work in one array, so a superstep has two barriers:
//! between reading and writing, and between writing and the next reading.
//!
//! ```text
//! unit     0    1    2    3    4    5
//! value    a    b    c    d    e    f
//! d = 1    a    ab   bc   cd   de   ef
//! d = 2    a    ab   abc  abcd bcde cdef
//! d = 4    a    ab   abc  abcd a..e a..f
//! ```

use super::config::doublings;
use cubecl::prelude::*;
use cubecl_scan::cube::CubeScanConfig;
use cubecl_scan::operator::combine;

/// Leaves the inclusive scan in the first `config.units` elements.
#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) {
    let unit = UNIT_POS as usize;
    let mut total = value;
    shared[unit] = total;
    sync_cube();
    #[unroll]
    for step in 0..comptime!(doublings(config.units, 1)) {
        let distance = comptime!(1usize << step);
        if unit >= distance {
            total = combine::<A>(shared[unit - distance], total, config.op);
        }
        sync_cube();
        shared[unit] = total;
        sync_cube();
    }
}
