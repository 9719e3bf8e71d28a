//! Burn's own tests of its cumulative operations, its masks and their gradients, restated, with `install()`
//! called: on the fused Cube device, where each scan must be this crate's, and on Flex.
//!
//! Burn's tests of the gradient of `cumprod` at zeros are omitted: Burn divides by the input and marks them as failing.
#![cfg(all(
    feature = "fusion",
    feature = "wgpu",
    feature = "flex",
    feature = "autodiff"
))]

macro_rules! same {
    ($found:expr, $expected:expr) => {
        let expected = burn::tensor::TensorData::from($expected);
        $found.into_data().assert_eq(&expected, false)
    };
}

macro_rules! close {
    ($found:expr, $expected:expr) => {
        let expected = burn::tensor::TensorData::from($expected);
        $found
            .into_data()
            .assert_approx_eq::<f32>(&expected, burn::tensor::Tolerance::default())
    };
}

mod cumulative;
#[path = "../fusion_support/mod.rs"]
mod fusion_support;
mod masks;
mod select;

use burn::tensor::Device;
use fusion_support::{hooked_device, planned};

/// Calls `test` on Flex and on the Cube device with the hook.
fn on_both(test: impl Fn(&Device)) {
    let hooked = hooked_device();
    test(&Device::flex());
    if let Some(device) = hooked {
        test(&device);
    }
}

/// Calls `test` on the devices of [`on_both`], with autodiff.
fn with_gradients(test: impl Fn(&Device)) {
    on_both(|device| test(&device.clone().autodiff()));
}

/// The result of `graph`. On a Cube device its cumulative operations must be this crate's.
fn hooked<T>(device: &Device, graph: impl FnOnce() -> T) -> T {
    if device.clone().inner() == Device::flex() {
        return graph();
    }
    let (result, plan) = planned(device, graph);
    let blocks = plan.split_inclusive(')').map(str::trim);
    let mut scans = blocks.filter(|block| block.contains("Cum")).peekable();
    assert!(scans.peek().is_some(), "no scan in {plan}");
    assert!(scans.all(|block| block.starts_with("Scan(")), "{plan}");
    result
}
