//! The expected results of every operation, by the loops that also check the kernels.

use burn_scan::ScanOp;
use cubecl_scan::scan::ScanOptions;
use cubecl_scan::sort::{SortOptions, SortOrder};

use crate::reference::{self, Scalar, SortKey};
pub use crate::reference::{argwhere, compact, compact_dim, expand, indices, partition};

/// The operator as the kernels name it.
pub fn known(op: ScanOp) -> cubecl_scan::ScanOp {
    let name = format!("{op:?}");
    let mut known = cubecl_scan::ScanOp::ALL.into_iter();
    let same = known.find(|known| format!("{known:?}") == name);
    same.unwrap_or_else(|| panic!("the oracle does not know {name}"))
}

/// The scan along `dim`, exclusive or not and reverse or not.
pub fn scan<T: Scalar>(
    input: &[T],
    shape: &[usize],
    dim: usize,
    op: ScanOp,
    (exclusive, reverse): (bool, bool),
) -> Vec<T> {
    let options = ScanOptions { exclusive, reverse };
    reference::scan(input, shape, dim, known(op), options)
}

/// The positions of the elements of each line along `dim` in order, by the host's stable sort. NaN is above everything.
pub fn sort<T: SortKey>(values: &[T], shape: &[usize], dim: usize, descending: bool) -> Vec<usize> {
    let order = if descending {
        SortOrder::Descending
    } else {
        SortOrder::Ascending
    };
    reference::sort(values, shape, dim, SortOptions { order, bits: None })
}
