//! The largest elements of each line, against the front of the host's stable sort.

use burn::tensor::{Device, Tensor, f16};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{hash, numbered};
use scan_testing::tensors::views::views;
use scan_testing::tensors::{axis, host, host_indices, sampled, tensor, unsupported};

use super::TILE;
use super::sort::{Key, SPECIAL, assert_bits, mixed, sources, taken};

on_every_device![
    every_k,
    every_dtype,
    special_values,
    many_lines,
    strided_tensors,
];

#[track_caller]
fn check_largest_of<T: Key, const D: usize>(
    name: &str,
    input: &Tensor<D, T::Kind>,
    dim: usize,
    k: usize,
) where
    Tensor<D, T::Kind>: TensorSort<D>,
{
    let shape = input.dims();
    let context = format!("the {k} largest of {shape:?} along {dim}, {name}");
    let before = host::<T, D>(input.clone());
    let all = sources(&before, &shape, dim, SortOrder::Descending);
    let [_, len, inner] = axis(&shape, dim);
    let front = |&(i, _): &(usize, usize)| i / inner % len < k;
    let positions: Vec<usize> = all
        .into_iter()
        .enumerate()
        .filter(front)
        .map(|(_, position)| position)
        .collect();
    let expected = taken(&before, &positions, axis(&shape, dim));
    let mut of_k = shape;
    of_k[dim] = k;
    // A device that does not take all cases takes the forms in turn.
    for form in sampled(0..2, &input.device(), k + dim, 2) {
        let values = if form == 0 {
            let (values, found) = input.clone().radix_topk_with_indices(k, dim);
            assert_eq!(found.dims(), of_k, "{context}");
            assert!(host_indices(found) == positions, "positions of {context}");
            values
        } else {
            input.clone().radix_topk(k, dim)
        };
        assert_eq!((values.dims(), values.dtype()), (of_k, input.dtype()));
        assert_bits(&host::<T, D>(values), &expected, &context);
    }
}

fn check_largest<T: Key, const D: usize>(
    name: &str,
    values: &[T],
    shape: [usize; D],
    dim: usize,
    k: usize,
    device: &Device,
) where
    Tensor<D, T::Kind>: TensorSort<D>,
{
    let input = tensor::<T, D>(values, shape, device);
    check_largest_of::<T, D>(name, &input, dim, k);
}

/// None, one, few, most and all of a line; ties; lines along any dimension.
fn every_k(device: &Device) {
    for k in [0, 1, 2, 7, 64, 299, 300] {
        check_largest::<f32, 2>("mixed", &mixed(900), [3, 300], 1, k, device);
        check_largest::<i32, 2>("random", &numbered(900), [300, 3], 0, k, device);
    }
    check_largest::<f32, 1>("no elements", &[], [0], 0, 0, device);
    check_largest::<f32, 2>("no lines", &[], [0, 9], 1, 4, device);
    let n = 5 * TILE + 3;
    let kinds = [
        ("all equal", (|_| 4) as fn(usize) -> i32),
        ("sorted", |i| i as i32),
        ("falling", |i| -(i as i32)),
        ("few keys", |i| (hash(i) % 3) as i32),
    ];
    for (turn, (name, key)) in kinds.into_iter().enumerate() {
        let keys: Vec<i32> = (0..n).map(key).collect();
        for k in sampled([1, 64, 700, n / 2], device, turn, 2) {
            check_largest::<i32, 1>(name, &keys, [n], 0, k, device);
        }
    }
    let n = 300_001;
    check_largest::<f32, 1>("long", &mixed(n), [n], 0, 100, device);
    check_largest::<f32, 2>("vocabulary", &mixed(4 * 50_000), [4, 50_000], 1, 64, device);
}

fn every_dtype(device: &Device) {
    macro_rules! dtypes {
        ($($t:ty),*) => {$(
            if device.supports_dtype(<$t as burn::tensor::Element>::dtype()) {
                check_largest::<$t, 2>("random", &numbered(900), [3, 300], 1, 5, device);
            } else {
                unsupported(&format!("{device:?} has no {}", stringify!($t)));
            }
        )*};
    }
    dtypes!(
        i8,
        i16,
        i32,
        i64,
        u8,
        u16,
        u32,
        u64,
        f16,
        burn::tensor::bf16,
        f32,
        f64
    );
}

fn special_values(device: &Device) {
    for n in [15, 600, TILE + 9] {
        let values: Vec<f32> = (0..n).map(|i| SPECIAL[hash(i) % SPECIAL.len()]).collect();
        for k in [1, n / 9, n - 3] {
            check_largest::<f32, 1>("special", &values, [n], 0, k, device);
        }
    }
}

fn many_lines(device: &Device) {
    for [rows, len] in [[5000, 4], [700, 64]] {
        check_largest::<f32, 2>("mixed", &mixed(rows * len), [rows, len], 1, 2, device);
    }
}

fn strided_tensors(device: &Device) {
    let base = tensor::<f32, 3>(&mixed(6 * 7 * 8), [6, 7, 8], device);
    for (turn, (name, view)) in views(&base).into_iter().enumerate() {
        for dim in sampled(0..3, device, turn, 3) {
            check_largest_of::<f32, 3>(name, &view, dim, 2);
        }
    }
}
