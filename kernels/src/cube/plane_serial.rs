//! The serial scan with the plane as its word: one plane walks the cube, as many values a step as it has units. From
//! the survey "GPUPrefixSums" (Smith 2023), which calls it warp-sized-radix serial.
//!
//! ```text
//! plane of 4     a b c d            │ e f g h            │ i j
//! step 0         a ab abc a..d ─┐   │                    │
//! step 1                        └───┼ a..e … a..h ─┐     │
//! step 2                            │              └─────┼ a..i a..j
//! ```
//!
//! Two barriers, whatever the size, but the other planes wait. Good for a cube of few planes, and for the totals of
//! other algorithms.

use super::config::CubeScanConfig;
use super::plane::last_unit_of_plane;
use crate::operator::{ScanOp, combine};
use crate::scan::components::plane_scan::plane_inclusive_scan;
use cubecl::prelude::*;

/// Leaves the inclusive scan in the first `config.units` elements.
#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) {
    shared[UNIT_POS as usize] = value;
    sync_cube();
    let end = select(PLANE_POS == 0, CUBE_DIM as usize, 0);
    walk::<A>(
        shared,
        0,
        end,
        identity,
        comptime!(config.max_planes()),
        config.op,
    );
    sync_cube();
}

/// This plane scans the elements from `first` to before `end` in place, in at most `steps` steps, and returns their
/// total.
///
/// Plane operations need uniform control flow, so every plane of the cube calls this with the same `steps`. A plane
/// with nothing to do passes an empty range. A plane that the cube does not fill may have a range no longer than
/// itself.
#[cube]
pub(super) fn walk<A: Numeric>(
    shared: &mut Shared<[A]>,
    first: usize,
    end: usize,
    identity: A,
    #[comptime] steps: usize,
    #[comptime] op: ScanOp,
) -> A {
    let last = last_unit_of_plane();
    let mut carry = identity;
    for step in 0..steps {
        let at = first + step * PLANE_DIM as usize + UNIT_POS_PLANE as usize;
        let mut value = identity;
        if at < end {
            value = shared[at];
        }
        let total = combine::<A>(carry, plane_inclusive_scan::<A>(value, op), op);
        if at < end {
            shared[at] = total;
        }
        carry = plane_shuffle(total, last);
    }
    carry
}
