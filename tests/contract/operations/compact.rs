//! `compact_by_mask` in its three forms: exact, async, padded.

use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::{TensorCompact, TensorScan};
use scan_testing::tensors::element::{Element, numbered};
use scan_testing::tensors::views::{half, masks, views};
use scan_testing::tensors::waiting::{ExactCompact, wait};
use scan_testing::tensors::{
    assert_same, host, host_indices, mask, oracle, sampled, tensor, unsupported,
};

use super::{LARGE_SIZES, SIZES, TILE};

on_every_device![
    every_size_and_density,
    large_sizes,
    every_rank,
    strided_values_and_masks,
    every_dtype,
    bool_results_are_bool_tensors,
    exact_results_go_on_like_any_tensor,
];

/// On Cube an exact result is the front of a longer buffer. Burn's operations on it must not see the rest.
fn exact_results_go_on_like_any_tensor(device: &Device) {
    let flags: Vec<bool> = (0..1003).map(half).collect();
    let values: Vec<i32> = (0..1003).map(|i| i * 37 % 101 - 50).collect();
    let input: Tensor<1, Int> = tensor(&values, [1003], device);
    let kept = oracle::compact(&values, &flags);
    let result = || input.clone().exact_by_mask(mask(&flags, [1003], device));
    let mapped = |f: &dyn Fn(i32) -> i32| kept.iter().map(|&value| f(value)).collect::<Vec<_>>();
    let same = |found: Tensor<1, Int>, expected: Vec<i32>, what: &str| {
        assert_same(&host::<i32, 1>(found), &expected, || what.to_string());
    };
    let mut total = 0;
    let sums = kept
        .iter()
        .map(|value| {
            total += value;
            total
        })
        .collect();
    same(
        result() * 3 + 1,
        mapped(&|value| value * 3 + 1),
        "arithmetic",
    );
    same(
        result() * result(),
        mapped(&|value| value * value),
        "a square",
    );
    same(result().sum(), vec![kept.iter().sum()], "a sum");
    same(
        result().max(),
        vec![*kept.iter().max().unwrap()],
        "a maximum",
    );
    same(
        result().flip([0]),
        kept.iter().rev().copied().collect(),
        "a flip",
    );
    same(result().slice(1..4), kept[1..4].to_vec(), "a slice");
    same(
        Tensor::cat(vec![result(), result()], 0),
        [kept.clone(), kept.clone()].concat(),
        "two in a row",
    );
    same(
        result().reshape([1, -1]).transpose().reshape([-1]),
        kept.clone(),
        "another shape",
    );
    same(result().inclusive_cumsum(0), sums, "a scan");
    let odd = result().remainder_scalar(2).equal_scalar(1);
    let expected = kept
        .iter()
        .copied()
        .filter(|value| value.rem_euclid(2) == 1)
        .collect();
    same(result().exact_by_mask(odd), expected, "a compaction");
}

/// Compacts in each form and compares with the oracle.
#[track_caller]
fn check_tensor<T: Element, const D: usize>(
    name: &str,
    input: &Tensor<D, T::Kind>,
    kept: &Tensor<D, Bool>,
) where
    Tensor<D, T::Kind>: TensorCompact<D, T::Kind>,
{
    let context = |form: &str| format!("{form} of {:?} by {name}", input.dims());
    let (values, mask) = (host::<T, D>(input.clone()), host::<bool, D>(kept.clone()));
    let mut expected = oracle::compact(&values, &mask);
    let count = expected.len();

    let exact = input.clone().exact_by_mask(kept.clone());
    assert_eq!(exact.dims(), [count], "{}", context("exact"));
    assert_same(&host::<T, 1>(exact), &expected, || context("exact"));

    let later = wait(input.clone().compact_by_mask_async(kept.clone()));
    assert_same(&host::<T, 1>(later), &expected, || context("async"));

    let (padded, found_count) = input.clone().compact_by_mask_padded(kept.clone());
    expected.resize(values.len(), T::default());
    assert_eq!(padded.dims(), [values.len()], "{}", context("padded"));
    assert_same(&host::<T, 1>(padded), &expected, || context("padded"));
    assert_eq!(host_indices(found_count), [count], "{}", context("count"));

    assert_same(&host::<T, D>(input.clone()), &values, || {
        context("the values after it")
    });
    assert_same(&host::<bool, D>(kept.clone()), &mask, || {
        context("the mask after it")
    });
}

#[track_caller]
fn check<T: Element>(name: &str, kept: &[bool], device: &Device)
where
    Tensor<1, T::Kind>: TensorCompact<1, T::Kind>,
{
    let n = kept.len();
    let input = tensor::<T, 1>(&numbered(n), [n], device);
    check_tensor::<T, 1>(name, &input, &mask(kept, [n], device));
}

fn every_size_and_density(device: &Device) {
    for (turn, n) in SIZES.into_iter().enumerate() {
        for (name, kept) in sampled(masks(n), device, turn, 3) {
            check::<f32>(name, &kept, device);
        }
        let kept: Vec<bool> = (0..n).map(half).collect();
        for is_bool in sampled([false, true], device, turn, 2) {
            if is_bool {
                check::<bool>("half", &kept, device);
            } else {
                check::<i32>("half", &kept, device);
            }
        }
    }
}

fn large_sizes(device: &Device) {
    for n in LARGE_SIZES {
        let kept: Vec<bool> = (0..n).map(half).collect();
        check::<f32>("half", &kept, device);
    }
    for (name, kept) in sampled(masks(40 * TILE + 17), device, 0, 2) {
        check::<i32>(name, &kept, device);
        check::<bool>(name, &kept, device);
    }
}

fn every_rank(device: &Device) {
    let kept = |n: usize| (0..n).map(half).collect::<Vec<bool>>();
    macro_rules! check_shape {
        ($($shape:expr),*) => {$({
            let n = $shape.iter().product();
            let kept = mask(&kept(n), $shape, device);
            for kind in sampled(0..3, device, n, 3) {
                match kind {
                    0 => check_tensor::<f32, _>("half", &tensor::<f32, _>(&numbered(n), $shape, device), &kept),
                    1 => check_tensor::<i32, _>("half", &tensor::<i32, _>(&numbered(n), $shape, device), &kept),
                    _ => check_tensor::<bool, _>("half", &tensor::<bool, _>(&numbered(n), $shape, device), &kept),
                }
            }
        })*};
    }
    every_rank!(check_shape);
}

/// Each view of the values with a contiguous mask, contiguous values with each view of a mask, and both.
fn strided_values_and_masks(device: &Device) {
    for (turn, shape) in [[3, 4, 6], [12, 40, 33]].into_iter().enumerate() {
        let n = shape.iter().product();
        let base = tensor::<i32, 3>(&numbered(n), shape, device);
        let base_mask = mask(&(0..n).map(half).collect::<Vec<_>>(), shape, device);
        let both = views(&base).into_iter().zip(views(&base_mask));
        for ((name, view), (_, mask_view)) in sampled(both, device, turn, 4) {
            let (dims, n) = (view.dims(), view.dims().iter().product());
            let plain = tensor::<i32, 3>(&numbered(n), dims, device);
            let plain_mask = mask(&(0..n).map(half).collect::<Vec<_>>(), dims, device);
            check_tensor::<i32, 3>(name, &view, &plain_mask);
            check_tensor::<i32, 3>(&format!("{name} mask"), &plain, &mask_view);
            check_tensor::<i32, 3>(&format!("{name} both"), &view, &mask_view);
            check_tensor::<bool, 3>(&format!("{name}, of itself"), &mask_view, &mask_view);
        }
    }
}

/// Compaction moves values and computes nothing, for any width.
fn every_dtype(device: &Device) {
    let kept: Vec<bool> = (0..2 * TILE + 5).map(half).collect();
    macro_rules! check_dtypes {
        ($($t:ty),*) => {$(
            if device.supports_dtype(<$t as burn::tensor::Element>::dtype()) {
                check::<$t>(stringify!($t), &kept, device);
            } else {
                unsupported(&format!("{device:?} has no {}", stringify!($t)));
            }
        )*};
    }
    check_dtypes!(
        burn::tensor::f16,
        burn::tensor::bf16,
        f64,
        i8,
        i16,
        i64,
        u8,
        u16,
        u32,
        u64
    );
}

/// A bool input gives a bool output with the device's store, ready for the next bool operation.
fn bool_results_are_bool_tensors(device: &Device) {
    let values: Vec<bool> = numbered(1000);
    let kept: Vec<bool> = (0..1000).map(half).collect();
    let input = tensor::<bool, 1>(&values, [1000], device);
    let found = input.clone().exact_by_mask(mask(&kept, [1000], device));
    assert_eq!(found.dtype(), input.dtype());
    let negated: Vec<bool> = oracle::compact(&values, &kept)
        .iter()
        .map(|value| !value)
        .collect();
    assert_same(&host::<bool, 1>(found.bool_not()), &negated, || {
        "not".to_string()
    });

    let (padded, _) = input
        .clone()
        .compact_by_mask_padded(mask(&kept, [1000], device));
    assert_eq!(padded.dtype(), input.dtype());
    let kept_in_place = padded.clone().bool_and(padded);
    assert_eq!(host::<bool, 1>(kept_in_place).len(), 1000);

    // Burn's `select` on Flex leaves booleans as U8.
    let backwards = Tensor::<1, Int>::from_data([2, 1, 0], device);
    let selected =
        || tensor::<bool, 1>(&[true, true, false], [3], device).select(0, backwards.clone());
    let found = selected().exact_by_mask(selected());
    assert_eq!(found.dtype(), input.dtype());
    assert_eq!(host::<bool, 1>(found), [true, true]);
}
