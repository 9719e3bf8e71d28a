//! Values in the order of keys, against the host's stable sort.

use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{Element, hash, numbered};
use scan_testing::tensors::{host, host_indices, sampled, tensor};

use super::TILE;
use super::sort::{Key, ORDERS, assert_bits, mixed, sources, taken};

on_every_device![values_by_key, only_the_lowest_bits];

#[track_caller]
fn check_by_key<T: Element, Q: Key>(name: &str, keys: &[Q], device: &Device)
where
    Tensor<1, T::Kind>: TensorSortByKey<T::Kind>,
    Tensor<1, Q::Kind>: TensorSort<1>,
{
    let n = keys.len();
    let values: Vec<T> = numbered(n);
    for order in sampled(ORDERS, device, n, 2) {
        let context = format!("{n} values, {:?} by {:?}, {name}", T::dtype(), Q::dtype());
        let positions = sources(keys, &[n], 0, order);
        let input = tensor::<T, 1>(&values, [n], device);
        let on_device = tensor::<Q, 1>(keys, [n], device);
        let (moved, sorted) = input.clone().radix_sort_by_key(on_device, order);
        assert_eq!((moved.dims(), moved.dtype()), ([n], input.dtype()));
        let expected = taken(&values, &positions, [1, n, 1]);
        scan_testing::tensors::assert_same(&host::<T, 1>(moved), &expected, || context.clone());
        let expected = taken(keys, &positions, [1, n, 1]);
        assert_bits(&host::<Q, 1>(sorted), &expected, &context);
    }
}

fn values_by_key(device: &Device) {
    for n in [0, 1, 2, 100, TILE - 1, 2 * TILE + 9] {
        check_by_key::<f32, f32>("mixed", &mixed(n), device);
        check_by_key::<i32, f32>("mixed", &mixed(n), device);
        check_by_key::<bool, i32>("random", &numbered(n), device);
        check_by_key::<f32, i32>("random", &numbered(n), device);
    }
    let mask = tensor::<bool, 1>(&numbered::<bool>(50), [50], device);
    let keys = tensor::<f32, 1>(&mixed(50), [50], device);
    let (moved, _): (Tensor<1, Bool>, Tensor<1>) =
        mask.clone().radix_sort_by_key(keys, SortOrder::Ascending);
    assert_eq!(moved.dtype(), mask.dtype(), "bools stay bools");
}

/// Keys with higher bits set are equal where the lowest are, and negative keys are large.
fn only_the_lowest_bits(device: &Device) {
    let n = TILE + 100;
    let all = [1, 3, 8, 9, 31, 16, 32];
    for (turn, bits) in sampled(all, device, 0, 2).into_iter().enumerate() {
        for order in sampled(ORDERS, device, turn, 2) {
            let keys: Vec<i32> = (0..n).map(|i| hash(i) as i32).collect();
            let lowest: Vec<u32> = keys
                .iter()
                .map(|&key| key as u32 & (u32::MAX >> (32 - bits)))
                .collect();
            let positions = sources(&lowest, &[n], 0, order);
            let values = Tensor::<1, Int>::arange(0..n as i64, device);
            let on_device = tensor::<i32, 1>(&keys, [n], device);
            let (moved, sorted) = values.radix_sort_by_key_bits(on_device, bits, order);
            let context = format!("{bits} bits, {order:?}");
            assert!(host_indices(moved) == positions, "{context}");
            let expected = taken(&keys, &positions, [1, n, 1]);
            assert_bits(&host::<i32, 1>(sorted), &expected, &context);
        }
    }
    let none = Tensor::<1, Int>::empty([0], device);
    let (moved, sorted) = none
        .clone()
        .radix_sort_by_key_bits(none, 0, SortOrder::Ascending);
    assert_eq!((moved.dims(), sorted.dims()), ([0], [0]));
}
