//! Dimensions that the tensor does not have.

use burn::tensor::Device;
use burn_scan::prelude::*;

use super::{Bad, floats, ints, trues};

pub fn bad_calls(device: &Device) -> Vec<Bad<'_>> {
    // Just beyond either end of `-2..2`, and the furthest values.
    let dims = [2, 100, -3, isize::MAX, isize::MIN].into_iter();
    dims.flat_map(|dim| of_matrices(device, dim))
        .chain(of_rows(device))
        .collect()
}

fn of_matrices(device: &Device, dim: isize) -> Vec<Bad<'_>> {
    let reason = format!("BoundsError: dimension {dim} out of bounds: 0..2");
    let (x, row) = (move || floats(device), move || trues(device, [2]));
    let reverse = ScanOptions::default().reverse();
    table! {
        "Scan", reason => x().scan(dim, ScanOp::Max, reverse);
        "Scan", reason => x().int().scan(dim, ScanOp::Prod, reverse);
        "Scan From", reason => x().scan_from(x(), dim, ScanOp::Sum, reverse);
        "Linear Recurrence", reason => x().linear_recurrence(x(), dim);
        "Scan", reason => x().logcumsumexp(dim);
        "Segmented Scan", reason => x().segmented_scan(trues(device, [2, 3]), dim, ScanOp::Sum, reverse);
        "Cummax With Indices", reason => x().cummax_with_indices(dim);
        "Cummin With Indices", reason => x().int().cummin_with_indices(dim);
        "Inclusive Cumsum", reason => x().inclusive_cumsum(dim);
        "Inclusive Cumsum", reason => burn_scan::cumsum(x().int(), dim);
        "Exclusive Cumsum", reason => x().exclusive_cumsum(dim);
        "Reverse Cumsum", reason => x().reverse_cumsum(dim);
        "Compact Dim By Mask", reason => x().compact_dim_by_mask(row(), dim);
        "Compact Dim By Mask Padded", reason => x().compact_dim_by_mask_padded(row(), dim);
    }
}

fn of_rows(device: &Device) -> Vec<Bad<'_>> {
    let (above, below) = (
        "BoundsError: dimension 1 out of bounds: 0..1",
        "BoundsError: dimension -2 out of bounds: 0..1",
    );
    let (x, row) = (move || ints(device), move || trues(device, [3]));
    table! {
        "Inclusive Cumsum", above => x().inclusive_cumsum(1);
        "Exclusive Cumsum", below => x().exclusive_cumsum(-2);
        "Compact Dim By Mask", below => row().compact_dim_by_mask(row(), -2);
        "Compact Dim By Mask Padded", above => x().compact_dim_by_mask_padded(row(), 1);
    }
}
