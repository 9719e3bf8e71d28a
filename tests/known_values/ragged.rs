//! Lengths and offsets from corrupt data end in a panic in Burn's form or in the right values, and the process lives.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;

use super::{floats, ints, refused};

on_every_device![
    lengths_that_leave_the_type,
    a_size_that_no_device_has,
    more_segments_than_the_dtype_counts,
    no_lengths,
];

fn lengths_that_leave_the_type(device: &Device) {
    let x = || floats(&[1., 2., 3.], device);
    refused(|| x().repeat_by_lengths(ints(&[i32::MAX, i32::MAX, 5], device)));
    if device.supports_dtype(DType::I64) {
        let wide = Tensor::<1, Int>::from_data([1i64 << 40, 1, 1], (device, DType::I64));
        refused(|| x().repeat_by_lengths(wide));
    }
    if device.supports_dtype(DType::U64) {
        for last in [u64::MAX, 1 << 63] {
            let wide = |lengths: [u64; 3]| {
                Tensor::<1, Int>::from_data(TensorData::from(lengths), (device, DType::U64))
            };
            refused(|| x().repeat_by_lengths(wide([1, 1, last])));
            let found = x().repeat_by_lengths_into(wide([1, last, 1]), 4);
            assert_eq!(super::values(found), [1., 2., 2., 2.]);
        }
    }
    // The lengths give as many values as asked for, and more.
    let lengths = ints(&[2, i32::MAX, i32::MAX], device);
    let found = x().repeat_by_lengths_into(lengths, 5);
    assert_eq!(super::values(found), [1., 1., 2., 2., 2.]);
}

fn a_size_that_no_device_has(device: &Device) {
    let one = || floats(&[1.], device);
    refused(|| one().repeat_by_lengths_into(ints(&[1], device), 1 << 44));
    refused(|| ints(&[0, 1], device).offsets_to_segment_ids(1 << 44));
    refused(|| ints(&[0, 1], device).offsets_to_starts(1 << 44));
    assert_eq!(super::values(one().inclusive_cumsum(0)), [1.]);
}

fn more_segments_than_the_dtype_counts(device: &Device) {
    if !device.supports_dtype(DType::U8) {
        scan_testing::tensors::unsupported(&format!("{device:?} does not compute with U8"));
        return;
    }
    let mut offsets = vec![0u8; 302];
    offsets[301] = 5;
    let offsets = Tensor::<1, Int>::from_data(offsets.as_slice(), (device, DType::U8));
    refused(|| offsets.offsets_to_segment_ids(6));
}

/// What is computed from nothing is not computed when a result of one element is made.
fn no_lengths(device: &Device) {
    let nothing = || Tensor::<1, Int>::empty([0], device) + Tensor::<1, Int>::empty([0], device);
    let offsets = nothing().lengths_to_offsets();
    assert_eq!(offsets.into_data().iter::<i64>().collect::<Vec<_>>(), [0]);
    let values = Tensor::<1>::empty([0], device) * 2.;
    let lengths = nothing();
    assert_eq!(values.repeat_by_lengths(lengths).dims(), [0]);
}
