//! What is different in a browser: forms that would block name their twins, and what the page survives. Also Burn's own
//! scans after `install()`, which [`devices::cube`](scan_testing::tensors::devices::cube) calls there.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::on_every_device;
use scan_testing::tensors::element::{Number, samples};
use scan_testing::tensors::waiting::caught;
use scan_testing::tensors::{WAYS, assert_same, axis, devices, host, mask, oracle, tensor};

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

on_every_device![
    blocking_forms_name_their_twins,
    burns_own_sums,
    burns_own_products_and_extrema,
    burns_own_gradients,
    a_result_beyond_the_largest_buffer,
];

/// On the page's CPU they return, because nothing is waited for.
fn blocking_forms_name_their_twins(device: &Device) {
    let x = || Tensor::<1, Int>::from_data([3, 4, 5], device);
    let odd = || mask(&[true, false, true], [3], device);
    let shards = || Sharded::split(x(), 0, &[device.clone(), device.clone()]);
    let calls: [(&str, &dyn Fn()); 7] = [
        ("compact_by_mask_async", &|| {
            drop(x().compact_by_mask(odd()))
        }),
        ("compact_dim_by_mask_async", &|| {
            drop(x().compact_dim_by_mask(odd(), 0));
        }),
        ("compact_indices_async", &|| drop(odd().compact_indices())),
        ("compact_argwhere_async", &|| drop(odd().compact_argwhere())),
        ("run_length_encode_async", &|| drop(x().run_length_encode())),
        ("repeat_by_lengths_async", &|| {
            drop(x().repeat_by_lengths(x()));
        }),
        ("compact_dim_by_mask_async` of each shard", &|| {
            let mask = Sharded::split(odd(), 0, &[device.clone(), device.clone()]);
            drop(shards().compact_dim_by_mask(mask));
        }),
    ];
    for (twin, call) in calls {
        match (caught(call), devices::is_flex(device)) {
            (None, true) => {}
            (Some(message), false) => assert!(message.contains(twin), "{twin}: {message}"),
            (message, _) => panic!("{twin}: {message:?}"),
        }
        assert_eq!(host::<i32, 1>(x().inclusive_cumsum(0)), [3, 7, 12]);
    }
}

/// Burn's own operation, as ours.
fn check<T: Number, const D: usize>(
    shape: [usize; D],
    dim: usize,
    op: ScanOp,
    device: &Device,
    own: impl Fn(Tensor<D, T::Kind>) -> Tensor<D, T::Kind>,
) {
    let values: Vec<T> = samples(op, axis(&shape, dim));
    let found = own(tensor::<T, D>(&values, shape, device));
    let expected = oracle::scan(&values, &shape, dim, op, WAYS[0]);
    assert_same(&host::<T, D>(found), &expected, || {
        format!("Burn's {op:?} of {shape:?} along {dim}, {device:?}")
    });
}

/// A row of 100,003 elements would take Burn's own kernel, which is quadratic, minutes on a software adapter.
fn burns_own_sums(device: &Device) {
    for n in [1, 4095, 4097, 8193, 100_003] {
        check::<i32, 1>([n], 0, ScanOp::Sum, device, |x| x.cumsum(0));
        check::<f32, 1>([n], 0, ScanOp::Sum, device, |x| x.cumsum(0));
    }
    check::<f32, 2>([7, 1025], 1, ScanOp::Sum, device, |x| x.cumsum(1));
    check::<i32, 3>([3, 300, 5], 1, ScanOp::Sum, device, |x| x.cumsum(1));
}

fn burns_own_products_and_extrema(device: &Device) {
    for shape in [[1, 8193], [9, 1025], [2, 4097]] {
        check::<i32, 2>(shape, 1, ScanOp::Prod, device, |x| x.cumprod(1));
        check::<f32, 2>(shape, 1, ScanOp::Max, device, |x| x.cummax(1));
        check::<f32, 2>(shape, 1, ScanOp::Min, device, |x| x.cummin(1));
    }
}

/// The gradient of a sum scan is the sum scan in the other direction.
fn burns_own_gradients(device: &Device) {
    let tracking = device.clone().autodiff();
    for n in [65, 4097, 20_001] {
        let weights: Vec<f32> = samples(ScanOp::Sum, [1, n, 1]);
        let x = Tensor::<1>::ones([n], &tracking).require_grad();
        let sums = x.clone().cumsum(0) * tensor::<f32, 1>(&weights, [n], &tracking);
        let gradient = x.grad(&sums.sum().backward()).expect("x has a gradient");
        let expected = oracle::scan(&weights, &[n], 0, ScanOp::Sum, (false, true));
        assert_same(&host::<f32, 1>(gradient), &expected, || format!("{n}"));
    }
}

/// The page goes on after a tensor that no buffer of WebGPU holds, and after one that no memory of WebAssembly holds.
fn a_result_beyond_the_largest_buffer(device: &Device) {
    let one = || Tensor::<1, Int>::from_data([1], device);
    let message = caught(|| drop(one().expand([(1 << 30) - 1]).inclusive_cumsum(0)));
    let message = message.expect("4 GiB are too many");
    assert!(message.contains("takes 4294967292 bytes"), "{message}");
    assert_eq!(host::<i32, 1>(one().inclusive_cumsum(0)), [1]);
}
