//! The gradient of every float operation against its exact adjoint, which the host computes by its definition.

#![cfg(feature = "autodiff")]

#[macro_use]
extern crate scan_testing;

#[cfg(target_family = "wasm")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

mod graph;
// It reads a clock, which WebAssembly does not have.
#[cfg(not(target_family = "wasm"))]
mod growth;
mod ragged;
mod recurrences;
mod scans;
mod segments;
mod selections;
mod sort;

use burn::tensor::{Device, Tensor};
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{host, tensor};

/// The device with autodiff, without and with gradient checkpointing.
fn trackings(device: &Device) -> [Device; 2] {
    let tracking = device.clone().autodiff();
    [tracking.clone(), tracking.gradient_checkpointing()]
}

/// Small weights of either sign.
fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| (hash(i + 77) % 7) as f64 - 3.0).collect()
}

fn narrow(wide: &[f64]) -> Vec<f32> {
    wide.iter().map(|&value| value as f32).collect()
}

/// Compares the gradient of `op` at `values` with `adjoint`, which maps a weight of each output to the gradient
/// of each input. The weights are random, then all equal (a broadcast), then in a transposed tensor with
/// checkpointing.
#[track_caller]
fn check<const D: usize, const R: usize>(
    name: &str,
    values: &[f64],
    shape: [usize; D],
    device: &Device,
    op: impl Fn(Tensor<D>) -> Tensor<R>,
    adjoint: impl Fn(&[f64]) -> Vec<f64>,
) {
    let compare =
        |form: &str, device: &Device, loss: &dyn Fn(Tensor<R>) -> (Tensor<1>, Vec<f64>)| {
            let x = tensor::<f32, D>(&narrow(values), shape, device).require_grad();
            let y = op(x.clone());
            assert!(y.is_tracked(), "{name} {shape:?} is not tracked");
            let (loss, weights) = loss(y);
            let gradient = x.grad(&loss.backward()).expect("x has a gradient");
            assert_eq!(gradient.dims(), shape, "{name}, {form}");
            let (found, expected) = (host::<f32, D>(gradient), adjoint(&weights));
            for (i, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
                let close = (f64::from(found) - expected).abs() <= 1e-5 * expected.abs().max(1.0);
                assert!(
                    close,
                    "{name} {shape:?}, {form}, {i}: {found} instead of {expected}"
                );
            }
        };
    let tracking = device.clone().autodiff();
    compare("random weights", &tracking, &|y| {
        let (shape, w) = (y.dims(), weights(y.shape().num_elements()));
        (
            (y * tensor::<f32, R>(&narrow(&w), shape, &tracking)).sum(),
            w,
        )
    });
    compare("weights 1", &tracking, &|y| {
        let n = y.shape().num_elements();
        (y.sum(), vec![1.0; n])
    });
    let tracking = tracking.gradient_checkpointing();
    compare("transposed weights, checkpointing", &tracking, &|y| {
        let y = y.swap_dims(0, R - 1);
        let w = narrow(&weights(y.shape().num_elements()));
        let w = tensor::<f32, R>(&w, y.dims(), &tracking);
        let seen = host::<f32, R>(w.clone().swap_dims(0, R - 1));
        ((y * w).sum(), seen.into_iter().map(f64::from).collect())
    });
}
