//! A thousand runs of sums and 250 of each other float operator, under load, with and without stalled tiles, with low
//! and with default spin limits: one pattern of bits. Where planes are forced, sums are run 250 times, too.
//!
//! The rounding of results depends on the order in which elements are combined.

use super::*;
use crate::determinism::under_load;
use cubecl_scan::monoid::{ArgExtremum, Extremum, Fold, LinearRecurrence, LogSumExp};

/// Enough tiles for lookbacks across two blocks. The length is odd, so a tile of 32 units is one of 32
/// elements.
const LEN: usize = 40 * 32 + 3;

/// The same, across four blocks.
const LONGER: usize = 100 * 32 + 3;

/// A tensor of values about `middle`. Each `seed` gives another one.
fn about(middle: f32, spread: f32, len: usize, seed: usize) -> Vec<f32> {
    let values = uneven(len + seed).into_iter().take(len);
    values.map(|value| middle + spread * value).collect()
}

fn repeated<O: Operator>(runs: usize, op: O::Config, inputs: Vec<Vec<f32>>) {
    let client = client();
    let len = inputs[0].len();
    let starts = starts(len);
    let run = |stall, spin_limit| {
        let case = Case {
            shape: [1, len, 1],
            options: ScanOptions::default(),
            launch: LaunchOptions {
                stall,
                spin_limit,
                ..small_tile(RoutineKind::SinglePass)
            },
            segmented: O::STARTS,
            resumes: false,
        };
        let (outputs, positions) = found::<O>(&client, case, op, &inputs, &[], &starts);
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        (outputs.into_iter().map(bits).collect::<Vec<_>>(), positions)
    };
    let first = run(None, None);
    under_load(|| {
        for turn in 0..runs {
            let stall = [None, Some(Stall::Every(1)), Some(Stall::Every(3))][turn % 3];
            let spin_limit = [None, Some(1), Some(4)][turn / 3 % 3];
            let again = within_20_seconds("one run of many", || run(stall, spin_limit));
            assert!(again == first, "run {turn}: {stall:?}, {spin_limit:?}");
        }
    });
}

#[test]
fn sums() {
    let runs = if launch().plane == Some(true) {
        250
    } else {
        1000
    };
    repeated::<Fold>(runs, ScanOp::Sum, vec![about(0., 1., LONGER, 0)]);
}

#[test]
fn products() {
    repeated::<Fold>(250, ScanOp::Prod, vec![about(1., 1e-4, LEN, 0)]);
}

#[test]
fn recurrences() {
    let inputs = vec![about(0., 1., LONGER, 0), about(0.97, 1e-4, LONGER, 1)];
    repeated::<LinearRecurrence>(250, (), inputs);
}

#[test]
fn log_sums() {
    repeated::<LogSumExp>(250, (), vec![about(0., 0.05, LEN, 0)]);
}

#[test]
fn segmented_sums() {
    repeated::<Segmented<Fold>>(250, ScanOp::Sum, vec![about(0., 1., LEN, 0)]);
}

#[test]
fn extrema_and_their_positions() {
    repeated::<ArgExtremum>(250, Extremum::Max, vec![about(0., 1., LEN, 0)]);
}
