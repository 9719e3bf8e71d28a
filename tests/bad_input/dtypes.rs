//! Types that no operation takes: quantized types, and types that the device does not hold. Burn uploads the
//! latter without an error. Most of its operations fail on them later, some in the driver.

use burn::tensor::quantization::QuantScheme;
use burn::tensor::{DType, Device, Int, Tensor};
use burn_scan::prelude::*;

use super::{Bad, trues};

pub fn quantized(device: &Device) -> Vec<Bad<'_>> {
    let reason = "The tensor is quantized. Dequantize it first: `tensor.dequantize()`.";
    let x = move || {
        let values: Vec<f32> = (0..64).map(|i| i as f32 / 8.0).collect();
        let store = device.settings().quantization.scheme.store;
        let scheme = QuantScheme::default().with_store(store);
        Tensor::<1>::from_data(values.as_slice(), device).quantize_dynamic(&scheme)
    };
    let mask = move || trues(device, [64]);
    let keys = move || Tensor::<1, Int>::zeros([64], device);
    let options = ScanOptions::default();
    table! {
        "Scan", reason => x().scan(0, ScanOp::Sum, options);
        "Inclusive Cumsum", reason => x().inclusive_cumsum(0);
        "Exclusive Cumsum", reason => x().exclusive_cumsum(0);
        "Reverse Cumsum", reason => x().reverse_cumsum(0);
        "Compact By Mask", reason => x().compact_by_mask(mask());
        "Compact By Mask Padded", reason => x().compact_by_mask_padded(mask());
        "Compact Dim By Mask", reason => x().compact_dim_by_mask(mask(), 0);
        "Compact Dim By Mask Padded", reason => x().compact_dim_by_mask_padded(mask(), 0);
        "Expand By Mask", reason => x().expand_by_mask(mask());
        "Partition By Key", reason => x().partition_by_key(keys(), 1);
        "Radix Sort", reason => x().radix_sort(0, SortOrder::Ascending);
        "Radix Argsort", reason => x().radix_argsort(0, SortOrder::Ascending);
        "Radix Sort With Indices", reason => x().radix_sort_with_indices(0, SortOrder::Ascending);
        "Radix Topk", reason => x().radix_topk(1, 0);
        "Radix Topk With Indices", reason => x().radix_topk_with_indices(1, 0);
        "Radix Sort By Key", reason => x().radix_sort_by_key(keys(), SortOrder::Ascending);
        "Radix Sort By Key", reason => keys().radix_sort_by_key(x(), SortOrder::Ascending);
        "Radix Sort By Key Bits", reason => x().radix_sort_by_key_bits(keys(), 1, SortOrder::Ascending);
        "Compact By Mask Into", reason => x().compact_by_mask_into(mask(), 3);
    }
}

/// The table is empty on a device that holds every type.
pub fn unsupported(device: &Device) -> Vec<Bad<'_>> {
    let floats = [DType::F64, DType::F16, DType::BF16].into_iter();
    let ints = [
        DType::I64,
        DType::U64,
        DType::I16,
        DType::U16,
        DType::I8,
        DType::U8,
    ];
    let lacks = |dtype: &DType| !device.supports_dtype(*dtype);
    let floats = floats
        .filter(lacks)
        .flat_map(|dtype| of_floats(device, dtype));
    let ints = ints.into_iter().filter(lacks);
    floats
        .chain(ints.flat_map(|dtype| of_ints(device, dtype)))
        .collect()
}

fn reason(device: &Device, dtype: DType) -> String {
    format!("The device {device:?} cannot compute with {dtype:?}.")
}

fn of_floats(device: &Device, dtype: DType) -> Vec<Bad<'_>> {
    let reason = reason(device, dtype);
    let x = move || Tensor::<1>::from_data([1.0, 2.0], (device, dtype));
    let mask = move || trues(device, [2]);
    table! {
        "Inclusive Cumsum", reason => x().inclusive_cumsum(0);
        "Compact By Mask", reason => x().compact_by_mask(mask());
        "Compact Dim By Mask Padded", reason => x().compact_dim_by_mask_padded(mask(), 0);
        "Expand By Mask", reason => x().expand_by_mask(mask());
        "Radix Sort", reason => x().radix_sort(0, SortOrder::Ascending);
        "Radix Topk", reason => x().radix_topk(1, 0);
    }
}

fn of_ints(device: &Device, dtype: DType) -> Vec<Bad<'_>> {
    let reason = reason(device, dtype);
    let x = move || Tensor::<1, Int>::from_data([1, 2], (device, dtype));
    let options = ScanOptions::default();
    table! {
        "Scan", reason => x().scan(0, ScanOp::Min, options);
        "Partition By Key", reason => x().partition_by_key(Tensor::zeros([2], device), 1);
        "Partition By Key", reason => trues(device, [2]).partition_by_key(x(), 3);
        "Radix Argsort", reason => x().radix_argsort(0, SortOrder::Ascending);
        "Radix Sort By Key", reason => trues(device, [2]).radix_sort_by_key(x(), SortOrder::Ascending);
    }
}
