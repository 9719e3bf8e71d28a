//! Brent & Kung, "A regular layout for parallel adders" (1982); Blelloch, "Prefix sums and their applications" (1990).
//!
//! A tree of totals, up and then down. On the way down each node gives its prefix to the node half a width ahead. 2n
//! combinations, as few as a parallel scan can do, in 2 ⌈log₂ n⌉ − 1 supersteps of one barrier.
//!
//! ```text
//! unit        0    1    2    3    4    5    6    7
//! value       a    b    c    d    e    f    g    h
//! up   1      a    ab   c    cd   e    ef   g    gh
//! up   2      a    ab   c    a..d e    ef   g    efgh
//! up   4      a    ab   c    a..d e    ef   g    a..h
//! down 2      a    ab   c    a..d e    a..f g    a..h
//! down 1      a    ab   abc  a..d a..e a..f a..g a..h
//! ```
//!
//! A cube whose size is not a power of two acts like one padded with the identity. Nothing flows from later units to
//! earlier ones, so the padding is neither stored nor combined.

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
    let levels = comptime!(doublings(config.units, 1));
    shared[unit] = value;
    sync_cube();
    #[unroll]
    for level in 0..levels {
        let half = comptime!(1usize << level);
        let at = (unit + 1) * comptime!(2 * half) - 1;
        if at < config.units {
            shared[at] = combine::<A>(shared[at - half], shared[at], config.op);
        }
        sync_cube();
    }
    #[unroll]
    for down in 1..levels {
        let half = comptime!(1usize << (levels - 1 - down));
        let at = (unit + 1) * comptime!(2 * half) - 1 + half;
        if at < config.units {
            shared[at] = combine::<A>(shared[at - half], shared[at], config.op);
        }
        sync_cube();
    }
}
