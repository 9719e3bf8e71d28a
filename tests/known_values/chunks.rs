//! Sequences that arrive chunk by chunk: carries that are detached, set and reset, and that lose nothing.

use burn::tensor::{Bool, DType, Device, FloatDType, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::devices::is_flex;
use scan_testing::tensors::tensor;

use super::{assert_near, floats, refused, values};

on_every_device![
    a_detached_state_is_a_constant,
    small_chunks_are_not_lost,
    half_floats_are_carried_in_f32,
    states_are_set_and_lines_start_anew,
    infinities_stay,
    chunks_become_wider,
    states_that_enter_and_leave,
    a_refused_chunk_changes_nothing,
    the_state_of_rounded_results,
];

fn a_detached_state_is_a_constant(device: &Device) {
    let device = device.clone().autodiff();
    let half = || floats(&[0.5], &device);
    let mut recurrence = RunningRecurrence::new(0);
    let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
    for _ in 0..3 {
        let x = floats(&[1., 1.], &device).require_grad();
        let gradients = recurrence.next(x.clone(), half()).sum().backward();
        recurrence.detach();
        assert_near(&values(x.grad(&gradients).expect("tracked")), &[1.5, 1.]);
        let x = floats(&[1., 1.], &device).require_grad();
        let gradients = sums.next(x.clone()).sum().backward();
        sums.detach();
        assert_near(&values(x.grad(&gradients).expect("tracked")), &[2., 1.]);
    }
    assert_near(&values(sums.state().expect("after chunks")), &[6.]);
}

fn small_chunks_are_not_lost(device: &Device) {
    // Each chunk adds 16 launches on other devices.
    let chunks = if is_flex(device) { 100_000 } else { 500 };
    let start = 4e6 * 0.0005;
    let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
    sums.next(floats(&[start], device));
    let chunk = floats(&[0.0005; 8], device);
    let mut last = chunk.clone();
    for _ in 0..chunks {
        last = sums.next(chunk.clone());
    }
    let exact = f64::from(start) + f64::from(chunks) * 8. * f64::from(0.0005f32);
    let found = values(last)[7];
    assert!(
        (f64::from(found) - exact).abs() <= 2e-7 * exact,
        "{found} instead of {exact}"
    );
}

fn half_floats_are_carried_in_f32(device: &Device) {
    for (name, dtype) in [
        (FloatDType::BF16, DType::BF16),
        (FloatDType::F16, DType::F16),
    ] {
        if !device.supports_dtype(dtype) {
            scan_testing::tensors::unsupported(&format!(
                "{device:?} does not compute with {dtype:?}"
            ));
            continue;
        }
        let one = floats(&[1.], device).cast(name);
        let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
        sums.set_state(floats(&[4094.], device));
        sums.next(one.clone());
        let last = sums.next(one.clone());
        assert_eq!(last.dtype(), dtype);
        assert_near(&values(last.cast(FloatDType::F32)), &[4096.]);
        assert_near(&values(sums.state().expect("after chunks")), &[4096.]);

        let mut recurrence = RunningRecurrence::new(0);
        recurrence.next(one.clone(), one.clone());
        recurrence.set_state(floats(&[4096.], device));
        let last = recurrence.next(one.clone(), one);
        assert_eq!(last.dtype(), dtype);
        assert_near(&values(recurrence.state().expect("after chunks")), &[4097.]);
    }
}

fn states_are_set_and_lines_start_anew(device: &Device) {
    let chunk = || tensor::<f32, 2>(&[1., 2., 3., 4.], [2, 2], device);
    let mask = Tensor::<2, Bool>::from_data([[true], [false]], device);
    for (op, expected) in [
        (ScanOp::Sum, [1., 3., 13., 17.]),
        (ScanOp::Prod, [1., 2., 30., 120.]),
        (ScanOp::Max, [1., 2., 10., 10.]),
        (ScanOp::Min, [1., 1., 3., 3.]),
    ] {
        let mut scan = RunningScan::new(1, op, ScanOptions::default());
        scan.set_state(Tensor::<2>::full([1, 1], 10., device));
        scan.next(Tensor::<2>::empty([2, 0], device));
        scan.reset_where(mask.clone());
        assert_near(&values(scan.next(chunk())), &expected);
        scan.reset();
        assert!(scan.state().is_none());
    }
    let half = || Tensor::<2>::full([1, 1], 0.5, device);
    let mut recurrence = RunningRecurrence::new(1);
    for chunks_before in [1, 0] {
        for _ in 0..chunks_before {
            recurrence.next(chunk(), half());
        }
        recurrence.set_state(Tensor::<2>::full([1, 1], 4., device));
        recurrence.reset_where(mask.clone());
        let found = recurrence.next(chunk(), half());
        assert_near(&values(found), &[1., 2.5, 5., 6.5]);
        recurrence.reset();
    }
    recurrence.next(chunk(), half());
    recurrence.reset_where(mask);
    let found = recurrence.next(chunk(), half());
    assert_near(&values(found), &[1., 2.5, 5.75, 6.875]);
    recurrence.reset();
    assert!(recurrence.state().is_none());
}

fn infinities_stay(device: &Device) {
    let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
    sums.next(floats(&[1.], device));
    sums.next(floats(&[f32::INFINITY], device));
    let last = sums.next(floats(&[1., 2.], device));
    assert_near(&values(last), &[f32::INFINITY; 2]);
    for large in [3e38, -3e38] {
        sums.reset();
        sums.next(floats(&[large], device));
        sums.next(floats(&[large], device));
        let last = sums.next(floats(&[1.], device));
        assert_near(&values(last), &[large * 10.]);
    }
}

/// The carry goes on in the dtype of each chunk.
fn chunks_become_wider(device: &Device) {
    if !device.supports_dtype(DType::F64) {
        scan_testing::tensors::unsupported(&format!("{device:?} does not compute with F64"));
        return;
    }
    let small = 1. / f64::from(1 << 30);
    let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
    sums.next(floats(&[1.], device));
    sums.next(floats(&[small as f32], device));
    let last = sums.next(floats(&[2.], device).cast(FloatDType::F64));
    assert_eq!(last.dtype(), DType::F64);
    let found = last.into_data().iter::<f64>().next();
    assert_eq!(found, Some(3. + small));
}

fn states_that_enter_and_leave(device: &Device) {
    let x = || tensor::<f32, 2>(&[4., 2., 1., 3., 5., 7.], [2, 3], device);
    let half = || Tensor::<2>::full([1, 1], 0.5, device);
    let initial = || tensor::<f32, 2>(&[8., 0.], [2, 1], device);
    let forward = RecurrenceOptions::default().initial(initial());
    let (inclusive, state) = x().linear_recurrence_with_state(half(), 1, forward.clone());
    assert_near(&values(inclusive), &[8., 6., 4., 3., 6.5, 10.25]);
    assert_near(&values(state.clone()), &[4., 10.25]);
    assert_eq!(state.dims(), [2, 1]);
    let (entering, state) = x().linear_recurrence_with_state(half(), 1, forward.exclusive());
    assert_near(&values(entering), &[8., 8., 6., 0., 3., 6.5]);
    assert_near(&values(state), &[4., 10.25]);
    let reverse = RecurrenceOptions::default().reverse().exclusive();
    let (entering, state) = x().linear_recurrence_with_state(half(), 1, reverse);
    assert_near(&values(entering), &[2.5, 1., 0., 8.5, 7., 0.]);
    assert_near(&values(state), &[5.25, 7.25]);
    let none = Tensor::<2>::empty([2, 0], device);
    let options = RecurrenceOptions::default().initial(initial());
    let (_, state) = none.linear_recurrence_with_state(half(), 1, options);
    assert_near(&values(state), &[8., 0.]);

    // The gradient of an exclusive recurrence, against differences.
    let tracking = device.clone().autodiff();
    let [x, a] = [[4., 2., 1.], [0.5, 0.25, 2.]].map(|v| floats(&v, &tracking).require_grad());
    let options = RecurrenceOptions::default().exclusive();
    let y = x.clone().linear_recurrence_with(a.clone(), 0, options);
    let gradients = y.sum().backward();
    assert_near(
        &values(x.grad(&gradients).expect("tracked")),
        &[1.25, 1., 0.],
    );
    assert_near(&values(a.grad(&gradients).expect("tracked")), &[0., 4., 0.]);
}

fn a_refused_chunk_changes_nothing(device: &Device) {
    let one = |values: &[f32]| floats(values, device);
    let mut recurrence = RunningRecurrence::new(0);
    recurrence.next(one(&[4.]), one(&[0.5]));
    refused(|| recurrence.next(one(&[1., 1.]), one(&[0.5, 0.5, 0.5])));
    let found = recurrence.next(one(&[1.]), one(&[0.5]));
    assert_near(&values(found), &[3.]);
    // Nor does it set the shape of later chunks.
    let ones = |shape| Tensor::<2>::ones(shape, device);
    let mut sums = RunningScan::new(1, ScanOp::Sum, ScanOptions::default());
    sums.set_state(ones([2, 1]));
    refused(|| sums.next(ones([3, 1])));
    assert_near(&values(sums.next(ones([2, 1]))), &[2., 2.]);
    let mut recurrence = RunningRecurrence::new(1);
    refused(|| recurrence.next(ones([3, 1]), ones([3, 2])));
    assert_near(
        &values(recurrence.next(ones([2, 1]), ones([2, 1]))),
        &[1., 1.],
    );
}

/// In bf16 256 + 1 is 256.
fn the_state_of_rounded_results(device: &Device) {
    if !device.supports_dtype(DType::BF16) {
        return scan_testing::tensors::unsupported(&format!(
            "{device:?} does not compute with BF16"
        ));
    }
    let halves = |values: &[f32]| floats(values, device).cast(FloatDType::BF16);
    let x = halves(&[256., 1., -256.]);
    let options = RecurrenceOptions::default().exclusive();
    let (entering, state) = x.linear_recurrence_with_state(halves(&[1.]), 0, options);
    assert_eq!(
        (entering.dtype(), state.dtype()),
        (DType::BF16, DType::BF16)
    );
    assert_near(&values(entering.cast(FloatDType::F32)), &[0., 256., 256.]);
    assert_near(&values(state.cast(FloatDType::F32)), &[1.]);
}
