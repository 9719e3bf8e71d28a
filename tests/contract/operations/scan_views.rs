//! Scans of tensors that are not contiguous, that are shared, or whose memory the scan may reuse.

use burn::tensor::{Device, Tensor, s};
use burn_scan::prelude::*;
use scan_testing::tensors::element::{Number, samples};
use scan_testing::tensors::views::views;
use scan_testing::tensors::{FEW, WAYS, assert_same, axis, host, oracle, sampled, tensor};

use super::scan::check_tensor;

on_every_device![
    small_views,
    large_views,
    rows_with_gaps,
    views_of_nothing,
    an_input_of_its_own,
    a_chain_of_scans
];

/// Every view of a tensor along every dimension. Burn reads the view's elements for the comparison.
fn check_views<T: Number>(shape: [usize; 3], scans: &[(ScanOp, (bool, bool))], device: &Device)
where
    Tensor<3, T::Kind>: TensorScan,
{
    for (turn, &(op, way)) in scans.iter().enumerate() {
        let values: Vec<T> = samples(op, axis(&shape, 2));
        let views = views(&tensor(&values, shape, device));
        for (name, view) in sampled(views, device, turn, 4) {
            let values = host::<T, 3>(view.clone());
            for dim in 0..3 {
                check_tensor(name, &view, &values, dim, op, way);
            }
        }
    }
}

fn small_views(device: &Device) {
    check_views::<i32>([4, 5, 6], &FEW, device);
    check_views::<f32>([3, 9, 34], &[(ScanOp::Max, WAYS[2])], device);
}

/// Tensors long enough for several tiles along each dimension in turn.
fn large_views(device: &Device) {
    for shape in [[2, 3, 9000], [3, 5000, 4], [5000, 2, 3]] {
        let scans = [(ScanOp::Sum, WAYS[0]), (ScanOp::Sum, WAYS[3])];
        check_views::<i32>(shape, &scans, device);
    }
}

/// Rows that begin apart in memory, forwards and backwards.
fn rows_with_gaps(device: &Device) {
    for shape in [[3, 7, 40], [2, 3, 5000], [5000, 2, 9]] {
        let values: Vec<i32> = samples(ScanOp::Sum, axis(&shape, 2));
        let rows = tensor(&values, shape, device).slice(s![.., .., 1..shape[2]]);
        for (name, view) in [("rows", rows.clone()), ("flipped", rows.flip([0, 2]))] {
            let values = host::<i32, 3>(view.clone());
            for (dim, way) in [(2, WAYS[0]), (2, WAYS[3]), (1, WAYS[0])] {
                check_tensor(name, &view, &values, dim, ScanOp::Sum, way);
            }
        }
    }
}

/// Views without elements may begin beyond the memory of their tensor.
fn views_of_nothing(device: &Device) {
    let nothing = tensor::<i32, 3>(&[], [5, 0, 2], device);
    let views = [
        nothing.clone().narrow(0, 4, 1),
        nothing.clone().slice(s![4..5, .., 1..2]),
        nothing.clone().swap_dims(0, 1).narrow(1, 4, 1),
        nothing.flip([0, 2]),
    ];
    for view in views {
        for dim in 0..3 {
            let summed = view.clone().inclusive_cumsum(dim).flip([0, 1, 2]);
            assert_eq!(summed.dims(), view.dims());
            check_tensor::<i32, 3>("nothing", &view, &[], dim, ScanOp::Sum, WAYS[0]);
            assert_eq!(
                view.clone().radix_sort(dim, SortOrder::Ascending).dims(),
                view.dims()
            );
        }
        let floats = view.float();
        let decayed = floats.clone().linear_recurrence(floats.clone(), 0);
        assert_eq!(decayed.dims(), floats.dims());
    }
}

/// The scan gets the only handle of a tensor: it may reuse the memory and must not lose values.
fn an_input_of_its_own(device: &Device) {
    for n in [3, 5000, 50_000] {
        for way in WAYS {
            let values: Vec<i32> = samples(ScanOp::Sum, [1, n, 1]);
            let input = tensor::<i32, 1>(&values, [n], device);
            let found = input.scan(0, ScanOp::Sum, scan_testing::tensors::options(way));
            let expected = oracle::scan(&values, &[n], 0, ScanOp::Sum, way);
            assert_same(&host::<i32, 1>(found), &expected, || {
                format!("{n} elements, {way:?}")
            });
        }
    }
}

/// Scans between other operations, as a lazy backend plans them together.
fn a_chain_of_scans(device: &Device) {
    let shape = [70, 90];
    let values: Vec<i32> = samples(ScanOp::Sum, axis(&shape, 1));
    let input = tensor::<i32, 2>(&values, shape, device);
    let found = (input.clone() + 1).inclusive_cumsum(1).exclusive_cumsum(0) * 3 - input;

    let shifted: Vec<i32> = values.iter().map(|value| value.wrapping_add(1)).collect();
    let rows = oracle::scan(&shifted, &shape, 1, ScanOp::Sum, (false, false));
    let both = oracle::scan(&rows, &shape, 0, ScanOp::Sum, (true, false));
    let last = |(sum, value): (&i32, &i32)| sum.wrapping_mul(3).wrapping_sub(*value);
    let expected: Vec<i32> = both.iter().zip(&values).map(last).collect();
    assert_same(&host::<i32, 2>(found), &expected, || "chain".to_string());
}
