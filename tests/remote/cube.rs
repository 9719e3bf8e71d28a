//! A Cube device over WebSocket, which fuses as on its own machine, and its bool tensors.

use burn::backend::Cube;
use burn::server::RemoteServer;
use burn::tensor::{DType, Device};
use burn_scan::prelude::*;
use burn_scan::remote::custom_ops;
use scan_testing::tensors::element::{hash, numbered};
use scan_testing::tensors::views::half;
use scan_testing::tensors::{devices, host, host_indices, mask, tensor};

use crate::servers::{at, connect, serve};

on_every_device![has_the_settings_of_the_local_device];

/// The remote device has the bool, int and float dtypes of the device that it stands for.
fn has_the_settings_of_the_local_device(device: &Device) {
    let (found, local) = (device.settings(), Device::flex().settings());
    assert_eq!(found.bool_dtype, local.bool_dtype);
    assert_eq!(found.int_dtype, local.int_dtype);
    assert_eq!(found.float_dtype, local.float_dtype);
}

#[test]
fn computes_what_flex_computes() {
    let Some(local) = devices::cube() else {
        return;
    };
    let server = RemoteServer::new([local.device.clone()]);
    let device = connect(&at(serve(server.with_custom_ops(custom_ops::<Cube>()))));
    assert_eq!(
        device.settings().bool_dtype,
        local.device.settings().bool_dtype
    );
    let found = results(&device);
    let bool_dtype: DType = device.settings().bool_dtype.into();
    assert_eq!(found.1, bool_dtype, "the dtype of a bool result");
    assert_eq!(found.0, results(&Device::flex()).0);
}

/// A few operations of every kind, and the dtype of the bool results.
fn results(device: &Device) -> (Vec<Vec<i64>>, DType) {
    const N: usize = 5000;
    let kept: Vec<bool> = (0..N).map(half).collect();
    let flags = mask(&kept, [N], device);
    let ints = tensor::<i32, 1>(&numbered(N), [N], device);
    let keys: Vec<i32> = (0..N).map(|i| (hash(i) % 9) as i32 - 1).collect();
    let keys = tensor::<i32, 1>(&keys, [N], device);
    let floats = tensor::<f32, 2>(&numbered(N), [50, 100], device);

    let sums = ints
        .clone()
        .scan(0, ScanOp::Sum, ScanOptions::default().reverse());
    let highest = floats.clone().scan(1, ScanOp::Max, ScanOptions::default());
    let (grouped, offsets) = ints.clone().partition_by_key(keys.clone(), 7);
    let bools = flags.clone().compact_by_mask(flags.clone().bool_not());
    let dtype = bools.dtype();
    let starts = offsets.clone().offsets_to_starts(N);
    let trues = flags.clone().compact_indices();
    let wide = |values: Vec<i32>| values.into_iter().map(i64::from).collect();
    let places = |values: Vec<usize>| values.into_iter().map(|value| value as i64).collect();
    let found = vec![
        wide(host::<i32, 1>(sums)),
        host::<f32, 2>(highest)
            .into_iter()
            .map(|value| value as i64)
            .collect(),
        wide(host::<i32, 1>(grouped)),
        places(host_indices(offsets)),
        host::<bool, 1>(bools).into_iter().map(i64::from).collect(),
        host::<bool, 1>(starts).into_iter().map(i64::from).collect(),
        places(host_indices(trues)),
        wide(host::<i32, 1>(ints.compact_by_mask(flags))),
    ];
    (found, dtype)
}
