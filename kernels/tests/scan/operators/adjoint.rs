//! The gradient of a linear recurrence against a plain loop: rows and columns, in vectors and one by one, both directions, with and without initial
//! values, decays that are read in place.

use super::*;
use cubecl_scan::adjoint::{RecurrenceGradients, recurrence_adjoint, recurrence_adjoint_with};
use cubecl_scan::{ScanError, reference};

/// Flows, decays of −1, 0 and 1, results, initial values: small integers, of which every result is exact.
fn drawn(n: usize, lines: usize) -> [Vec<f32>; 4] {
    let mut inputs = oracles::Recurrences::elements(n + lines);
    let mut results = oracles::Sums::elements(n + lines).swap_remove(0);
    let initial = results.split_off(n);
    inputs.iter_mut().for_each(|it| it.truncate(n));
    let [flow, decay] = inputs.try_into().expect("two inputs");
    [flow, decay, results, initial]
}

fn check(client: &Client, shape: [usize; 3], launch: LaunchOptions, reverse: bool, resumes: bool) {
    let (n, lines) = (shape.iter().product(), shape[0] * shape[2]);
    let [flow, decay, results, mut initial] = drawn(n, lines);
    if !resumes {
        initial.fill(0.);
    }
    let [view, ends] = [&shape, &[shape[0], 1, shape[2]]].map(|shape| View::contiguous(shape));
    let of = |values: &[f32], view: &View| tensor(upload(client, values), view);
    let outputs = [n, n, lines].map(|n| sentinel(client, n));
    let gradients = RecurrenceGradients {
        flow: of(&flow, &view),
        decay: of(&decay, &view),
        results: of(&results, &view),
        of_values: tensor(outputs[0].clone(), &view),
        of_decay: tensor(outputs[1].clone(), &view),
        initial: resumes.then(|| [of(&initial, &ends), tensor(outputs[2].clone(), &ends)]),
    };
    let float = f32::elem_type_native();
    recurrence_adjoint_with(client, gradients, 1, float, reverse, launch).expect("supported");
    let inputs = [&flow[..], &decay, &results];
    let expected = reference::recurrence_adjoint(inputs, &initial, &shape, 1, reverse);
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

/// Columns as software adapters walk them: several abreast, several rows at a time where the scan goes against the order of memory.
#[test]
fn columns_of_software() {
    let client = client();
    for shape in [[1, 1000, 64], [2, 333, 128], [1, 70, 256], [1, 41, 2048]] {
        for reverse in [false, true] {
            check(&client, shape, LaunchOptions::default(), reverse, true);
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
    for mute in [Mute::Every(1), Mute::Every(3), Mute::Every(67)] {
        for (routine, shape) in [
            (RoutineKind::SinglePass, [1, 100 * 128 + 5, 1]),
            (RoutineKind::ColumnTiles, [2, 40 * 8 + 5, 12]),
        ] {
            let launch = LaunchOptions {
                mute: Some(mute),
                polls: Some(1),
                ..small_tile(routine)
            };
            within_20_seconds("mute tiles", || check(&client, shape, launch, false, true));
        }
    }
}

/// One decay for each column, read in place; the initial value's gradient reads it, too.
#[test]
fn decays_that_are_broadcast() {
    let client = client();
    let shape = [2usize, 5, 4];
    let [flow, decay, results, initial] = drawn(40, 8);
    let all: Vec<f32> = (0..40).map(|at| decay[at % 4]).collect();
    let [view, ends] = [&shape, &[2, 1, 4]].map(|shape| View::contiguous(shape));
    let of = |values: &[f32], view: &View| tensor(upload(&client, values), view);
    let outputs = [40, 40, 8].map(|n| sentinel(&client, n));
    let mut decays = of(&decay[..4], &view);
    decays.strides = [0, 0, 1].into();
    for reverse in [false, true] {
        let gradients = RecurrenceGradients {
            flow: of(&flow, &view),
            decay: decays.clone(),
            results: of(&results, &view),
            of_values: tensor(outputs[0].clone(), &view),
            of_decay: tensor(outputs[1].clone(), &view),
            initial: Some([of(&initial, &ends), tensor(outputs[2].clone(), &ends)]),
        };
        recurrence_adjoint(&client, gradients, 1, f32::elem_type_native(), reverse)
            .expect("supported");
        let inputs = [&flow[..], &all, &results];
        let expected = reference::recurrence_adjoint(inputs, &initial, &shape, 1, reverse);
        for (output, expected) in outputs.iter().zip(expected) {
            let found = read::<f32>(&client, output.clone(), expected.len());
            assert_eq!(found, expected, "reverse {reverse}");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
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
    let float = f32::elem_type_native();
    let found = recurrence_adjoint(&client, gradients.clone(), 1, float, false);
    let overlapping = ScanError::OverlappingMemory {
        output: "gradient of decays",
        other: "results",
    };
    assert_eq!(found, Err(overlapping));
    let apart = RecurrenceGradients {
        of_decay: room(6),
        ..gradients
    };
    let found = recurrence_adjoint(&client, apart, 2, float, false);
    assert_eq!(found, Err(ScanError::AxisOutOfRange { axis: 2, rank: 2 }));
}
