//! Inputs, and the loops along lines that check answers.

use burn::tensor::Tensor;
use scan_testing::tensors::element::{Element, hash};
use scan_testing::tensors::{axis, host, tensor};

use super::Place;
use super::common::input::check_equal;

/// Small integers: their sums are exact in any order.
pub fn value(at: usize) -> f32 {
    (hash(at) % 5) as f32 - 2.0
}

/// The tensor of these values.
pub fn input<T: Element, const D: usize>(
    shape: [usize; D],
    rounded: fn(f32) -> T,
    place: &Place,
) -> Tensor<D, T::Kind> {
    of(shape, |at| rounded(value(at)), place)
}

pub fn of<T: Element, const D: usize>(
    shape: [usize; D],
    value: impl Fn(usize) -> T,
    place: &Place,
) -> Tensor<D, T::Kind> {
    let values: Vec<T> = (0..shape.iter().product()).map(value).collect();
    tensor(&values, shape, &place.device)
}

/// Every element along the middle of `[outer, len, inner]`, from the one before it in its line and its own place.
pub fn along<T: Copy>(
    [outer, len, inner]: [usize; 3],
    mut next: impl FnMut(Option<T>, usize) -> T,
) -> Vec<T> {
    let mut all: Vec<T> = Vec::with_capacity(outer * len * inner);
    for at in 0..outer * len * inner {
        let before = (at / inner % len > 0).then(|| all[at - inner]);
        all.push(next(before, at));
    }
    all
}

/// Checks the sums of elements that have these values.
pub fn check_sums<const D: usize>(
    found: Tensor<D>,
    dim: usize,
    value: impl Fn(usize) -> f32,
) -> Result<(), String> {
    let axes = axis(&found.dims(), dim);
    let sums = along(axes, |before, at| before.unwrap_or(0.0) + value(at));
    check_equal(&host::<f32, D>(found), &sums)
}

pub fn check_near(found: &[f32], expected: impl Iterator<Item = f64>) -> Result<(), String> {
    for (at, (&found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(found) - expected).abs();
        if error > 1e-5 * expected.abs().max(1.0) {
            return Err(format!("element {at} is {found}, not {expected}"));
        }
    }
    Ok(())
}
