//! The expected results of every operation, by the loops that also check the kernels.

use burn_scan::ScanOp;
use cubecl_scan::reference::{self, Scalar};
use cubecl_scan::scan::ScanOptions;

#[allow(unused_imports, reason = "every test binary uses its own part")]
pub use cubecl_scan::reference::{argwhere, compact, compact_dim, expand, indices, partition};

/// The scan along `dim`, exclusive or not and reverse or not.
pub fn scan<T: Scalar>(
    input: &[T],
    shape: &[usize],
    dim: usize,
    op: ScanOp,
    (exclusive, reverse): (bool, bool),
) -> Vec<T> {
    let op = match op {
        ScanOp::Sum => cubecl_scan::ScanOp::Sum,
        ScanOp::Prod => cubecl_scan::ScanOp::Prod,
        ScanOp::Max => cubecl_scan::ScanOp::Max,
        ScanOp::Min => cubecl_scan::ScanOp::Min,
        _ => panic!("the oracle does not know {op:?}"),
    };
    reference::scan(input, shape, dim, op, ScanOptions { exclusive, reverse })
}
