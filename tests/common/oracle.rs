//! The expected results of every operation, by the loops that also check the kernels.

use std::cmp::Ordering;

use burn_scan::ScanOp;
use cubecl_scan::scan::ScanOptions;
use scan_testing::reference::{self, Scalar};

#[allow(unused_imports, reason = "every test binary uses its own part")]
pub use scan_testing::reference::{argwhere, compact, compact_dim, expand, indices, partition};

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
pub fn sort<T: Copy + PartialOrd>(
    values: &[T],
    shape: &[usize],
    dim: usize,
    descending: bool,
) -> Vec<usize> {
    let [outer, len, inner] = super::axis(shape, dim);
    let mut sources = vec![0; values.len()];
    for line in 0..outer * inner {
        let first = line / inner * len * inner + line % inner;
        let value = |at: usize| values[first + at * inner];
        let mut order: Vec<usize> = (0..len).collect();
        order.sort_by(|&a, &b| {
            if descending {
                compare(value(b), value(a))
            } else {
                compare(value(a), value(b))
            }
        });
        for (at, source) in order.into_iter().enumerate() {
            sources[first + at * inner] = source;
        }
    }
    sources
}

/// Only NaN is not equal to itself.
#[expect(clippy::eq_op, reason = "the NaN test that also holds for integers")]
fn compare<T: PartialOrd>(a: T, b: T) -> Ordering {
    let (a_is_nan, b_is_nan) = (a != a, b != b);
    a.partial_cmp(&b).unwrap_or(a_is_nan.cmp(&b_is_nan))
}
