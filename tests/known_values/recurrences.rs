//! Recurrences at the ends of the range: the loop says what is right.

use burn::tensor::{Device, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::assert_same;
use scan_testing::tensors::devices::{is_cube, is_flex};

use super::{assert_near, floats, values};

on_every_device![
    what_follows_the_loop_everywhere,
    what_a_cube_device_does_differently,
    a_product_of_decays_that_vanishes,
    an_infinite_state_stays,
];

fn looped(x: &[f32], decay: &[f32], mut h: f32) -> Vec<f32> {
    let steps = x.iter().zip(decay);
    let step = |(x, decay): (&f32, &f32)| {
        h = decay * h + x;
        h
    };
    steps.map(step).collect()
}

fn recurrence(x: &[f32], decay: &[f32], h: f32, device: &Device) -> Vec<f32> {
    let options = RecurrenceOptions::default().initial(floats(&[h], device));
    let (x, decay) = (floats(x, device), floats(decay, device));
    values(x.linear_recurrence_with(decay, 0, options))
}

/// More elements than a tile has on any device.
const LONG: usize = 40_000;

/// Products of decays that vanish where states are no larger than what follows, resets, and values that are not finite
/// as long as no product of decays leaves the range.
fn what_follows_the_loop_everywhere(device: &Device) {
    let (x, decay) = (vec![1.; LONG], vec![0.75; LONG]);
    let found = recurrence(&x, &decay, 1.0, device);
    assert_near(&found, &looped(&x, &decay, 1.0));

    let x: Vec<f32> = (0..LONG).map(|t| (t % 5) as f32).collect();
    let decay: Vec<f32> = (0..LONG).map(|t| f32::from(t % 700 != 99)).collect();
    let (found, expected) = (recurrence(&x, &decay, 8.0, device), looped(&x, &decay, 8.0));
    assert_same(&found, &expected, || "resets".to_string());

    let mut x = x;
    (x[9_000], x[30_000]) = (f32::NEG_INFINITY, f32::INFINITY);
    let decay = vec![1.; LONG];
    let (found, expected) = (recurrence(&x, &decay, 0.0, device), looped(&x, &decay, 0.0));
    assert!(expected[20_000] == f32::NEG_INFINITY && expected[35_000].is_nan());
    assert_same(&found, &expected, || "infinities".to_string());
}

/// Where the product of some decays leaves the range, each result is that of the loop, or what docs/recurrences.md
/// says; far from the decays it is the latter.
fn what_a_cube_device_does_differently(device: &Device) {
    if !is_cube(device) {
        return;
    }
    let differs = |decays: &[f32], state: f32, stated: fn(f32) -> bool| {
        let (x, mut decay) = (vec![0.; LONG], vec![1.; LONG]);
        decay[..decays.len()].copy_from_slice(decays);
        let expected = looped(&x, &decay, state);
        let found = recurrence(&x, &decay, state, device);
        for (t, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
            let as_the_loop =
                (found - expected).abs() <= 1e-5 * expected.abs() || found == expected;
            assert!(
                stated(found) || as_the_loop,
                "{decays:?}, {t}: {found} instead of {expected}"
            );
        }
        let (last, expected) = (found[LONG - 1], expected[LONG - 1]);
        assert!(
            stated(last) && !stated(expected),
            "{decays:?}: {last}, in the loop {expected}"
        );
    };
    differs(&[1e-30, 1e-30, 1e30], 1e30, |h| h == 0.0);
    differs(&[1e-30, 1e-30], f32::INFINITY, f32::is_nan);
    differs(&[1e30, 1e30], 0.0, |h| !h.is_finite());
    differs(&[1e30, 1e30], 1e-30, |h| !h.is_finite());
}

/// The product of the first two decays is too small for an f32. On devices other than the CPU it counts as zero, see
/// docs/recurrences.md.
fn a_product_of_decays_that_vanishes(device: &Device) {
    if !is_flex(device) {
        return;
    }
    let vector = [1e-30, 1e-30, 1e30, 1., 1e30, 1., 1., 1.];
    let expected = looped(&[0.; 8], &vector, 1e30);
    assert_near(&expected, &[1., 1e-30, 1., 1., 1e30, 1e30, 1e30, 1e30]);
    // The longer lines are walked in vectors.
    for n in [8, 100, 1000] {
        let zeros = vec![0.; n];
        let mut decay = vec![1.; n];
        decay[..8].copy_from_slice(&vector);
        let expected = looped(&zeros, &decay, 1e30);
        assert_near(&recurrence(&zeros, &decay, 1e30, device), &expected);
    }

    // What the product multiplies is in the same vector, and the line has two pieces.
    let (mut x, mut decay) = (vec![0.; 20_000], vec![1.; 20_000]);
    (x[3], decay[4], decay[5], decay[6]) = (1e30, 1e-30, 1e-30, 1e30);
    let found = recurrence(&x, &decay, 0., device);
    assert_near(&found, &looped(&x, &decay, 0.));

    // The same where the pieces of a long line meet, and its gradient.
    for n in [20_000, 200_000] {
        let mut decay = vec![1.; n];
        (decay[n / 2], decay[n / 2 + 9], decay[n / 2 + 40]) = (1e-30, 1e-30, 1e30);
        let zeros = vec![0.; n];
        let found = recurrence(&zeros, &decay, 1e30, device);
        assert_near(&found, &looped(&zeros, &decay, 1e30));
        let tracking = device.clone().autodiff();
        let x = floats(&zeros, &tracking).require_grad();
        let y = x.clone().linear_recurrence(floats(&decay, &tracking), 0);
        let flow = 1e30;
        let gradients = (y.narrow(0, n - 1, 1) * flow).sum().backward();
        let gradient = values(x.grad(&gradients).expect("tracked"));
        let mut expected = vec![0.; n];
        let mut g = flow;
        for at in (0..n).rev() {
            expected[at] = g;
            g *= decay[at];
        }
        assert_near(&gradient, &expected);
    }
}

fn an_infinite_state_stays(device: &Device) {
    if !is_flex(device) {
        return;
    }
    let n = 200_000;
    let (x, decay) = (vec![1.; n], vec![0.5; n]);
    let found = recurrence(&x, &decay, f32::INFINITY, device);
    assert!(found.iter().all(|&h| h == f32::INFINITY));
    let columns = Tensor::<2>::ones([n, 2], device);
    let half = Tensor::<2>::full([1, 1], 0.5, device);
    let infinite = Tensor::<2>::full([1, 1], f32::INFINITY, device);
    let options = RecurrenceOptions::default().initial(infinite);
    let found = values(columns.linear_recurrence_with(half, 0, options));
    assert!(found.iter().all(|&h| h == f32::INFINITY));
}
