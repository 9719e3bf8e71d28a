//! What is in the autodiff graph and what is not: empty tensors, branches, tensors without gradients.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::views::half;
use scan_testing::tensors::waiting::{ExactCompact, ExactIndices};
use scan_testing::tensors::{OPS, WAYS, host, host_indices, mask, options, oracle, tensor};

use super::{check, weights};

on_every_device![empty_stays_in_the_graph, two_branches, what_has_no_gradient,];

fn empty_stays_in_the_graph(device: &Device) {
    let device = device.clone().autodiff();
    for op in OPS {
        for way in WAYS {
            for shape in [[3, 0, 1], [0, 256, 64]] {
                let x = tensor::<f32, 3>(&[], shape, &device).require_grad();
                let y = x.clone().scan(1, op, options(way));
                assert!(y.is_tracked(), "{op:?} {:?}", options(way));
                let gradient = x.grad(&y.sum().backward()).expect("x has a gradient");
                assert_eq!(gradient.dims(), shape);
                assert!(host::<f32, 3>(gradient).is_empty());
            }
        }
    }
    let kept: Vec<bool> = (0..256).map(half).collect();
    let x = tensor::<f32, 2>(&[], [0, 256], &device).require_grad();
    let y = x.clone().exact_dim_by_mask(mask(&kept, [256], &device), 1);
    let gradient = x.grad(&y.sum().backward()).expect("x has a gradient");
    assert_eq!(gradient.dims(), [0, 256]);
    assert!(host::<f32, 2>(gradient).is_empty());
}

/// Operations before, between and after, a tensor that is used twice, and a mask that is computed from it.
fn two_branches(device: &Device) {
    let (shape, values) = ([8, 25], weights(200));
    let branches = |x: Tensor<2>| {
        let kept = || x.clone().greater_scalar(0.0);
        let doubled = x.clone() * 2.0;
        let masked = doubled.exact_by_mask(kept()).expand_by_mask(kept());
        masked.inclusive_cumsum(1) + x.reverse_cumsum(0)
    };
    let adjoint = |w: &[f64]| {
        let scan = |dim, reverse| oracle::scan(w, &shape, dim, ScanOp::Sum, (false, reverse));
        let (first, second) = (scan(1, true), scan(0, false));
        let masked = |i: usize| if values[i] > 0.0 { 2.0 * first[i] } else { 0.0 };
        (0..200).map(|i| masked(i) + second[i]).collect()
    };
    check("branches", &values, shape, device, branches, adjoint);
}

/// Int and bool tensors, and float tensors without a required gradient, on a device with autodiff.
fn what_has_no_gradient(device: &Device) {
    let device = device.clone().autodiff();
    let kept = mask(&[true, false, true], [3], &device);
    let ints = Tensor::<1, Int>::from_data([3, 4, 5], &device);
    let floats = Tensor::<1>::from_data([3.0, 4.0, 5.0], &device);
    assert_eq!(host::<i32, 1>(ints.clone().inclusive_cumsum(0)), [3, 7, 12]);
    assert_eq!(
        host::<i32, 1>(ints.clone().exact_by_mask(kept.clone())),
        [3, 5]
    );
    assert_eq!(
        host::<bool, 1>(kept.clone().exact_by_mask(kept.clone())),
        [true, true]
    );
    assert_eq!(host_indices(kept.clone().exact_indices()), [0, 2]);
    let (grouped, _) = floats.clone().partition_by_key(ints - 3, 3);
    let untracked = [
        floats.clone().inclusive_cumsum(0),
        floats.clone().compact_by_mask_padded(kept.clone()).0,
        floats.expand_by_mask(kept),
        grouped,
    ];
    assert!(untracked.iter().all(|y| y.is_autodiff() && !y.is_tracked()));
}
