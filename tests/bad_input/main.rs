//! Tables of bad calls. Each call panics at once (an async call when it is first polled) with exactly the
//! table's message, in the form of Burn's own checks. Process and device work afterwards. A late `install()` has its
//! own process: `tests/alone/install_late.rs`.

#[macro_use]
extern crate scan_testing;

#[cfg(target_family = "wasm")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

/// One [`Bad`] per line: the operation and the reason that the panic names, and the call.
macro_rules! table {
    ($($operation:literal, $reason:expr => $call:expr;)*) => {
        vec![$(crate::Bad {
            operation: $operation,
            reason: $reason.to_string(),
            call: Box::new(move || drop($call)),
        }),*]
    };
}

mod devices;
mod dimensions;
mod dtypes;
mod keys;
mod masks;
mod oversize;
mod ragged;
mod recurrences;
mod sort;

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;
use scan_testing::tensors::waiting::{ExactCompact, caught};
use scan_testing::tensors::{assert_same, host};

on_every_device![
    a_dimension_out_of_range,
    a_mask_of_another_shape,
    keys_that_do_not_fit,
    decays_and_states_that_do_not_fit,
    rows_and_runs_that_do_not_fit,
    sorts_and_sizes_that_do_not_fit,
    another_device,
    a_quantized_tensor,
    a_dtype_the_device_cannot_hold,
    more_than_the_device_can_bind,
    more_than_can_be_numbered,
    how_many,
];

fn a_dimension_out_of_range(device: &Device) {
    refuse_all(device, dimensions::bad_calls(device));
}

fn a_mask_of_another_shape(device: &Device) {
    refuse_all(device, masks::bad_calls(device));
}

fn keys_that_do_not_fit(device: &Device) {
    refuse_all(device, keys::bad_calls(device));
}

fn decays_and_states_that_do_not_fit(device: &Device) {
    refuse_all(device, recurrences::bad_calls(device));
}

fn rows_and_runs_that_do_not_fit(device: &Device) {
    refuse_all(device, ragged::bad_calls(device));
}

fn sorts_and_sizes_that_do_not_fit(device: &Device) {
    refuse_all(device, sort::bad_calls(device));
}

/// Where there is only one device, `scan_testing::tensors::devices::cube` prints `Unsupported`.
fn another_device(device: &Device) {
    for other in scan_testing::tensors::devices::devices() {
        if other != *device {
            refuse_all(device, devices::bad_calls(device, &other));
            refuse_all(device, recurrences::on_another_device(device, &other));
            refuse_all(device, ragged::on_another_device(device, &other));
            refuse_all(device, sort::on_another_device(device, &other));
        }
    }
}

fn a_quantized_tensor(device: &Device) {
    refuse_all(device, dtypes::quantized(device));
}

fn a_dtype_the_device_cannot_hold(device: &Device) {
    let bad_calls = dtypes::unsupported(device);
    println!("{device:?} refuses dtypes in {} calls", bad_calls.len());
    refuse_all(device, bad_calls);
}

fn more_than_the_device_can_bind(device: &Device) {
    refuse_all(device, oversize::bad_calls(device));
    #[cfg(feature = "autodiff")]
    refuse_all(device, oversize::with_gradients(device));
}

fn more_than_can_be_numbered(device: &Device) {
    refuse_all(device, oversize::too_many_to_number(device));
}

/// The tables are not empty by accident.
fn how_many(device: &Device) {
    let tables = [
        dimensions::bad_calls(device),
        masks::bad_calls(device),
        keys::bad_calls(device),
        recurrences::bad_calls(device),
        ragged::bad_calls(device),
        sort::bad_calls(device),
        dtypes::quantized(device),
    ];
    let total: usize = tables.iter().map(Vec::len).sum();
    assert!(total >= 160, "{total} bad calls");
}

/// A call, and the message of its refusal.
struct Bad<'a> {
    operation: &'static str,
    reason: String,
    call: Box<dyn FnOnce() + 'a>,
}

fn refuse_all(device: &Device, bad_calls: Vec<Bad>) {
    for Bad {
        operation,
        reason,
        call,
    } in bad_calls
    {
        let message = caught(call).expect(&reason);
        let expected = format!(
            "=== Tensor Operation Error ===\n  Operation: '{operation}'\n  Reason:\n    1. {reason} \n"
        );
        assert_eq!(message, expected);
        assert_works(device);
    }
}

/// A sum and a compaction.
fn assert_works(device: &Device) {
    let values = ints(device);
    let sums = host::<i32, 1>(values.clone().inclusive_cumsum(0));
    assert_same(&sums, &[3, 7, 12], || "a sum after a bad call".to_string());
    let odd = values.clone().remainder_scalar(2).equal_scalar(1);
    let kept = host::<i32, 1>(values.exact_by_mask(odd));
    assert_same(&kept, &[3, 5], || {
        "a compaction after a bad call".to_string()
    });
}

fn ints(device: &Device) -> Tensor<1, Int> {
    Tensor::from_data([3, 4, 5], device)
}

fn floats(device: &Device) -> Tensor<2> {
    Tensor::from_data([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], device)
}

fn trues<const D: usize>(device: &Device, shape: [usize; D]) -> Tensor<D, Bool> {
    let all = vec![true; shape.iter().product()];
    Tensor::from_data(TensorData::new(all, shape), device)
}
