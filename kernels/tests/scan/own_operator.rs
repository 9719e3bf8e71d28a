//! An operator of a user's own, of four tensors and a state of four scalars, that does not commute: the operator of the example `own_operator`.
//!
//! The elements are units of the quaternion group, ±1, ±i, ±j and ±k, whose products are exact and depend on their order.

#[path = "../../examples/own_operator/rotation.rs"]
mod rotation;

use super::*;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanError;
use cubecl_scan::scan::{Mute, scan_operator};
use rotation::Rotations;

type Quaternion = [f32; 4];

const ONE: Quaternion = [1., 0., 0., 0.];

fn product(p: Quaternion, q: Quaternion) -> Quaternion {
    let ([a, b, c, d], [e, f, g, h]) = (p, q);
    [
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    ]
}

fn units(n: usize) -> Vec<Quaternion> {
    let unit = |i: usize| {
        let mixed = (i as u32).wrapping_mul(2_654_435_761) >> 20;
        let mut unit = [0.; 4];
        unit[mixed as usize % 4] = if mixed & 4 == 0 { 1. } else { -1. };
        unit
    };
    (0..n).map(unit).collect()
}

/// A plain loop along the middle of `[outer, len, inner]`.
fn expected(elements: &[Quaternion], shape: [usize; 3], options: ScanOptions) -> Vec<Quaternion> {
    let [outer, len, inner] = shape;
    let mut results = vec![ONE; elements.len()];
    for (row, column) in (0..outer * inner).map(|line| (line / inner, line % inner)) {
        let mut running = ONE;
        for step in 0..len {
            let along = if options.reverse {
                len - 1 - step
            } else {
                step
            };
            let at = (row * len + along) * inner + column;
            let with = product(running, elements[at]);
            results[at] = if options.exclusive { running } else { with };
            running = with;
        }
    }
    results
}

fn check_rotations(
    client: &Client,
    shape: [usize; 3],
    options: ScanOptions,
    launch: LaunchOptions,
) {
    let view = View::contiguous(&shape);
    let elements = units(view.elements());
    let parts = (0..4).map(|part| elements.iter().map(|unit| unit[part]).collect::<Vec<_>>());
    let inputs = parts.map(|part| tensor(client.create_from_slice(f32::as_bytes(&part)), &view));
    let handles: Vec<_> = (0..4).map(|_| client.empty(view.elements() * 4)).collect();
    let outputs = handles.iter().map(|handle| tensor(handle.clone(), &view));
    let (inputs, outputs) = (inputs.collect(), outputs.collect());
    let dtype = f32::elem_type_native();
    scan_operator::<Rotations>(client, inputs, outputs, 1, dtype, (), options, launch)
        .expect("supported");
    let expected = expected(&elements, shape, options);
    for (part, handle) in handles.into_iter().enumerate() {
        let found = read::<f32>(client, handle, view.elements());
        let wrong = (0..expected.len()).find(|&i| found[i] != expected[i][part]);
        assert!(
            wrong.is_none(),
            "part {part} of {shape:?}, {options:?}, {launch:?}: the first wrong one is {wrong:?}"
        );
    }
}

#[test]
fn every_routine_and_option() {
    let client = client();
    for (routine, lens) in [
        (RoutineKind::SingleCube, &[1, 31, 32, 96, 128][..]),
        (RoutineKind::SinglePass, &[1, 33, 97, 4 * 97, 5000]),
        (RoutineKind::ReduceThenScan, &[1, 33, 97, 4 * 97, 5000]),
    ] {
        for &len in lens {
            for options in all_options() {
                check_rotations(&client, [3, len, 1], options, small_tile(routine));
            }
        }
    }
    // Of one chunk, and of several; vectors and single columns; rows loaded ahead, which chunks are no multiple of.
    for (shape, ahead) in [([2, 31, 5], 1), ([2, 97, 4], 1), ([1, 300, 3], 8)] {
        let launch = LaunchOptions {
            vectors: Some(ahead),
            ..small_tile(RoutineKind::Columns)
        };
        for options in all_options() {
            check_rotations(&client, shape, options, launch);
        }
    }
}

#[test]
fn as_inferred() {
    let client = client();
    for shape in [[3, 1000, 1], [1, 50_000, 1], [2, 30_001, 1], [2, 5000, 6]] {
        check_rotations(&client, shape, ScanOptions::default(), launch());
    }
}

/// What is folded in another order, or put together of two values, is no product of the elements in theirs.
#[test]
fn tiles_that_never_publish() {
    let client = client();
    for (mute, polls) in [
        (Mute::Every(1), Some(1)),
        (Mute::Every(3), Some(4)),
        (Mute::Every(67), Some(1)),
        (Mute::Random { seed: 3, one_in: 7 }, None),
    ] {
        let launch = LaunchOptions {
            mute: Some(mute),
            polls,
            ..small_tile(RoutineKind::SinglePass)
        };
        within_20_seconds("rotations with mute tiles", || {
            check_rotations(&client, [2, 100 * 32 + 5, 1], all_options()[0], launch);
        });
    }
}

#[test]
fn refusals() {
    let client = client();
    let view = View::contiguous(&[4]);
    let dtype = f32::elem_type_native();
    let tensors = |n: usize, view: &View| -> Vec<_> {
        (0..n).map(|_| tensor(client.empty(64), view)).collect()
    };
    let scan = |inputs, outputs, strategy| {
        let options = ScanOptions::default();
        let launch = LaunchOptions {
            strategy,
            ..launch()
        };
        scan_operator::<Rotations>(&client, inputs, outputs, 0, dtype, (), options, launch)
    };
    let found = scan(tensors(3, &view), tensors(4, &view), Strategy::Inferred);
    let (operand, expected) = ("inputs", 4);
    assert_eq!(
        found,
        Err(ScanError::TensorCount {
            operand,
            expected,
            found: 3
        })
    );
    let longer = View::contiguous(&[5]);
    let found = scan(tensors(4, &view), tensors(4, &longer), Strategy::Inferred);
    assert!(
        matches!(found, Err(ScanError::ShapeMismatch { .. })),
        "{found:?}"
    );
    let gaps = View {
        shape: vec![4],
        strides: vec![2],
    };
    let found = scan(tensors(4, &view), tensors(4, &gaps), Strategy::Inferred);
    assert_eq!(found, Err(ScanError::InvalidOutput));
    let columns = Strategy::Forced(RoutineKind::Columns);
    let found = scan(tensors(4, &view), tensors(4, &view), columns);
    assert!(matches!(found, Err(ScanError::Refused { .. })), "{found:?}");
}
