//! The other arguments of operations on rows, runs and segments.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;

use super::{Bad, floats, ints, trues};

pub fn bad_calls(device: &Device) -> Vec<Bad<'_>> {
    let none = move || Tensor::<1, Int>::zeros([0], device);
    let no_offsets = "There are no offsets; segments have one offset more than there are segments.";
    let of_mask =
        "The mask must have the shape of the tensor. Tensor shape: [2, 3], Mask shape: [3, 2].";
    let of_lengths = "There must be one length per value. Tensor shape: [3], lengths shape: [2].";
    let of_dim = "BoundsError: dimension 2 out of bounds: 0..2";
    let x = move || floats(device);
    let two = move || Tensor::<1, Int>::ones([2], device);
    table! {
        "Offsets To Segment Ids", no_offsets => none().offsets_to_segment_ids(5);
        "Offsets To Starts", no_offsets => none().offsets_to_starts(5);
        "Segment Reduce", no_offsets => x().segment_reduce(none(), ScanOp::Sum);
        "Segment Reduce", "LogSumExp is for float tensors only." => ints(device).segment_reduce(two(), ScanOp::LogSumExp);
        "Compact Along By Mask", of_mask => x().compact_along_by_mask(trues(device, [3, 2]), 1);
        "Compact Along By Mask", of_dim => x().compact_along_by_mask(trues(device, [2, 3]), 2);
        "Repeat By Lengths", of_lengths => ints(device).repeat_by_lengths(two());
        "Repeat By Lengths", of_lengths => burn::tensor::read_sync(ints(device).repeat_by_lengths_async(two()));
        "Repeat By Lengths Into", of_lengths => ints(device).float().repeat_by_lengths_into(two(), 9);
        "Compact Dim By Mask", of_dim => burn::tensor::read_sync(x().compact_dim_by_mask_async(trues(device, [3]), 2));
    }
}

pub fn on_another_device<'a>(device: &'a Device, other: &'a Device) -> Vec<Bad<'a>> {
    let reason = |what: &str| {
        format!(
            "The tensor and the {what} must be on the same device. Tensor device: {device:?}, {what} device: {other:?}."
        )
    };
    let x = move || floats(device);
    table! {
        "Segment Reduce", reason("offsets") => x().segment_reduce(ints(other), ScanOp::Sum);
        "Compact Along By Mask", reason("mask") => x().compact_along_by_mask(trues(other, [2, 3]), 0);
        "Repeat By Lengths", reason("lengths") => ints(device).repeat_by_lengths(ints(other));
    }
}
