//! Runs of equal elements: run-length encoding in its three forms, and repetition by lengths.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{Element, hash, numbered};
use scan_testing::tensors::views::views;
use scan_testing::tensors::waiting::{ExactRuns, wait};
use scan_testing::tensors::{assert_same, host, host_indices, sampled, tensor, unsupported};

use super::TILE;
use super::ragged::lengths;

on_every_device![
    runs_of_every_size,
    runs_of_every_dtype,
    runs_of_nan_and_zeros,
    runs_of_a_view,
    repetitions_of_every_kind,
    repetitions_of_every_dtype,
    repetitions_of_negative_lengths,
];

/// Each value and the length of its run.
fn expected<T: Element>(values: &[T]) -> (Vec<T>, Vec<usize>) {
    let runs: Vec<&[T]> = values.chunk_by(|a, b| a == b).collect();
    (
        runs.iter().map(|run| run[0]).collect(),
        runs.iter().map(|run| run.len()).collect(),
    )
}

#[track_caller]
fn check<T: Element>(name: &str, input: &Tensor<1, T::Kind>)
where
    Tensor<1, T::Kind>: TensorRuns<T::Kind>,
{
    let values = host::<T, 1>(input.clone());
    let (mut runs, mut lengths) = expected(&values);
    let count = runs.len();
    let context = |form: &str| format!("{form} of {name}, {} elements", values.len());
    let exact = input.clone().exact_runs();
    let later = wait(input.clone().run_length_encode_async());
    for (form, (found, found_lengths)) in [("exact", exact), ("async", later)] {
        assert_eq!(found.dims(), [count], "{}", context(form));
        assert_same(&host::<T, 1>(found), &runs, || context(form));
        assert_eq!(host_indices(found_lengths), lengths, "{}", context(form));
    }
    let (found, found_lengths, found_count) = input.clone().run_length_encode_padded();
    runs.resize(values.len(), T::default());
    lengths.resize(values.len(), 0);
    assert_same(&host::<T, 1>(found), &runs, || context("padded"));
    assert_eq!(
        host_indices(found_lengths),
        lengths,
        "{}",
        context("padded")
    );
    assert_eq!(host_indices(found_count), [count], "{}", context("count"));
}

/// Runs of this length on average.
fn runs<T: Element>(n: usize, length: usize) -> Vec<T> {
    let some: Vec<T> = numbered(7);
    let mut run = 0;
    (0..n)
        .map(|i| {
            run += usize::from(hash(i) % length == 0);
            some[hash(run) % 7]
        })
        .collect()
}

fn runs_of_every_size(device: &Device) {
    let sizes = [
        0,
        1,
        2,
        63,
        64,
        65,
        1023,
        4097,
        2 * TILE + 5,
        16_384,
        70_001,
    ];
    for (turn, n) in sizes.into_iter().enumerate() {
        for length in sampled([1, 4, 1000], device, turn, 3) {
            check::<i32>("runs", &tensor::<i32, 1>(&runs(n, length), [n], device));
        }
        check::<f32>("one run", &tensor::<f32, 1>(&vec![2.5; n], [n], device));
        check::<bool>("bools", &tensor::<bool, 1>(&runs(n, 3), [n], device));
    }
}

fn runs_of_every_dtype(device: &Device) {
    macro_rules! check_dtypes {
        ($($t:ty),*) => {$(
            if device.supports_dtype(<$t as burn::tensor::Element>::dtype()) {
                check::<$t>(stringify!($t), &tensor::<$t, 1>(&runs(5001, 4), [5001], device));
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

/// A NaN is a run of its own at any place in a vector. −0 continues a run of 0.
fn runs_of_nan_and_zeros(device: &Device) {
    for at in 0..9 {
        let mut values = vec![0.0f32; 12];
        values[at] = f32::NAN;
        values[at + 1] = f32::NAN;
        values[11] = -0.0;
        let x = tensor::<f32, 1>(&values, [12], device);
        let (_, lengths) = x.exact_runs();
        let expected: Vec<usize> = [at, 1, 1, 10 - at].into_iter().filter(|&n| n > 0).collect();
        assert_eq!(host_indices(lengths), expected, "NaN at {at}");
    }
}

fn runs_of_a_view(device: &Device) {
    let base = tensor::<i32, 3>(&runs(12 * 40 * 33, 5), [12, 40, 33], device);
    for (name, view) in sampled(views(&base), device, 0, 2) {
        let n = view.shape().num_elements();
        check::<i32>(name, &view.clone().reshape([n]));
        let line = view.swap_dims(0, 2).slice([0..1, 0..1]).flatten::<1>(0, 2);
        check::<i32>(name, &line);
    }
}

fn repeated<T: Element>(values: &[T], lengths: &[usize]) -> Vec<T> {
    let rows = values.iter().zip(lengths);
    rows.flat_map(|(&value, &length)| vec![value; length])
        .collect()
}

#[track_caller]
fn check_repeat<T: Element>(name: &str, lengths: &[usize], device: &Device)
where
    Tensor<1, T::Kind>: TensorRuns<T::Kind>,
{
    let n = lengths.len();
    let values: Vec<T> = numbered(n);
    let x = || tensor::<T, 1>(&values, [n], device);
    let narrow: Vec<i32> = lengths.iter().map(|&length| length as i32).collect();
    let by = || tensor::<i32, 1>(&narrow, [n], device);
    let expected = repeated(&values, lengths);
    let total = expected.len();
    assert_same(&host::<T, 1>(x().exact_repeat(by())), &expected, || {
        name.to_string()
    });
    let later = wait(x().repeat_by_lengths_async(by()));
    assert_same(&host::<T, 1>(later), &expected, || format!("{name}, async"));
    for size in [0, total / 2, total, total + 33] {
        let mut expected = expected.clone();
        expected.resize(size, T::default());
        let found = x().repeat_by_lengths_into(by(), size);
        assert_same(&host::<T, 1>(found), &expected, || {
            format!("{name}, {size} of {total}")
        });
    }
}

fn repetitions_of_every_kind(device: &Device) {
    for (name, lengths) in lengths() {
        check_repeat::<f32>(name, &lengths, device);
        check_repeat::<i32>(name, &lengths, device);
        check_repeat::<bool>(name, &lengths, device);
    }
}

fn repetitions_of_every_dtype(device: &Device) {
    let lengths: Vec<usize> = (0..700).map(|i| hash(i) % 5).collect();
    macro_rules! check_dtypes {
        ($($t:ty),*) => {$(
            if device.supports_dtype(<$t as burn::tensor::Element>::dtype()) {
                check_repeat::<$t>(stringify!($t), &lengths, device);
            } else {
                unsupported(&format!("{device:?} has no {}", stringify!($t)));
            }
        )*};
    }
    check_dtypes!(burn::tensor::f16, f64, i16, i64, u8);
}

fn repetitions_of_negative_lengths(device: &Device) {
    let x = tensor::<i32, 1>(&[1, 2, 3], [3], device);
    let lengths: Tensor<1, Int> = tensor::<i32, 1>(&[2, -4, 1], [3], device);
    assert_eq!(host_indices(x.exact_repeat(lengths)), [1, 1, 3]);
}
