//! `partition_by_key`: stable grouping, with keys that belong to no group.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_scan::TensorExpand;
use scan_testing::tensors::element::{Element, hash, numbered};
use scan_testing::tensors::{assert_same, host, host_indices, oracle, read, tensor, unsupported};

use super::{SIZES, TILE};

on_every_device![
    every_size,
    every_number_of_keys,
    keys_out_of_range,
    no_keys_and_no_values,
    strided_values_and_keys,
    every_key_dtype,
];

#[track_caller]
fn check_tensor<T: Element>(
    name: &str,
    values: &Tensor<1, T::Kind>,
    keys: &Tensor<1, Int>,
    num_keys: usize,
) where
    Tensor<1, T::Kind>: TensorExpand<T::Kind>,
{
    let context = || format!("{:?} values, {num_keys} keys, {name}", values.dims());
    let before = host::<T, 1>(values.clone());
    let key_data: Vec<i64> = read(keys.clone()).iter().collect();
    let (sources, expected_offsets) = oracle::partition(&key_data, num_keys);
    let mut expected: Vec<T> = sources.into_iter().map(|source| before[source]).collect();
    expected.resize(before.len(), T::default());

    let (grouped, offsets) = values.clone().partition_by_key(keys.clone(), num_keys);
    assert_eq!(grouped.dims(), values.dims(), "{}", context());
    assert_eq!(grouped.dtype(), values.dtype(), "{}", context());
    assert_eq!(offsets.dims(), [num_keys + 1], "{}", context());
    assert!(
        host_indices(offsets) == expected_offsets,
        "the offsets of {}",
        context()
    );
    assert_same(&host::<T, 1>(grouped), &expected, context);

    assert_same(&host::<T, 1>(values.clone()), &before, || {
        format!("values of {}", context())
    });
    let key_data_after: Vec<i64> = read(keys.clone()).iter().collect();
    assert!(
        key_data_after == key_data,
        "the keys of {} have changed",
        context()
    );
}

#[track_caller]
fn check<T: Element>(name: &str, keys: &[i32], num_keys: usize, device: &Device)
where
    Tensor<1, T::Kind>: TensorExpand<T::Kind>,
{
    let n = keys.len();
    let values = tensor::<T, 1>(&numbered(n), [n], device);
    check_tensor::<T>(
        name,
        &values,
        &tensor::<i32, 1>(keys, [n], device),
        num_keys,
    );
}

/// Random keys, some of them one below the range and some one above.
fn random(n: usize, num_keys: usize) -> Vec<i32> {
    (0..n)
        .map(|i| (hash(i) % (num_keys + 2)) as i32 - 1)
        .collect()
}

fn every_size(device: &Device) {
    for n in SIZES {
        check::<f32>("random", &random(n, 7), 7, device);
        check::<i32>("random", &random(n, 40), 40, device);
        check::<bool>("random", &random(n, 3), 3, device);
    }
    check::<i32>("random", &random((1 << 18) + 1, 100), 100, device);
}

fn every_number_of_keys(device: &Device) {
    for num_keys in [1, 2, 31, 33, 255, 256, 257, 1000, 4097, 65_536] {
        check::<i32>("random", &random(3 * TILE + 5, num_keys), num_keys, device);
    }
    // Several blocks of the CPU engine, which grow with the number of keys.
    check::<i32>("random", &random(150_003, 9000), 9000, device);
    let sorted: Vec<i32> = (0..9000).map(|i| i / 100).collect();
    check::<i32>("sorted", &sorted, 90, device);
    let falling: Vec<i32> = sorted.iter().rev().copied().collect();
    check::<f32>("falling", &falling, 90, device);
    check::<f32>("all alike", &[4; 9000], 6, device);
}

fn keys_out_of_range(device: &Device) {
    let wild = [i32::MIN, -5, -1, 5, 6, 1 << 20, i32::MAX];
    let keys: Vec<i32> = (0..9000).map(|i| wild[hash(i) % 7]).collect();
    check::<f32>("none in range", &keys, 5, device);
    let mixed = |i: usize| {
        if hash(i).is_multiple_of(3) {
            wild[hash(i) % 7]
        } else {
            (hash(i) % 5) as i32
        }
    };
    check::<f32>(
        "some in range",
        &(0..9000).map(mixed).collect::<Vec<_>>(),
        5,
        device,
    );
    check::<bool>(
        "some in range",
        &(0..9000).map(mixed).collect::<Vec<_>>(),
        5,
        device,
    );
}

fn no_keys_and_no_values(device: &Device) {
    check::<f32>("no values", &[], 5, device);
    check::<f32>("neither", &[], 0, device);
}

fn strided_values_and_keys(device: &Device) {
    let n = 5000;
    let matrix = tensor::<i32, 2>(&numbered(2 * n), [n, 2], device);
    let values = matrix.slice([0..n, 1..2]).reshape([n]);
    let keys = tensor::<i32, 2>(&random(2 * n, 9), [2, n], device);
    let column = keys.swap_dims(0, 1).slice([0..n, 1..2]).reshape([n]);
    check_tensor::<i32>("columns", &values, &column, 9);
    check_tensor::<i32>("flipped", &values.clone().flip([0]), &column.flip([0]), 9);
    let broadcast = tensor::<i32, 1>(&[3], [1], device).expand([n]);
    check_tensor::<i32>("one key for all", &values, &broadcast, 9);
}

/// Keys of other int dtypes than the device's own. A key is out of range if its dtype holds it and the device's
/// does not.
fn every_key_dtype(device: &Device) {
    let values = tensor::<f32, 1>(&numbered(3000), [3000], device);
    for dtype in [
        DType::I64,
        DType::U64,
        DType::U32,
        DType::I16,
        DType::U8,
        DType::I8,
    ] {
        if !device.supports_dtype(dtype) {
            unsupported(&format!("{device:?} has no {dtype:?}"));
            continue;
        }
        let keys: Vec<i64> = (0..3000).map(|i| (hash(i) % 12) as i64).collect();
        let keys = TensorData::new(keys, [3000]);
        let keys = Tensor::<1, Int>::from_data(keys, (device, dtype));
        check_tensor::<f32>(&format!("{dtype:?}"), &values, &keys, 10);
    }
    if device.supports_dtype(DType::I64) {
        let far = |i: usize| (hash(i) % 12) as i64 + if i.is_multiple_of(5) { 1 << 32 } else { 0 };
        let keys = tensor::<i64, 1>(&(0..3000).map(far).collect::<Vec<_>>(), [3000], device);
        check_tensor::<f32>("far keys", &values, &keys, 12);
    }
}
