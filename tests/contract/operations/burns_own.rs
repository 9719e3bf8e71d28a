//! Operations that Burn has, too, give the same result as on Burn's own CPU backend.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{numbered, samples};
use scan_testing::tensors::views::half;
use scan_testing::tensors::waiting::{ExactCompact, ExactIndices};
use scan_testing::tensors::{assert_same, axis, host, host_indices, mask, tensor};

on_every_device![scans, mask_select, argwhere_and_nonzero];

type BurnsScan = fn(Tensor<3>, usize) -> Tensor<3>;

/// The scans that Burn has.
const BURNS: [(ScanOp, BurnsScan); 4] = [
    (ScanOp::Sum, Tensor::cumsum),
    (ScanOp::Prod, Tensor::cumprod),
    (ScanOp::Max, Tensor::cummax),
    (ScanOp::Min, Tensor::cummin),
];

fn scans(device: &Device) {
    let shape = [6, 40, 9];
    for (dim, (op, burn)) in (0..3).flat_map(|dim| BURNS.map(|scan| (dim, scan))) {
        let values: Vec<f32> = samples(op, axis(&shape, dim));
        let expected = burn(tensor::<f32, 3>(&values, shape, &Device::flex()), dim);
        let input = tensor::<f32, 3>(&values, shape, device);
        let found = input.scan(dim, op, ScanOptions::default());
        let context = || format!("{op:?} along {dim}");
        assert_same(&host::<f32, 3>(found), &host::<f32, 3>(expected), context);
    }
}

fn mask_select(device: &Device) {
    let (n, shape, flex) = (90 * 77, [90, 77], Device::flex());
    let kept: Vec<bool> = (0..n).map(half).collect();
    let expected =
        tensor::<f32, 2>(&numbered(n), shape, &flex).mask_select(mask(&kept, shape, &flex));
    let input = tensor::<f32, 2>(&numbered(n), shape, device);
    let found = input.exact_by_mask(mask(&kept, shape, device));
    let context = || "mask_select".to_string();
    assert_same(&host::<f32, 1>(found), &host::<f32, 1>(expected), context);
}

fn argwhere_and_nonzero(device: &Device) {
    let shape = [9, 20, 31];
    let kept: Vec<bool> = (0..shape.iter().product()).map(half).collect();
    let expected = mask(&kept, shape, &Device::flex()).argwhere();
    let found = mask(&kept, shape, device).exact_argwhere();
    assert_eq!(found.dims(), expected.dims());
    assert_eq!(host_indices(found), host_indices(expected));

    let expected = mask(&kept, [kept.len()], &Device::flex())
        .nonzero()
        .remove(0);
    let found = mask(&kept, [kept.len()], device).exact_indices();
    assert_eq!(host_indices(found), host_indices(expected));
}
