//! The other arguments of recurrences and of scans from a value.

use burn::tensor::{DType, Device, Int, Tensor};
use burn_scan::prelude::*;

use super::{Bad, floats, ints, trues};

pub fn bad_calls(device: &Device) -> Vec<Bad<'_>> {
    // Shapes with the same number of elements, fewer, more, none.
    let shapes = [[3, 2], [2, 2], [6, 1], [2, 4], [0, 3]].into_iter();
    shapes
        .flat_map(|shape| of_shape(device, shape))
        .chain(of_kinds(device))
        .collect()
}

fn of_shape(device: &Device, shape: [usize; 2]) -> Vec<Bad<'_>> {
    let reason = |what: &str, line: [usize; 2]| {
        format!(
            "The {what} must broadcast to {line:?}. Tensor shape: [2, 3], {what} shape: {shape:?}."
        )
    };
    let (of_decay, of_state) = (reason("decay", [2, 3]), reason("initial value", [2, 1]));
    let of_starts = format!(
        "The starts must have the shape of the tensor. Tensor shape: [2, 3], Starts shape: {shape:?}."
    );
    let x = move || floats(device);
    let other = move || Tensor::<2>::ones(shape, device);
    let from = move || RecurrenceOptions::default().initial(other());
    let forward = ScanOptions::default();
    table! {
        "Linear Recurrence", of_decay => x().linear_recurrence(other(), 0);
        "Linear Recurrence", of_decay => x().linear_recurrence_with(other(), 1, from().reverse());
        "Linear Recurrence", of_state => x().linear_recurrence_with(x(), 1, from());
        "Segmented Scan", of_starts => x().segmented_scan(trues(device, shape), 1, ScanOp::Sum, forward);
        "Scan From", of_state => x().scan_from(other(), 1, ScanOp::Sum, forward);
        "Scan From", of_state => x().int().scan_from(other().int(), -1, ScanOp::Max, forward);
    }
}

/// The logarithm of integers, and floats of another width where the device has them.
fn of_kinds(device: &Device) -> Vec<Bad<'_>> {
    let reason = "LogSumExp is for float tensors only.";
    let options = ScanOptions::default();
    let x = move || ints(device);
    let unlike = move |lengths: [usize; 2]| {
        let mut running = RunningScan::<2, Int>::new(0, ScanOp::Sum, options);
        lengths.map(|length| running.next(Tensor::ones([1, length], device)))
    };
    let mut calls = table! {
        "Segmented Scan", reason => x().segmented_scan(trues(device, [3]), 0, ScanOp::LogSumExp, options);
        "Running Scan", "A sequence that arrives chunk by chunk has no end to begin at." =>
            RunningScan::<1, Int>::new(0, ScanOp::Sum, options.reverse());
        "Running Scan", "BoundsError: dimension 2 out of bounds: 0..2" => RunningScan::<2, Int>::new(2, ScanOp::Sum, options);
        "Running Recurrence", "BoundsError: dimension -2 out of bounds: 0..1" => RunningRecurrence::<1>::new(-2);
        "Running Scan", "A chunk must have the shape of those before it but for dimension 0. Before: [any, 3], chunk: [1, 4]." =>
            unlike([3, 4]);
        "Scan", reason => x().scan(0, ScanOp::LogSumExp, options);
        "Scan From", reason => x().scan_from(Tensor::<1, Int>::ones([1], device), 0, ScanOp::LogSumExp, options);
    };
    for dtype in [DType::F16, DType::F64] {
        if !device.supports_dtype(dtype) {
            continue;
        }
        let reason = format!(
            "The decay must have the dtype of the tensor. Tensor dtype: F32, decay dtype: {dtype:?}."
        );
        let x = move || floats(device);
        calls.extend(table! {
            "Linear Recurrence", reason => x().linear_recurrence(x().cast(dtype), 0);
            "Running Recurrence", reason => RunningRecurrence::new(0).next(x(), x().cast(dtype));
        });
    }
    calls
}

pub fn on_another_device<'a>(device: &'a Device, other: &'a Device) -> Vec<Bad<'a>> {
    let reason = |what: &str| {
        format!(
            "The tensor and the {what} must be on the same device. Tensor device: {device:?}, {what} device: {other:?}."
        )
    };
    let (of_decay, of_state) = (reason("decay"), reason("initial value"));
    let of_starts = reason("starts");
    let x = move || floats(device);
    let state = move || Tensor::<2>::ones([1, 1], other);
    let from = move || RecurrenceOptions::default().initial(state());
    let forward = ScanOptions::default();
    table! {
        "Linear Recurrence", of_decay => x().linear_recurrence(floats(other), 0);
        "Linear Recurrence", of_state => x().linear_recurrence_with(x(), 0, from());
        "Scan From", of_state => x().scan_from(state(), 0, ScanOp::Prod, forward);
        "Segmented Scan", of_starts => x().segmented_scan(trues(other, [2, 3]), 0, ScanOp::Max, forward);
    }
}
