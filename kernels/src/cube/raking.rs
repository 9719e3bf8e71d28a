//! Raking: Merrill & Grimshaw, "Parallel Scan for Stream Architectures" (2009), as in CUB's `BlockScanRaking`.
//!
//! As many units *rake* as a plane has. Each walks a segment of shared memory to reduce it. Their totals are scanned.
//! Then each walks its segment again, with the total before it. Few barriers, and 2n combinations, most of them without
//! communication.
//!
//! ```text
//! 12 values, 4 raking units        a b c │ d e f │ g h i │ j k l
//! up      each reduces             abc     def     ghi     jkl
//! across  exclusive scan           –       abc     a..f    a..i
//! down    each walks again         a ab …  a..d …  a..g …  a..j …
//! ```
//!
//! With plane operations the totals stay in registers. Without them, every raking unit folds the totals before it. That
//! is no slower than one unit folding for all, and saves a barrier. Segments lie an odd number of elements apart, so
//! that the raking units of a step access different banks. The memoizing form keeps the segment in registers and reads
//! shared memory once.

use super::config::{CubeScanConfig, cube_scan_storage};
use super::plane::plane_exclusive_scan;
use super::scan::CubeScan;
use crate::operator::combine;
use cubecl::prelude::*;

#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] exclusive: bool,
    #[comptime] memoize: bool,
    #[comptime] config: CubeScanConfig,
) -> CubeScan<A> {
    let units = comptime!(config.units);
    let segment = comptime!(config.raking_segment());
    let rakers = comptime!(config.raking_units());
    let stride = comptime!(config.raking_stride());
    let aggregate = comptime!(cube_scan_storage(config) - 1);
    let unit = UNIT_POS as usize;
    let own = unit / segment * stride + unit % segment;
    shared[own] = value;
    sync_cube();

    let first = unit * segment;
    let base = unit * stride;
    let mut held = Array::<A>::new(comptime!(if memoize { segment } else { 1 }));
    let mut total = identity;
    if unit < rakers {
        #[unroll(memoize)]
        for k in 0..segment {
            if first + k < units {
                let element = shared[base + k];
                if comptime!(memoize) {
                    held[k] = element;
                }
                total = combine::<A>(total, element, config.op);
            }
        }
    }

    let mut running = across::<A>(total, identity, shared, config);
    if unit < rakers {
        #[unroll(memoize)]
        for k in 0..segment {
            if first + k < units {
                let element = if comptime!(memoize) {
                    held[k]
                } else {
                    shared[base + k]
                };
                let before = running;
                running = combine::<A>(before, element, config.op);
                shared[base + k] = if comptime!(exclusive) {
                    before
                } else {
                    running
                };
            }
        }
        if unit == comptime!(rakers - 1) {
            shared[aggregate] = running;
        }
    }
    sync_cube();
    CubeScan::<A> {
        value: shared[own],
        aggregate: shared[aggregate],
    }
}

/// The total of all raking units before this one.
#[cube]
fn across<A: Numeric>(
    total: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) -> A {
    if comptime!(config.rakes_in_plane()) {
        plane_exclusive_scan::<A>(total, identity, config.op)
    } else {
        let rakers = comptime!(config.raking_units());
        let totals = comptime!(rakers * config.raking_stride());
        let unit = UNIT_POS as usize;
        if unit < rakers {
            shared[totals + unit] = total;
        }
        sync_cube();
        let mut prefix = identity;
        if unit < rakers {
            for k in 0..unit {
                prefix = combine::<A>(prefix, shared[totals + k], config.op);
            }
        }
        prefix
    }
}
