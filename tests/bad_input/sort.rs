//! Sorts of dimensions that the tensor does not have, a `k` that is too large, keys that do not fit, sizes and fills.

use burn::tensor::{DType, Device, Int, Tensor};
use burn_scan::prelude::*;

use super::{Bad, floats, ints, trues};

pub fn bad_calls(device: &Device) -> Vec<Bad<'_>> {
    let dims = [2, 100, -3, isize::MAX, isize::MIN].into_iter();
    dims.flat_map(|dim| of_dimensions(device, dim))
        .chain(of_largest(device))
        .chain(of_keys(device))
        .chain(of_bits(device))
        .chain(of_sizes(device))
        .collect()
}

fn of_dimensions(device: &Device, dim: isize) -> Vec<Bad<'_>> {
    let reason = format!("BoundsError: dimension {dim} out of bounds: 0..2");
    let (x, order) = (move || floats(device), SortOrder::Ascending);
    table! {
        "Radix Sort", reason => x().radix_sort(dim, order);
        "Radix Sort", reason => x().int().radix_sort(dim, order);
        "Radix Argsort", reason => x().radix_argsort(dim, order);
        "Radix Sort With Indices", reason => x().radix_sort_with_indices(dim, order);
        "Radix Topk", reason => x().radix_topk(1, dim);
        "Radix Topk With Indices", reason => x().int().radix_topk_with_indices(0, dim);
    }
}

fn of_largest(device: &Device) -> Vec<Bad<'_>> {
    let reason = |k: usize, len: usize, dim: usize| {
        format!("`k` is {k}, but there are {len} elements along dimension {dim}.")
    };
    let x = move || floats(device);
    let most = usize::MAX;
    table! {
        "Radix Topk", reason(4, 3, 1) => x().radix_topk(4, 1);
        "Radix Topk", reason(3, 2, 0) => x().int().radix_topk(3, -2);
        "Radix Topk With Indices", reason(most, 3, 1) => x().radix_topk_with_indices(most, -1);
        "Radix Topk With Indices", reason(1, 0, 0) => Tensor::<1>::empty([0], device).radix_topk_with_indices(1, 0);
    }
}

fn of_keys(device: &Device) -> Vec<Bad<'_>> {
    let order = SortOrder::Descending;
    let lengths = [0, 2, 4].into_iter();
    let calls = lengths.flat_map(move |length| {
        let reason =
            format!("There must be one key per value. Tensor shape: [3], keys shape: [{length}].");
        let keys = move || Tensor::<1, Int>::zeros([length], device);
        table! {
            "Radix Sort By Key", reason => ints(device).radix_sort_by_key(keys(), order);
            "Radix Sort By Key", reason => trues(device, [3]).radix_sort_by_key(keys().float(), order);
            "Radix Sort By Key Bits", reason => trues(device, [3]).radix_sort_by_key_bits(keys(), 4, order);
        }
    });
    calls.collect()
}

fn of_bits(device: &Device) -> Vec<Bad<'_>> {
    let order = SortOrder::Ascending;
    let x = move || ints(device);
    let none = "`bits` is 0, but there are 3 keys to sort.";
    let many = |bits: usize| format!("`bits` is {bits}; keys of I32 have 32 bits.");
    table! {
        "Radix Sort By Key Bits", none => x().radix_sort_by_key_bits(x(), 0, order);
        "Radix Sort By Key Bits", many(33) => x().float().radix_sort_by_key_bits(x(), 33, order);
        "Radix Sort By Key Bits", many(usize::MAX) => x().radix_sort_by_key_bits(x(), usize::MAX, order);
    }
}

fn of_sizes(device: &Device) -> Vec<Bad<'_>> {
    let int = device.settings().int_dtype;
    let mask = move || trues(device, [2, 3]);
    let most = i32::MAX as usize;
    let size = most + 1;
    let reason =
        format!("There are {size} elements; the device's int dtype I32 numbers at most {most}.");
    let fill =
        |fill: i64| format!("`fill` is {fill}; the device's int dtype {int:?} does not hold it.");
    let (above, below) = (i64::from(i32::MAX) + 1, i64::from(i32::MIN) - 1);
    let other_shape =
        "The mask must have the shape of the tensor. Tensor shape: [2, 3], Mask shape: [3, 2].";
    assert_eq!(DType::from(int), DType::I32);
    table! {
        "Compact Indices Padded", reason => mask().compact_indices_padded(size, 0);
        "Compact Argwhere Padded", reason => mask().compact_argwhere_padded(size, 0);
        "Compact Indices Padded", fill(above) => mask().compact_indices_padded(2, above);
        "Compact Argwhere Padded", fill(below) => mask().compact_argwhere_padded(2, below);
        "Compact By Mask Into", other_shape => floats(device).compact_by_mask_into(trues(device, [3, 2]), 4);
    }
}

pub fn on_another_device<'a>(device: &'a Device, other: &'a Device) -> Vec<Bad<'a>> {
    let reason = |what: &str| {
        format!(
            "The tensor and the {what} must be on the same device. Tensor device: {device:?}, {what} device: {other:?}."
        )
    };
    let (of_keys, of_mask) = (reason("keys"), reason("mask"));
    let order = SortOrder::Ascending;
    table! {
        "Radix Sort By Key", of_keys => ints(device).radix_sort_by_key(ints(other), order);
        "Radix Sort By Key Bits", of_keys => trues(device, [3]).radix_sort_by_key_bits(ints(other), 3, order);
        "Compact By Mask Into", of_mask => floats(device).compact_by_mask_into(trues(other, [2, 3]), 3);
    }
}
