//! The gradient of a linear recurrence against a plain loop: rows and columns, in vectors and one by one, both
//! directions, with and without initial values, and decays that are read in place.

use super::*;
use cubecl_scan::ScanError;
use cubecl_scan::adjoint::{RecurrenceGradients, recurrence_adjoint};
use gradient::Gradient;

fn check(client: &Client, shape: [usize; 3], launch: LaunchOptions, reverse: bool, resumes: bool) {
    if shape[2] > 1 && rows_only() {
        return;
    }
    let mut gradient = Gradient::drawn(shape);
    if !resumes {
        gradient.initial.fill(0.);
    }
    let (tensors, outputs) = gradient.tensors(client, resumes);
    let float = f32::elem_type_native();
    recurrence_adjoint(client, tensors, 1, float, reverse, launch).expect("supported");
    let expected = gradient.expected(reverse);
    let names = ["values", "decays", "initial values"];
    for ((output, expected), name) in outputs.into_iter().zip(expected).zip(names) {
        if name == "initial values" && !resumes {
            continue;
        }
        let found = read::<f32>(client, output, expected.len());
        let wrong = found
            .iter()
            .zip(&expected)
            .position(|(found, expected)| found != expected);
        if let Some(at) = wrong {
            let (found, expected) = (found[at], expected[at]);
            panic!(
                "of {name} at {at}: {found} instead of {expected}; {shape:?}, reverse {reverse}, from initial {resumes}"
            );
        }
    }
}

#[test]
fn rows_and_columns() {
    let client = client();
    for shape in [
        [1, 1, 1],
        [3, 1, 4],
        [5, 2, 1],
        [3, 37, 1],
        [3, 36, 1],
        [2, 3004, 1],
        [2, 97, 3],
        [2, 97, 12],
        [1, 5, 1030],
        [700, 3, 1],
        [0, 4, 2],
        [2, 3, 0],
    ] {
        for reverse in [false, true] {
            for resumes in [false, true] {
                check(&client, shape, launch(), reverse, resumes);
            }
        }
    }
}

/// Tiles of narrow columns and of wide ones, and columns that are too short for tiles.
#[test]
fn wide_columns() {
    let client = client();
    for shape in [
        [1, 1000, 64],
        [2, 333, 128],
        [1, 70, 256],
        [1, 41, 2048],
        [1, 20, 2048],
    ] {
        for reverse in [false, true] {
            check(&client, shape, launch(), reverse, true);
        }
    }
}

#[test]
fn every_routine() {
    let client = client();
    for (launch, shape) in forms() {
        for reverse in [false, true] {
            check(&client, shape, launch, reverse, true);
        }
    }
}

#[test]
fn tiles_that_never_publish() {
    let client = client();
    for stall in [Stall::Every(1), Stall::Every(3), Stall::Every(67)] {
        for (routine, shape) in [
            (RoutineKind::SinglePass, [1, 100 * 128 + 5, 1]),
            (RoutineKind::ColumnTiles, [2, 40 * 8 + 5, 12]),
        ] {
            let launch = LaunchOptions {
                stall: Some(stall),
                spin_limit: Some(1),
                ..small_tile(routine)
            };
            within_20_seconds("stalled tiles", || {
                check(&client, shape, launch, false, true)
            });
        }
    }
}

/// One decay for each column, read in place. The initial value's gradient reads it, too.
#[test]
fn decays_that_are_broadcast() {
    let client = client();
    let mut gradient = Gradient::drawn([2, 5, 4]);
    let of_columns = gradient.decay[..4].to_vec();
    gradient.decay = of_columns.repeat(10);
    let (float, launch) = (f32::elem_type_native(), LaunchOptions::default());
    for reverse in [false, true] {
        let (mut tensors, outputs) = gradient.tensors(&client, true);
        tensors.decay.handle = upload(&client, &of_columns).binding();
        tensors.decay.strides = [0, 0, 1].into();
        recurrence_adjoint(&client, tensors, 1, float, reverse, launch).expect("supported");
        let expected = gradient.expected(reverse);
        for (output, expected) in outputs.iter().zip(expected) {
            let found = read::<f32>(&client, output.clone(), expected.len());
            assert_eq!(found, expected, "reverse {reverse}");
        }
    }
}

#[test]
fn impossible_calls_are_refused() {
    let client = client();
    let view = View::contiguous(&[2, 3]);
    let room = |n| tensor(sentinel(&client, n), &view);
    let shared = room(6);
    let gradients = RecurrenceGradients {
        flow: room(6),
        decay: room(6),
        results: shared.clone(),
        of_values: room(6),
        of_decay: shared,
        initial: None,
    };
    let (float, launch) = (f32::elem_type_native(), LaunchOptions::default());
    let found = recurrence_adjoint(&client, gradients.clone(), 1, float, false, launch);
    let overlapping = ScanError::OverlappingMemory {
        output: "gradient of decays",
        other: "results",
    };
    assert_eq!(found, Err(overlapping));
    let apart = RecurrenceGradients {
        of_decay: room(6),
        ..gradients
    };
    let found = recurrence_adjoint(&client, apart, 2, float, false, launch);
    assert_eq!(found, Err(ScanError::AxisOutOfRange { axis: 2, rank: 2 }));
}
