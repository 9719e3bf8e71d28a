//! Masks of another shape than the tensor's.

use burn::tensor::{Device, read_sync};
use burn_scan::prelude::*;

use super::{Bad, floats, trues};

pub fn bad_calls(device: &Device) -> Vec<Bad<'_>> {
    // Shapes with the same number of elements, fewer, more, none.
    let shapes = [[3, 2], [6, 1], [1, 3], [2, 4], [0, 3]].into_iter();
    let rows = [(2, 1), (3, 0), (0, 0), (4, -1)].into_iter();
    let dims = rows.flat_map(|(length, dim)| of_slices(device, length, dim));
    shapes
        .flat_map(|shape| of_elements(device, shape))
        .chain(dims)
        .collect()
}

fn of_elements(device: &Device, shape: [usize; 2]) -> Vec<Bad<'_>> {
    let reason = format!(
        "The mask must have the shape of the tensor. Tensor shape: [2, 3], Mask shape: {shape:?}."
    );
    let (x, mask) = (move || floats(device), move || trues(device, shape));
    table! {
        "Compact By Mask", reason => x().compact_by_mask(mask());
        "Compact By Mask", reason => trues(device, [2, 3]).compact_by_mask(mask());
        "Compact By Mask", reason => read_sync(x().int().compact_by_mask_async(mask()));
        "Compact By Mask Padded", reason => x().compact_by_mask_padded(mask());
    }
}

fn of_slices(device: &Device, length: usize, dim: i64) -> Vec<Bad<'_>> {
    let reason = format!(
        "The mask must have one entry per slice along dimension {}. Tensor shape: [2, 3], mask shape: [{length}].",
        dim.rem_euclid(2)
    );
    let (x, row) = (move || floats(device), move || trues(device, [length]));
    table! {
        "Compact Dim By Mask", reason => x().compact_dim_by_mask(row(), dim);
        "Compact Dim By Mask Padded", reason => x().compact_dim_by_mask_padded(row(), dim);
    }
}
