//! Gradients of recurrences, log-sum-exp scans and scans from a value, with respect to every argument.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{OPS, WAYS, axis, host, options, tensor};

use super::scans::{derivatives, reached};
use super::{narrow, trackings, weights};

on_every_device![
    linear_recurrences,
    broadcast_decays_and_states,
    log_sum_exp_scans,
    log_sum_exp_of_nothing,
    scans_from_a_value,
    empty_recurrences,
];

/// Loss weights, values, decays and states, all small.
fn drawn(n: usize, salt: usize) -> Vec<f64> {
    (0..n)
        .map(|i| (hash(i + salt) % 17) as f64 / 8.0 - 1.0)
        .collect()
}

fn leaf<const D: usize>(values: &[f64], shape: [usize; D], device: &Device) -> Tensor<D> {
    tensor::<f32, D>(&narrow(values), shape, device).require_grad()
}

#[track_caller]
pub fn assert_gradient<const D: usize>(
    what: &str,
    leaf: &Tensor<D>,
    gradients: &burn::tensor::Gradients,
    expected: &[f64],
) {
    let gradient = leaf
        .grad(gradients)
        .unwrap_or_else(|| panic!("{what} has a gradient"));
    assert_eq!(gradient.dims(), leaf.dims(), "{what}");
    for (i, (found, &expected)) in host::<f32, D>(gradient)
        .into_iter()
        .zip(expected)
        .enumerate()
    {
        let close = (f64::from(found) - expected).abs() <= 1e-5 * expected.abs().max(1.0);
        assert!(close, "{what}, {i}: {found} instead of {expected}");
    }
}

/// The gradients of `Σ w·h` with respect to values, decays and states, by the chain rule step by step.
fn adjoint(
    [x, a, w]: [&[f64]; 3],
    state: &[f64],
    [outer, len, inner]: [usize; 3],
    reverse: bool,
) -> [Vec<f64>; 3] {
    let (mut dx, mut da, mut dstate) = (
        vec![0.0; x.len()],
        vec![0.0; x.len()],
        vec![0.0; state.len()],
    );
    for line in 0..outer * inner {
        let at = |step: usize| {
            let i = if reverse { len - 1 - step } else { step };
            (line / inner * len + i) * inner + line % inner
        };
        let mut h = vec![state[line]];
        for step in 0..len {
            h.push(a[at(step)] * h[step] + x[at(step)]);
        }
        let mut flow = 0.0;
        for step in (0..len).rev() {
            flow += w[at(step)];
            dx[at(step)] = flow;
            da[at(step)] = flow * h[step];
            flow *= a[at(step)];
        }
        dstate[line] = flow;
    }
    [dx, da, dstate]
}

fn linear_recurrences(device: &Device) {
    for device in trackings(device) {
        for (shape, dim) in [
            ([2, 33, 3], 1),
            ([3, 2, 152], 2),
            ([2, 5, 8], 1),
            ([1, 1, 1], 0),
        ] {
            let n: usize = shape.iter().product();
            let mut line = shape;
            line[dim] = 1;
            let lines: usize = line.iter().product();
            let [x, a, w, state] = [drawn(n, 1), drawn(n, 2), weights(n), drawn(lines, 3)];
            for reverse in [false, true] {
                let options = RecurrenceOptions::default();
                let options = if reverse { options.reverse() } else { options };
                let context =
                    |what: &str| format!("{what} of {shape:?} along {dim}, reverse {reverse}");
                let leaves = || (leaf(&x, shape, &device), leaf(&a, shape, &device));
                let loss = |h: Tensor<3>| (h * tensor::<f32, 3>(&narrow(&w), shape, &device)).sum();

                let ((values, decays), states) = (leaves(), leaf(&state, line, &device));
                let h = values.clone().linear_recurrence_with(
                    decays.clone(),
                    dim,
                    options.clone().initial(states.clone()),
                );
                let gradients = loss(h).backward();
                let [dx, da, dstate] = adjoint([&x, &a, &w], &state, axis(&shape, dim), reverse);
                assert_gradient(&context("values"), &values, &gradients, &dx);
                assert_gradient(&context("decays"), &decays, &gradients, &da);
                assert_gradient(&context("states"), &states, &gradients, &dstate);

                let (values, decays) = leaves();
                let h = values
                    .clone()
                    .linear_recurrence_with(decays.clone(), dim, options);
                let gradients = loss(h).backward();
                let [dx, da, _] =
                    adjoint([&x, &a, &w], &vec![0.0; lines], axis(&shape, dim), reverse);
                assert_gradient(&context("values from 0"), &values, &gradients, &dx);
                assert_gradient(&context("decays from 0"), &decays, &gradients, &da);
            }
        }
    }
}

/// The gradient of a broadcast tensor is the sum of the gradients of all places that read it.
fn broadcast_decays_and_states(device: &Device) {
    let device = device.clone().autodiff();
    let (x, a, w) = (drawn(48, 1), drawn(4, 2), weights(48));
    let values = leaf(&x, [2, 6, 4], &device);
    let decays = leaf(&a, [1, 1, 4], &device);
    let state = leaf(&[0.5], [1, 1, 1], &device);
    let options = RecurrenceOptions::default().initial(state.clone());
    let h = values
        .clone()
        .linear_recurrence_with(decays.clone(), 1, options);
    let gradients = (h * tensor::<f32, 3>(&narrow(&w), [2, 6, 4], &device))
        .sum()
        .backward();
    let whole: Vec<f64> = (0..48).map(|i| a[i % 4]).collect();
    let [dx, da, dstate] = adjoint([&x, &whole, &w], &[0.5; 8], [2, 6, 4], false);
    let of_column = |column: usize| da.iter().skip(column).step_by(4).sum();
    assert_gradient("values", &values, &gradients, &dx);
    assert_gradient(
        "decays",
        &decays,
        &gradients,
        &(0..4).map(of_column).collect::<Vec<f64>>(),
    );
    assert_gradient("state", &state, &gradients, &[dstate.iter().sum()]);
}

/// The weight of each result reaches the elements it combines as a softmax.
fn log_sum_exp_scans(device: &Device) {
    for device in trackings(device) {
        for (shape, dim) in [([2, 20, 3], 1), ([2, 3, 70], 2)] {
            let n: usize = shape.iter().product();
            let mut x = drawn(n, 4);
            // These values overflow every exponential.
            x[0] = 300.0;
            x[n - 1] = -300.0;
            let w = weights(n);
            for way in WAYS {
                let values = leaf(&x, shape, &device);
                let y = values.clone().scan(dim, ScanOp::LogSumExp, options(way));
                let shown = tensor::<f32, 3>(&narrow(&w), shape, &device);
                // The first result of an exclusive scan is -inf. It is masked out of the loss.
                let y = y.clone().mask_fill(y.equal_elem(f32::NEG_INFINITY), 0.0);
                let gradients = (y * shown).sum().backward();
                let [outer, len, inner] = axis(&shape, dim);
                let mut expected = vec![0.0; n];
                for line in 0..outer * inner {
                    let at = |i: usize| (line / inner * len + i) * inner + line % inner;
                    for i in 0..len {
                        let seen = reached(i, len, way);
                        let largest = seen
                            .iter()
                            .map(|&k| x[at(k)])
                            .fold(f64::NEG_INFINITY, f64::max);
                        let total: f64 = seen.iter().map(|&k| (x[at(k)] - largest).exp()).sum();
                        for k in seen {
                            expected[at(k)] += w[at(i)] * (x[at(k)] - largest).exp() / total;
                        }
                    }
                }
                assert_gradient(
                    &format!("{way:?} of {shape:?}"),
                    &values,
                    &gradients,
                    &expected,
                );
            }
        }
    }
}

/// An element of -inf has no gradient, and takes none from others.
fn log_sum_exp_of_nothing(device: &Device) {
    let device = device.clone().autodiff();
    let none = f64::NEG_INFINITY;
    let values = leaf(&[none, none, 1.0, none, 1.0], [5], &device);
    let y = values.clone().logcumsumexp(0).narrow(0, 2, 3);
    let gradients = y.sum().backward();
    assert_gradient("-inf", &values, &gradients, &[0.0, 0.0, 2.5, 0.0, 0.5]);
}

fn scans_from_a_value(device: &Device) {
    for device in trackings(device) {
        let (shape, dim) = ([2, 13, 3], 1);
        let line = [2, 1, 3];
        for op in OPS.into_iter().chain([ScanOp::LogSumExp]) {
            for way in WAYS {
                let (x, first) = (drawn(78, 5), drawn(6, 6));
                let w = weights(78);
                let values = leaf(&x, shape, &device);
                let initial = leaf(&first, line, &device);
                let y = values
                    .clone()
                    .scan_from(initial.clone(), dim, op, options(way));
                let gradients = (y * tensor::<f32, 3>(&narrow(&w), shape, &device))
                    .sum()
                    .backward();
                let (mut of_values, mut of_initial) = ([0.0; 78], [0.0; 6]);
                for (line, &first) in first.iter().enumerate() {
                    let at = |i: usize| (line / 3 * 13 + i) * 3 + line % 3;
                    for i in 0..13 {
                        let reached = reached(i, 13, way);
                        let mut seen = vec![first];
                        seen.extend(reached.iter().map(|&k| x[at(k)]));
                        let all = derivatives(op, &seen);
                        of_initial[line] += w[at(i)] * all[0];
                        for (&k, derivative) in reached.iter().zip(&all[1..]) {
                            of_values[at(k)] += w[at(i)] * derivative;
                        }
                    }
                }
                let context = |what: &str| format!("{what}, {op:?} {way:?}");
                assert_gradient(&context("values"), &values, &gradients, &of_values);
                assert_gradient(&context("initial"), &initial, &gradients, &of_initial);
            }
        }
    }
}

fn empty_recurrences(device: &Device) {
    let device = device.clone().autodiff();
    let x = leaf(&[], [2, 0], &device);
    let a = leaf(&[], [2, 0], &device);
    let state = leaf(&[1.0, 2.0], [2, 1], &device);
    let options = RecurrenceOptions::default().initial(state.clone());
    let h = x.clone().linear_recurrence_with(a.clone(), 1, options);
    let gradients = h.sum().backward();
    assert_gradient("values", &x, &gradients, &[]);
    assert_gradient("decays", &a, &gradients, &[]);
    assert_gradient("states", &state, &gradients, &[0.0, 0.0]);
}
