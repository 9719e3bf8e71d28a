//! The operators that are no folds of one accumulator, through every routine that serves them.

use super::*;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::monoid::{LinearRecurrence, LogSumExp, Operator};
use cubecl_scan::scan::{Mute, scan_operator};

fn scan_floats<O: Operator<Config = ()>>(
    client: &Client,
    inputs: &[Vec<f32>],
    view: &View,
    options: ScanOptions,
    launch: LaunchOptions,
) -> Vec<f32> {
    let buffer = |data: &Vec<f32>| client.create_from_slice(f32::as_bytes(data));
    let inputs = inputs
        .iter()
        .map(|data| tensor(buffer(data), view))
        .collect();
    let output = client.empty(view.elements() * size_of::<f32>());
    let contiguous = View::contiguous(&view.shape);
    let outputs = vec![tensor(output.clone(), &contiguous)];
    let dtype = f32::elem_type_native();
    scan_operator::<O>(client, inputs, outputs, 1, dtype, (), options, launch).expect("supported");
    read(client, output, view.elements())
}

/// The positions of each line along the middle of `[outer, len, inner]`, in the order of the scan.
fn lines(
    [outer, len, inner]: [usize; 3],
    options: ScanOptions,
) -> impl Iterator<Item = Vec<usize>> {
    (0..outer * inner).map(move |line| {
        let line = (0..len).map(|along| (line / inner * len + along) * inner + line % inner);
        match options.reverse {
            true => line.rev().collect(),
            false => line.collect(),
        }
    })
}

/// Routines, and rows shorter than a tile, of several tiles, and of vectors and of single elements; columns in a chunk and in several.
fn every_form(mut check: impl FnMut([usize; 3], ScanOptions, LaunchOptions)) {
    for (routine, lens) in [
        (RoutineKind::SingleCube, [1, 33, 128]),
        (RoutineKind::SinglePass, [97, 388, 3001]),
        (RoutineKind::ReduceThenScan, [97, 388, 3001]),
    ] {
        for len in lens {
            for options in all_options() {
                check([3, len, 1], options, small_tile(routine));
            }
        }
    }
    for shape in [[2, 31, 5], [2, 97, 4], [1, 5000, 3]] {
        for options in all_options() {
            check(shape, options, small_tile(RoutineKind::Columns));
        }
    }
    let mute = LaunchOptions {
        mute: Some(Mute::Random { seed: 5, one_in: 3 }),
        polls: Some(1),
        ..small_tile(RoutineKind::SinglePass)
    };
    check([2, 3001, 1], ScanOptions::default(), mute);
    check([2, 70_000, 1], ScanOptions::default(), launch());
}

/// Small integers and decays of −1, 0 and 1, so that every result is exact in whatever order.
#[test]
fn linear_recurrence() {
    let client = client();
    every_form(|shape, options, launch| {
        let view = View::contiguous(&shape);
        let numbers = values(2 * view.elements(), ScanOp::Sum);
        let numbers: Vec<f32> = numbers.into_iter().map(|value| value as f32).collect();
        let (x, decay) = numbers.split_at(view.elements());
        let decay: Vec<f32> = decay.iter().map(|value| value % 2.).collect();
        let mut expected = vec![0.; view.elements()];
        for line in lines(shape, options) {
            let mut h = 0.;
            for at in line {
                let next = decay[at] * h + x[at];
                expected[at] = if options.exclusive { h } else { next };
                h = next;
            }
        }
        let inputs = [x.to_vec(), decay];
        let found = scan_floats::<LinearRecurrence>(&client, &inputs, &view, options, launch);
        assert!(found == expected, "{shape:?}, {options:?}, {launch:?}");
    });
}

/// Elements of a range whose exponentials overflow and vanish, with infinities among them; against a sum in f64.
#[test]
fn log_sum_exp() {
    let client = client();
    every_form(|shape, options, launch| {
        if options.exclusive != options.reverse {
            return;
        }
        let view = View::contiguous(&shape);
        let mut data: Vec<f32> = uneven(view.elements()).iter().map(|x| x * 50.).collect();
        data[0] = f32::NEG_INFINITY;
        data[view.elements() / 2] = f32::NEG_INFINITY;
        let found = scan_floats::<LogSumExp>(&client, &[data.clone()], &view, options, launch);
        for line in lines(shape, options) {
            let (mut largest, mut sum) = (f64::NEG_INFINITY, 0f64);
            for at in line {
                let before = largest + sum.ln();
                let x = f64::from(data[at]);
                if x > largest {
                    sum = sum * (largest - x).exp() + 1.;
                    largest = x;
                } else if x > f64::NEG_INFINITY {
                    sum += (x - largest).exp();
                }
                let expected = if options.exclusive {
                    before
                } else {
                    largest + sum.ln()
                };
                let found = f64::from(found[at]);
                let close = (found - expected).abs() <= 1e-5 * (1. + expected.abs());
                assert!(
                    close || found == expected,
                    "{found} instead of {expected} at {at} of {shape:?}, {options:?}, {launch:?}"
                );
            }
        }
    });
}

#[test]
fn log_sum_exp_of_nan_and_infinities() {
    let client = client();
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let data = vec![-inf, -inf, 3., inf, 5., nan, 1.];
    let view = View::contiguous(&[1, data.len()]);
    let options = ScanOptions::default();
    let found = scan_floats::<LogSumExp>(&client, &[data], &view, options, launch());
    assert_eq!(found[..2], [-inf, -inf]);
    assert!((found[2] - 3.).abs() < 1e-6, "{found:?}");
    assert_eq!(found[3..5], [inf, inf]);
    assert!(found[5].is_nan() && found[6].is_nan(), "{found:?}");
}
