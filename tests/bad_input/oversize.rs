//! Results that are larger than a buffer of the device may be, from small tensors by broadcast.

use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::prelude::*;

use super::Bad;

/// The bytes of the device's largest buffer. The CPU has none but the memory of the process.
fn largest_buffer(device: &Device) -> Option<usize> {
    #[cfg(feature = "cubecl-backend")]
    if let burn::backend::DispatchDevice::Cube(cube) = device.as_dispatch() {
        return Some(cube.client().properties().memory.max_page_size as usize);
    }
    scan_testing::tensors::unsupported(&format!(
        "{device:?} has no limit but the memory of the process"
    ));
    None
}

pub fn bad_calls(device: &Device) -> Vec<Bad<'_>> {
    let Some(limit) = largest_buffer(device) else {
        return Vec::new();
    };
    let n = limit / size_of::<i32>() + 1;
    let one = move || Tensor::<1, Int>::from_data([1], device);
    let many = move || one().expand([n]);
    let mask = move || -> Tensor<1, Bool> { one().equal_scalar(1).expand([n]) };
    let reason = format!(
        "The result takes {} bytes; a buffer of the device {device:?} holds at most {limit}.",
        n * size_of::<i32>()
    );
    table! {
        "Inclusive Cumsum", reason => many().inclusive_cumsum(0);
        "Compact By Mask", reason => many().compact_by_mask(mask());
        "Compact By Mask Padded", reason => many().compact_by_mask_padded(mask());
        "Compact Dim By Mask", reason => many().compact_dim_by_mask(mask(), 0);
        "Expand By Mask", reason => one().expand_by_mask(mask());
        "Compact Indices", reason => mask().compact_indices();
        "Compact Argwhere", reason => mask().compact_argwhere();
        "Partition By Key", reason => one().partition_by_key(one(), n - 1);
        "Radix Sort", reason => many().radix_sort(0, SortOrder::Ascending);
        "Radix Argsort", reason => many().radix_argsort(0, SortOrder::Ascending);
        "Radix Topk", reason => many().radix_topk(3, 0);
        "Radix Sort By Key", reason => many().radix_sort_by_key(many(), SortOrder::Ascending);
        "Compact Indices Padded", reason => one().equal_scalar(1).compact_indices_padded(n, 0);
        "Run Length Encode", reason => mask().run_length_encode();
        "Run Length Encode Padded", reason => mask().run_length_encode_padded();
        "Count True", reason => mask().count_true();
        "Compact By Mask Into", reason => one().compact_by_mask_into(one().equal_scalar(1), n);
    }
    .into_iter()
    .collect()
}

/// The same, on the device's autodiff form.
#[cfg(feature = "autodiff")]
pub fn with_gradients(device: &Device) -> Vec<Bad<'_>> {
    let Some(limit) = largest_buffer(device) else {
        return Vec::new();
    };
    let n = limit / size_of::<f32>() + 1;
    let device = device.clone().autodiff();
    let reason = format!(
        "The result takes {} bytes; a buffer of the device {device:?} holds at most {limit}.",
        n * size_of::<f32>()
    );
    let many = move || Tensor::<1>::from_data([1.0], &device).expand([n]);
    table! {
        "Inclusive Cumsum", reason => many().inclusive_cumsum(0);
    }
}

/// Tensors with more elements than the device's int dtype can number.
pub fn too_many_to_number(device: &Device) -> Vec<Bad<'_>> {
    let most = i32::MAX as usize;
    if most as isize == isize::MAX {
        scan_testing::tensors::unsupported(
            "Burn's shapes have no more than 2^31 - 1 elements here",
        );
        return Vec::new();
    }
    let mask = move || -> Tensor<1, Bool> {
        let one = Tensor::<1, Int>::from_data([1], device);
        one.equal_scalar(1).expand([most + 1])
    };
    let reason = format!(
        "There are {} elements; the device's int dtype I32 numbers at most {most}.",
        most + 1
    );
    table! {
        "Compact Indices", reason => mask().compact_indices();
        "Compact Argwhere", reason => mask().compact_argwhere();
    }
}
