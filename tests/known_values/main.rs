//! Small inputs with their right values, of kinds that have failed here or in other libraries: the order of additions,
//! the ends of the range, gradients at infinities, chunks of a sequence, lengths from corrupt data.

#![cfg(feature = "autodiff")]

#[macro_use]
extern crate scan_testing;

mod broadcasts;
mod chunks;
mod gradients;
mod order;
mod ragged;
mod recurrences;

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::{Device, Int, Tensor, TensorData};
use scan_testing::tensors::{panic_message, tensor};

fn floats(values: &[f32], device: &Device) -> Tensor<1> {
    tensor(values, [values.len()], device)
}

fn ints(values: &[i32], device: &Device) -> Tensor<1, Int> {
    Tensor::from_data(TensorData::from(values), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    scan_testing::tensors::host::<f32, D>(tensor)
}

/// NaN is equal to NaN, and infinities are equal to themselves.
#[track_caller]
fn assert_near(found: &[f32], expected: &[f32]) {
    let is_near = |(&found, &expected): (&f32, &f32)| {
        found == expected
            || found.is_nan() && expected.is_nan()
            || (found - expected).abs() <= 1e-5 * expected.abs().max(1e-30)
    };
    let all = found.len() == expected.len() && found.iter().zip(expected).all(is_near);
    assert!(all, "{found:?} instead of {expected:?}");
}

/// The call ends in a panic in Burn's form.
#[track_caller]
fn refused<R>(call: impl FnOnce() -> R) {
    let panic = catch_unwind(AssertUnwindSafe(call)).err();
    let message = panic.map(|panic| panic_message(&*panic));
    let message = message.expect("a call that must be refused was not");
    assert!(
        message.starts_with("=== Tensor Operation Error ==="),
        "{message}"
    );
}
