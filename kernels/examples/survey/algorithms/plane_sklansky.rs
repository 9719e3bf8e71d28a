//! Sklansky's network (1960) over planes, from the survey "GPUPrefixSums" (Smith 2023): the supersteps whose blocks fit
//! a plane are one hardware scan.
//!
//! ```text
//! planes of 4     a b c d       │ e f g h       │ i j k l       │ m n
//! plane scan      a ab .. a..d  │ e ef .. e..h  │ i ij .. i..l  │ m mn
//! width 4                       │ a..e .. a..h  │               │ i..m i..n
//! width 8                                       │ a..i .. a..l  │ a..m a..n
//! ```

use super::config::doublings;
use super::sklansky::join;
use cubecl::prelude::*;
use cubecl_scan::cube::{CubeScanConfig, plane_inclusive_scan};

/// Leaves the inclusive scan in the first `config.units` elements.
#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) {
    let scanned = plane_inclusive_scan::<A>(value, config.op);
    let steps = comptime!(doublings(config.units, config.plane_size_min));
    join::<A>(scanned, PLANE_DIM as usize, shared, steps, config.op);
}
