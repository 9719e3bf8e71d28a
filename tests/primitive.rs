//! The kernels on CubeCL's tensors, without Burn's dispatch, against the oracles of the tensor methods.
#![cfg(feature = "cubecl-backend")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::backend::{DispatchDevice, TensorMetadata};
use burn::tensor::{DType, Element, TensorData};
use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, CubeDevice};
use burn_scan::{ScanOp, ScanOptions, SortOrder, primitive};
use scan_testing::tensors::element::{hash, numbered};
use scan_testing::tensors::views::half;
use scan_testing::tensors::{devices, oracle, panic_message};

const N: usize = 9001;

fn device() -> Option<CubeDevice> {
    let DispatchDevice::Cube(device) = devices::cube()?.device.as_dispatch() else {
        unreachable!("a Cube device")
    };
    Some(device.clone())
}

fn floats(values: &[f32], shape: &[usize], device: &CubeDevice) -> CubeTensor {
    CubeBackend::float_from_data(TensorData::new(values.to_vec(), shape.to_vec()), device)
}

fn ints(values: &[i32], device: &CubeDevice) -> CubeTensor {
    CubeBackend::int_from_data(TensorData::new(values.to_vec(), [values.len()]), device)
}

fn bools(values: &[bool], device: &CubeDevice) -> CubeTensor {
    let dtype = burn_backend::get_or_init_device_settings::<CubeBackend>(device).bool_dtype;
    let data = TensorData::new(values.to_vec(), [values.len()]).convert_dtype(dtype.into());
    CubeBackend::bool_from_data(data, device)
}

fn host<T: Element>(tensor: CubeTensor) -> Vec<T> {
    let data = match tensor.dtype {
        DType::Bool(_) => burn_backend::read_sync(CubeBackend::bool_into_data(tensor)),
        dtype if dtype.is_float() => burn_backend::read_sync(CubeBackend::float_into_data(tensor)),
        _ => burn_backend::read_sync(CubeBackend::int_into_data(tensor)),
    };
    data.expect("it can be read").iter::<T>().collect()
}

fn mixed(n: usize) -> Vec<f32> {
    (0..n).map(|i| (hash(i) % 3000) as f32 - 1500.0).collect()
}

fn taken<T: Copy>(values: &[T], positions: &[usize]) -> Vec<T> {
    positions.iter().map(|&at| values[at]).collect()
}

#[test]
fn sums_are_those_of_the_oracle() {
    let Some(device) = device() else { return };
    let values: Vec<i32> = numbered(N);
    let expected = |way| oracle::scan(&values, &[N], 0, ScanOp::Sum, way);
    let found = host::<i32>(primitive::inclusive_sum(ints(&values, &device), 0));
    assert_eq!(found, expected((false, false)));
    let found = host::<i32>(primitive::exclusive_sum(ints(&values, &device), 0));
    assert_eq!(found, expected((true, false)));
    let options = ScanOptions::default().reverse();
    let found = primitive::scan(ints(&values, &device), 0, ScanOp::Max, options);
    let expected = oracle::scan(&values, &[N], 0, ScanOp::Max, (false, true));
    assert_eq!(host::<i32>(found), expected);
}

#[test]
fn survivors_and_groups_are_those_of_the_oracle() {
    let Some(device) = device() else { return };
    let values: Vec<f32> = numbered(N);
    let kept: Vec<bool> = (0..N).map(half).collect();
    let (found, count) = primitive::compact(floats(&values, &[N], &device), bools(&kept, &device));
    let mut expected = oracle::compact(&values, &kept);
    assert_eq!(host::<i64>(count), [expected.len() as i64]);
    expected.resize(N, 0.0);
    assert_eq!(host::<f32>(found), expected);

    let keys: Vec<i32> = (0..N).map(|i| (hash(i) % 40) as i32).collect();
    let wide: Vec<i64> = keys.iter().copied().map(i64::from).collect();
    let (sources, offsets) = oracle::partition(&wide, 40);
    let (found, found_offsets) =
        primitive::partition_by_key(floats(&values, &[N], &device), ints(&keys, &device), 40);
    assert_eq!(host::<f32>(found), taken(&values, &sources));
    let offsets: Vec<i64> = offsets.into_iter().map(|at| at as i64).collect();
    assert_eq!(host::<i64>(found_offsets), offsets);
}

#[test]
fn sorts_are_those_of_the_oracle() {
    let Some(device) = device() else { return };
    let keys = mixed(N);
    let input = || floats(&keys, &[N], &device);
    for order in [SortOrder::Ascending, SortOrder::Descending] {
        let descending = order == SortOrder::Descending;
        let sources = oracle::sort(&keys, &[N], 0, descending);
        let found = host::<f32>(primitive::radix_sort(input(), 0, order));
        assert_eq!(found, taken(&keys, &sources));
        let positions = primitive::radix_argsort(input(), 0, order);
        let found: Vec<usize> = host::<i64>(positions)
            .into_iter()
            .map(|at| at as usize)
            .collect();
        assert_eq!(found, sources);

        let values: Vec<i32> = numbered(N);
        let (moved, sorted) =
            primitive::radix_sort_by_key(ints(&values, &device), input(), None, order);
        assert_eq!(host::<i32>(moved), taken(&values, &sources));
        assert_eq!(host::<f32>(sorted), taken(&keys, &sources));

        let lowest: Vec<u32> = values.iter().map(|&key| key as u32 & 0x3ff).collect();
        let sources = oracle::sort(&lowest, &[N], 0, descending);
        let (moved, sorted) =
            primitive::radix_sort_by_key(input(), ints(&values, &device), Some(10), order);
        assert_eq!(host::<f32>(moved), taken(&keys, &sources));
        assert_eq!(host::<i32>(sorted), taken(&values, &sources));
    }
    let columns = floats(&keys[..9000], &[90, 100], &device);
    let expected = oracle::sort(&keys[..9000], &[90, 100], 0, false);
    let found = primitive::radix_sort(columns, 0, SortOrder::Ascending);
    assert_eq!(found.shape().to_vec(), [90, 100]);
    let expected: Vec<f32> = expected
        .iter()
        .enumerate()
        .map(|(i, at)| keys[at * 100 + i % 100])
        .collect();
    assert_eq!(host::<f32>(found), expected);
}

#[test]
fn bad_calls_panic_in_burns_form() {
    let Some(device) = device() else { return };
    let x = || floats(&[1.0, 2.0, 3.0], &[3], &device);
    let keys = |n: usize| ints(&vec![0; n], &device);
    let order = SortOrder::Ascending;
    let calls: [(&str, &str, &dyn Fn()); 7] = [
        ("Scan", "dimension 1 out of bounds: 0..1", &|| {
            drop(primitive::inclusive_sum(x(), 1))
        }),
        ("Scan", "is for float tensors only", &|| {
            drop(primitive::scan(
                keys(3),
                0,
                ScanOp::LogSumExp,
                ScanOptions::default(),
            ));
        }),
        ("Compact", "The mask must have the shape", &|| {
            drop(primitive::compact(x(), bools(&[true], &device)));
        }),
        ("Partition By Key", "`num_keys` is 0", &|| {
            drop(primitive::partition_by_key(x(), keys(3), 0));
        }),
        ("Radix Sort By Key", "The keys must have the shape", &|| {
            drop(primitive::radix_sort_by_key(x(), keys(2), None, order));
        }),
        ("Radix Sort By Key", "`bits` is 33", &|| {
            drop(primitive::radix_sort_by_key(x(), keys(3), Some(33), order));
        }),
        ("Radix Sort By Key", "Float keys have no `bits`", &|| {
            drop(primitive::radix_sort_by_key(x(), x(), Some(3), order));
        }),
    ];
    for (operation, reason, call) in calls {
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err(reason);
        let message = panic_message(&*panic);
        assert!(
            message.contains(&format!("Operation: '{operation}'")),
            "{message}"
        );
        assert!(message.contains(reason), "{message}");
    }
}
