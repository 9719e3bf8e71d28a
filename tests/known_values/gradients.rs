//! Gradients at infinities, zeros, NaN and padding: what does not reach the loss has a gradient of zero.

use burn::tensor::{DType, Device, FloatDType, IntDType, Tensor};
use burn_scan::prelude::*;

use super::{assert_near, floats, ints, values};

on_every_device![
    a_segment_of_nothing,
    an_infinite_element_has_the_whole_gradient,
    elements_of_no_segment_have_none,
    products_of_segments_that_leave_the_range,
    more_segments_than_the_offsets_number,
    products_that_leave_the_range,
    products_that_leave_the_range_in_the_next_segment,
    zeros_beside_products_that_leave_the_range,
    log_sum_exp_next_to_a_segment_of_nan,
    a_not_a_number_sets_the_maximum,
    shares_of_half_floats_add_up,
    an_exclusive_scan_of_one_element_is_in_the_graph,
    what_an_exclusive_scan_does_not_see,
    what_an_exclusive_recurrence_does_not_see,
    products_of_half_floats_that_leave_the_range,
    without_elements,
];

const INF: f32 = f32::INFINITY;

/// The gradient of one result of a reduction.
fn of_segment(x: &[f32], offsets: &[i32], op: ScanOp, at: usize, device: &Device) -> Vec<f32> {
    let device = device.clone().autodiff();
    let x = floats(x, &device).require_grad();
    let y = x.clone().segment_reduce(ints(offsets, &device), op);
    let gradients = y.narrow(0, at, 1).sum().backward();
    values(x.grad(&gradients).expect("tracked"))
}

fn a_segment_of_nothing(device: &Device) {
    let x = [-INF, -INF, 1.];
    let found = of_segment(&x, &[0, 2, 3], ScanOp::LogSumExp, 1, device);
    assert_near(&found, &[0., 0., 1.]);
    let found = of_segment(&x, &[0, 2, 3], ScanOp::LogSumExp, 0, device);
    assert_near(&found, &[0., 0., 0.]);
}

fn an_infinite_element_has_the_whole_gradient(device: &Device) {
    let found = of_segment(&[INF, 0.], &[0, 2], ScanOp::LogSumExp, 0, device);
    assert_near(&found, &[1., 0.]);
}

fn elements_of_no_segment_have_none(device: &Device) {
    let found = of_segment(&[INF, 2., 3., 4.], &[2, 4], ScanOp::Prod, 0, device);
    assert_near(&found, &[0., 0., 4., 3.]);
    let x = [f32::NAN, 2., 3., 4.];
    let found = of_segment(&x, &[2, 4], ScanOp::LogSumExp, 0, device);
    let share = 1. / (1. + 1f32.exp());
    assert_near(&found, &[0., 0., share, 1. - share]);
    for op in [ScanOp::Sum, ScanOp::Max, ScanOp::Min] {
        let found = of_segment(&[f32::NAN, 2., 3., INF], &[1, 3], op, 0, device);
        assert_eq!((found[0], found[3]), (0., 0.), "{op:?}");
    }
}

fn products_of_segments_that_leave_the_range(device: &Device) {
    let x = [1e20, 1e20, 1e20, 2.];
    let found = of_segment(&x, &[0, 3, 4], ScanOp::Prod, 1, device);
    assert_near(&found, &[0., 0., 0., 1.]);
    let x = [0., 2., 1e20, 1e20];
    let found = of_segment(&x, &[0, 4], ScanOp::Prod, 0, device);
    assert_near(&found, &[INF, 0., 0., 0.]);
}

/// 300 empty segments, then one of all rows.
fn more_segments_than_the_offsets_number(device: &Device) {
    if !device.supports_dtype(DType::U8) {
        scan_testing::tensors::unsupported(&format!("{device:?} does not compute with U8"));
        return;
    }
    let device = device.clone().autodiff();
    let mut offsets = vec![0; 301];
    offsets[300] = 5;
    for op in [ScanOp::Sum, ScanOp::Prod, ScanOp::Max, ScanOp::LogSumExp] {
        let x = floats(&[0., 0., 0., 0., 1.], &device).require_grad();
        let offsets = ints(&offsets, &device).cast(IntDType::U8);
        let y = x.clone().segment_reduce(offsets, op);
        let gradients = y.narrow(0, 299, 1).sum().backward();
        let found = values(x.grad(&gradients).expect("tracked"));
        let (rest, all) = (1f32, 4. + 1f32.exp());
        let expected = match op {
            ScanOp::Sum => [1.; 5],
            ScanOp::Max => [0., 0., 0., 0., 1.],
            ScanOp::LogSumExp => [
                rest / all,
                rest / all,
                rest / all,
                rest / all,
                1. - 4. / all,
            ],
            _ => [0.; 5],
        };
        assert_near(&found, &expected);
    }
}

fn products_that_leave_the_range(device: &Device) {
    let tracking = device.clone().autodiff();
    for (x, at, expected) in [
        ([1e20, 1e20, 1e-30], 0, [1., 0., 0.]),
        ([2., 0., 3.], 2, [0., 6., 0.]),
        ([0., 2., 0.], 1, [2., 0., 0.]),
        ([0., 0., 5.], 2, [0., 0., 0.]),
        ([INF, 0., 5.], 2, [0., INF, 0.]),
        ([2., INF, f32::NAN], 0, [1., 0., 0.]),
    ] {
        assert_near(&of_product(&x, at, &tracking), &expected);
    }
    // On a GPU units multiply some elements first, and that leaves the range where nothing reaches the loss.
    let mut expected = [0.; 5000];
    expected[0] = 1.;
    assert_near(&of_product(&[1e20; 5000], 0, &tracking), &expected);
    // The gradients of the last elements overflow, and the zero stops them.
    let mut x = [1.; 40_000];
    x[20_000] = 0.;
    x[39_800..].fill(2.);
    let gradient = of_products(&x, &[0], ScanOptions::default(), device);
    let expected: Vec<f32> = (0..20_000).map(|at| (20_000 - at) as f32).collect();
    assert_near(&gradient[..20_000], &expected);
}

/// The gradient of one result of a product scan.
fn of_product(x: &[f32], at: usize, device: &Device) -> Vec<f32> {
    let x = floats(x, device).require_grad();
    let y = x.clone().scan(0, ScanOp::Prod, ScanOptions::default());
    let gradients = y.narrow(0, at, 1).sum().backward();
    values(x.grad(&gradients).expect("tracked"))
}

/// The gradient of the sum of a product scan of segments.
fn of_products(x: &[f32], starts: &[usize], options: ScanOptions, device: &Device) -> Vec<f32> {
    of_segmented_scan(x, starts, ScanOp::Prod, options, device)
}

fn of_segmented_scan(
    x: &[f32],
    starts: &[usize],
    op: ScanOp,
    options: ScanOptions,
    device: &Device,
) -> Vec<f32> {
    let device = device.clone().autodiff();
    let x = floats(x, &device).require_grad();
    let len = x.dims()[0];
    let starts: Vec<bool> = (0..len).map(|at| starts.contains(&at)).collect();
    let starts = scan_testing::tensors::mask(&starts, [len], &device);
    let y = x.clone().segmented_scan(starts, 0, op, options);
    let gradients = y.sum().backward();
    values(x.grad(&gradients).expect("tracked"))
}

/// A segment does not see what overflows in the next one, in the order of the scan.
fn products_that_leave_the_range_in_the_next_segment(device: &Device) {
    let forward = ScanOptions::default();
    let x = [2., 3., 1e30, 1e30, 1e30];
    assert_near(&of_products(&x, &[0, 2], forward, device)[..2], &[4., 2.]);
    let found = of_products(&x, &[0, 2], forward.exclusive(), device);
    assert_near(&found[..2], &[1., 0.]);
    let reverse = ScanOptions::default().reverse();
    let x = [1e30, 1e30, 1e30, 2., 3.];
    assert_near(&of_products(&x, &[0, 3], reverse, device)[3..], &[3., 3.]);
    let found = of_products(&x, &[0, 3], reverse.exclusive(), device);
    assert_near(&found[3..], &[0., 1.]);
}

fn zeros_beside_products_that_leave_the_range(device: &Device) {
    let forward = ScanOptions::default();
    let x = [2., 0., 3., 1e30, 1e30, 1e30];
    let found = of_products(&x, &[0, 3], forward, device);
    assert_near(&found[..3], &[1., 8., 0.]);
    let x = [2., 3., 0., 1e30, 1e30, 5.];
    let found = of_products(&x, &[0, 2, 5], forward, device);
    assert_near(&found, &[4., 2., INF, 0., 0., 1.]);
    let x = [2., 0., f32::NAN];
    assert_near(&of_products(&x, &[], forward, device), &[1., f32::NAN, 0.]);
}

fn log_sum_exp_next_to_a_segment_of_nan(device: &Device) {
    let x = [1., 2., f32::NAN, 3.];
    let (op, options) = (ScanOp::LogSumExp, ScanOptions::default());
    let found = of_segmented_scan(&x, &[0, 2], op, options, device);
    // e / (e + e²) and e² / (e + e²).
    assert_near(&found[..2], &[1.268_941_4, 0.731_058_6]);
}

/// Two functions have one gradient.
fn a_not_a_number_sets_the_maximum(device: &Device) {
    let device = device.clone().autodiff();
    let gradient = |scan: &dyn Fn(Tensor<1>) -> Tensor<1>| {
        let x = floats(&[1., f32::NAN, 2.], &device).require_grad();
        let gradients = scan(x.clone()).sum().backward();
        values(x.grad(&gradients).expect("tracked"))
    };
    let scanned = gradient(&|x| x.scan(0, ScanOp::Max, ScanOptions::default()));
    assert_near(&scanned, &[1., 2., 0.]);
    assert_near(&gradient(&|x| x.cummax_with_indices(0).0), &scanned);
}

fn shares_of_half_floats_add_up(device: &Device) {
    for (name, dtype) in [
        (FloatDType::BF16, DType::BF16),
        (FloatDType::F16, DType::F16),
    ] {
        let device = device.clone().autodiff();
        if !device.supports_dtype(dtype) {
            scan_testing::tensors::unsupported(&format!(
                "{device:?} does not compute with {dtype:?}"
            ));
            continue;
        }
        let x = || floats(&[100.; 4], &device).cast(name).require_grad();
        let segments = x();
        let y = segments
            .clone()
            .segment_reduce(ints(&[0, 4], &device), ScanOp::LogSumExp);
        let gradients = y.sum().backward();
        let found = segments
            .grad(&gradients)
            .expect("tracked")
            .cast(FloatDType::F32);
        assert_near(&values(found), &[0.25; 4]);
        let line = x();
        let last = line.clone().logcumsumexp(0).narrow(0, 3, 1);
        let gradients = last.sum().backward();
        let found = line
            .grad(&gradients)
            .expect("tracked")
            .cast(FloatDType::F32);
        assert_near(&values(found), &[0.25; 4]);
    }
}

fn an_exclusive_scan_of_one_element_is_in_the_graph(device: &Device) {
    let device = device.clone().autodiff();
    for op in [ScanOp::Prod, ScanOp::Max, ScanOp::LogSumExp, ScanOp::Sum] {
        for options in [
            ScanOptions::default().exclusive(),
            ScanOptions::default().exclusive().reverse(),
        ] {
            let [x, initial] =
                [2., 3.].map(|value: f32| Tensor::<2>::full([3, 1], value, &device).require_grad());
            let y = x.clone().scan_from(initial.clone(), 1, op, options);
            let gradients = y.sum().backward();
            assert_near(&values(x.grad(&gradients).expect("tracked")), &[0.; 3]);
            assert_near(
                &values(initial.grad(&gradients).expect("tracked")),
                &[1.; 3],
            );
        }
    }
}

/// No result of an exclusive scan contains the last element of its line or segment.
fn what_an_exclusive_scan_does_not_see(device: &Device) {
    let exclusive = ScanOptions::default().exclusive();
    for (op, last) in [
        (ScanOp::Prod, INF),
        (ScanOp::Prod, f32::NAN),
        (ScanOp::LogSumExp, INF),
        (ScanOp::LogSumExp, f32::NAN),
    ] {
        let x = [2., last, 3., last];
        for starts in [&[0, 2][..], &[0, 1, 2, 3]] {
            let seen = if starts.len() == 2 { 1. } else { 0. };
            let found = of_segmented_scan(&x, starts, op, exclusive, device);
            assert_near(&found, &[seen, 0., seen, 0.]);
            let backwards: Vec<f32> = x.iter().rev().copied().collect();
            let found = of_segmented_scan(&backwards, starts, op, exclusive.reverse(), device);
            assert_near(&found, &[0., seen, 0., seen]);
        }
        let device = device.clone().autodiff();
        let line = floats(&x[..2], &device).require_grad();
        let y = line.clone().scan(0, op, exclusive).narrow(0, 1, 1);
        let gradients = y.sum().backward();
        assert_near(&values(line.grad(&gradients).expect("tracked")), &[1., 0.]);
    }
}

fn what_an_exclusive_recurrence_does_not_see(device: &Device) {
    let device = device.clone().autodiff();
    for last in [INF, f32::NAN] {
        for reverse in [false, true] {
            let line = |mut line: [f32; 2]| {
                if reverse {
                    line.reverse();
                }
                line
            };
            let tracked = |line: &[f32]| floats(line, &device).require_grad();
            let gradient =
                |of: &Tensor<1>, gradients: &_| values(of.grad(gradients).expect("tracked"));
            let options = |initial: &Tensor<1>| {
                let options = RecurrenceOptions::default()
                    .exclusive()
                    .initial(initial.clone());
                if reverse { options.reverse() } else { options }
            };
            // The results are 3 and 3/2 + 1.
            let [x, decay] = [tracked(&line([1., last])), tracked(&line([0.5, last]))];
            let initial = tracked(&[3.]);
            let y = (x.clone()).linear_recurrence_with(decay.clone(), 0, options(&initial));
            let gradients = y.sum().backward();
            assert_near(&gradient(&x, &gradients), &line([1., 0.]));
            assert_near(&gradient(&decay, &gradients), &line([3., 0.]));
            assert_near(&gradient(&initial, &gradients), &[1.5]);
            // The only result is 3.
            let [x, decay] = [tracked(&[last]), tracked(&[last])];
            let y = (x.clone()).linear_recurrence_with(decay.clone(), 0, options(&initial));
            let gradients = y.sum().backward();
            assert_near(&gradient(&x, &gradients), &[0.]);
            assert_near(&gradient(&decay, &gradients), &[0.]);
            assert_near(&gradient(&initial, &gradients), &[1.]);
        }
    }
}

/// The product of the first two is 2^17, which f16 does not hold.
fn products_of_half_floats_that_leave_the_range(device: &Device) {
    if !device.supports_dtype(DType::F16) {
        return scan_testing::tensors::unsupported(&format!(
            "{device:?} does not compute with F16"
        ));
    }
    let device = device.clone().autodiff();
    let small = 1. / 1024.;
    let x = || {
        floats(&[256., 512., small, small], &device)
            .cast(FloatDType::F16)
            .require_grad()
    };
    let expected = [small / 2., small / 4., 128., 128.];
    let check = |x: Tensor<1>, last: Tensor<1>| {
        let gradients = last.sum().backward();
        let found = x.grad(&gradients).expect("tracked").cast(FloatDType::F32);
        assert_near(&values(found), &expected);
    };
    let line = x();
    let products = line.clone().scan(0, ScanOp::Prod, ScanOptions::default());
    check(line, products.narrow(0, 3, 1));
    let segment = x();
    let total = segment
        .clone()
        .segment_reduce(ints(&[0, 4], &device), ScanOp::Prod);
    check(segment, total);
}

fn without_elements(device: &Device) {
    let device = device.clone().autodiff();
    for op in [ScanOp::Sum, ScanOp::Prod, ScanOp::Max, ScanOp::LogSumExp] {
        let initial = Tensor::<2>::ones([2, 1], &device).require_grad();
        let x = Tensor::<2>::ones([2, 0], &device).require_grad();
        let y = x
            .clone()
            .scan_from(initial.clone(), 1, op, ScanOptions::default());
        assert!(y.is_tracked());
        let loss = y.sum() + Tensor::<1>::ones([1], &device).require_grad();
        let gradients = loss.backward();
        let found = initial.grad(&gradients).expect("tracked");
        assert_near(&values(found), &[0., 0.]);
        assert_eq!(x.grad(&gradients).expect("tracked").dims(), [2, 0]);
    }
    // What is filled is a single element, or looks like one to a fused kernel.
    let x = Tensor::<2>::ones([3, 1], &device).require_grad();
    let gradients = (x.clone() * 2.).radix_topk(0, 1).sum().backward();
    assert_near(&values(x.grad(&gradients).expect("tracked")), &[0.; 3]);
    let x = Tensor::<1>::ones([1], &device).require_grad();
    let totals = (x.clone() * 2.).segment_reduce(ints(&[0], &device), ScanOp::Prod);
    let gradients = totals.sum().backward();
    assert_near(&values(x.grad(&gradients).expect("tracked")), &[0.]);
}
