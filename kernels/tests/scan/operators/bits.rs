//! A thousand runs of each float operator, under load, with tiles that publish and others that do not, patient and not: one pattern of bits.
//!
//! The elements are such that rounding depends on the order in which they are combined.

use super::*;
use crate::determinism::under_load;
use cubecl_scan::monoid::{ArgExtremum, Extremum, Fold, LinearRecurrence, LogSumExp};

/// Enough tiles of 32 elements for lookbacks across three blocks; an odd length, so that a tile of 32 units is one of 32 elements.
const LEN: usize = 70 * 32 + 3;

/// So many tensors with values about `middle`, each with others.
fn about(middle: f32, spread: f32, tensors: usize) -> Vec<Vec<f32>> {
    let scaled = |tensor: usize| {
        let values = uneven(LEN + tensor).into_iter().take(LEN);
        values.map(|value| middle + spread * value).collect()
    };
    (0..tensors).map(scaled).collect()
}

fn thousand_runs<O: Operator>(op: O::Config, inputs: Vec<Vec<f32>>) {
    let client = client();
    let begins = begins(LEN);
    let run = |mute, polls| {
        let case = Case {
            shape: [1, LEN, 1],
            options: ScanOptions::default(),
            launch: LaunchOptions {
                mute,
                polls,
                ..small_tile(RoutineKind::SinglePass)
            },
            segmented: O::BEGINS,
            resumes: false,
        };
        let (outputs, positions) = found::<O>(&client, case, op, &inputs, &[], &begins);
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        (outputs.into_iter().map(bits).collect::<Vec<_>>(), positions)
    };
    let first = run(None, None);
    under_load(|| {
        for turn in 0..1000 {
            let mute = [None, Some(Mute::Every(1)), Some(Mute::Every(3))][turn % 3];
            let polls = [None, Some(1), Some(4)][turn / 3 % 3];
            let again = within_20_seconds("one of a thousand", || run(mute, polls));
            assert!(again == first, "run {turn}: {mute:?}, {polls:?}");
        }
    });
}

#[test]
fn products() {
    thousand_runs::<Fold>(ScanOp::Prod, about(1., 1e-4, 1));
}

#[test]
fn recurrences() {
    let decays = about(0.97, 1e-4, 1);
    let inputs = about(0., 1., 1).into_iter().chain(decays).collect();
    thousand_runs::<LinearRecurrence>((), inputs);
}

#[test]
fn log_sums() {
    thousand_runs::<LogSumExp>((), about(0., 0.05, 1));
}

#[test]
fn segmented_sums() {
    thousand_runs::<Segmented<Fold>>(ScanOp::Sum, about(0., 1., 1));
}

#[test]
fn extrema_and_their_positions() {
    thousand_runs::<ArgExtremum>(Extremum::Max, about(0., 1., 1));
}

#[test]
fn rotations() {
    let scalar = about(1., 1e-4, 1);
    let inputs = scalar.into_iter().chain(about(0., 1e-3, 3)).collect();
    thousand_runs::<rotations::Rotations>((), inputs);
}
