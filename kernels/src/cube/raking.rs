//! Raking: Merrill & Grimshaw, "Parallel Scan for Stream Architectures" (2009), as in CUB's `BlockScanRaking`.
//!
//! Up to 32 units *rake*. Each walks its share of shared memory to reduce it, and folds the totals of the shares before
//! its own. Then it walks its share again. Few barriers, and 2n combinations, most of them without communication.
//!
//! ```text
//! 12 values, 4 raking units        a b c │ d e f │ g h i │ j k l
//! up      each reduces             abc     def     ghi     jkl
//! across  each folds               –       abc     a..f    a..i
//! down    each walks again         a ab …  a..d …  a..g …  a..j …
//! ```
//!
//! Tiles without plane operations are raked by the same code ([`vector_totals`](crate::scan::components::vector_totals)).
//! The memoizing form keeps the share in registers and reads shared memory once.

use super::config::CubeScanConfig;
use super::scan::CubeScan;
use crate::monoid::Fold;
use crate::operator::combine;
use crate::scan::components::vector_totals::{RowsOfVectors, place_of_total, rake_totals};
use cubecl::prelude::*;

#[cube]
pub(super) fn scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] exclusive: bool,
    #[comptime] config: CubeScanConfig,
) -> CubeScan<A> {
    let rake = comptime!(config.rake());
    let own = place_of_total(UNIT_POS as usize, rake);
    shared[own] = value;
    let rows = RowsOfVectors::whole();
    let aggregate = rake_totals::<A, Fold>(shared, rows, &identity, rake, config.op);
    let before = shared[own];
    let value = if comptime!(exclusive) {
        before
    } else {
        combine::<A>(before, value, config.op)
    };
    CubeScan::<A> { value, aggregate }
}
