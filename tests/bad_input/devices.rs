//! Two tensors of one call on two devices.

use burn::tensor::{Device, read_sync};
use burn_scan::prelude::*;

use super::{Bad, floats, ints, trues};

pub fn bad_calls<'a>(device: &'a Device, other: &'a Device) -> Vec<Bad<'a>> {
    let reason = |what: &str| {
        format!(
            "The tensor and the {what} must be on the same device. Tensor device: {device:?}, {what} device: {other:?}."
        )
    };
    let (of_mask, of_keys) = (reason("mask"), reason("keys"));
    let x = move || floats(device);
    let (mask, row) = (move || trues(other, [2, 3]), move || trues(other, [2]));
    table! {
        "Compact By Mask", of_mask => x().compact_by_mask(mask());
        "Compact By Mask", of_mask => read_sync(x().compact_by_mask_async(mask()));
        "Compact By Mask Padded", of_mask => x().int().compact_by_mask_padded(mask());
        "Compact Dim By Mask", of_mask => x().compact_dim_by_mask(row(), 0);
        "Compact Dim By Mask Padded", of_mask => x().compact_dim_by_mask_padded(row(), 0);
        "Expand By Mask", of_mask => ints(device).expand_by_mask(mask());
        "Expand By Mask", of_mask => trues(device, [3]).expand_by_mask(mask());
        "Partition By Key", of_keys => ints(device).partition_by_key(ints(other), 6);
        "Partition By Key", of_keys => trues(device, [3]).partition_by_key(ints(other), 6);
    }
}
