//! Operators that do not fold one accumulator, and what every operator may have besides its elements: segments and
//! initial values.
//!
//! An [`Oracle`] says in plain Rust what an operator means, and one loop over it gives the results that every
//! routine must return. Elements are chosen such that results are exact in any order, except in
//! [`log_sum_exp`].

mod adjoint;
mod batch_invariance;
mod bits;
mod gradient;
mod log_sum_exp;
mod oracle;
mod oracles;
mod refusals;
mod rotations;
mod segment_totals;

use super::*;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::monoid::{ArgExtremum, Operator, Segmented};
use cubecl_scan::scan::{ScanTensors, Stall, scan_operator};
use oracle::{Case, Oracle, expected, initial, start, starts};

/// The device's outputs and positions.
fn found<O: Operator>(
    client: &Client,
    case: Case,
    op: O::Config,
    inputs: &[Vec<f32>],
    initial: &[Vec<f32>],
    starts: &[u32],
) -> (Vec<Vec<f32>>, Vec<i32>) {
    let elements = case.shape.iter().product();
    let (outputs, positions) = start::<O>(client, case, op, inputs, initial, starts);
    let outputs = outputs.into_iter();
    let outputs = outputs.map(|it| read::<f32>(client, it, elements));
    let positions = if O::POSITIONS {
        read::<i32>(client, positions, elements)
    } else {
        vec![]
    };
    (outputs.collect(), positions)
}

fn check_case<O: Oracle>(client: &Client, case: Case) {
    if case.shape[2] > 1 && rows_only() {
        return;
    }
    let elements: usize = case.shape.iter().product();
    let inputs = O::elements(elements);
    let initial = initial::<O>(case);
    let starts = starts(elements);
    let (outputs, positions) = expected::<O>(case, &inputs, &initial, &starts);
    let op = O::config();
    let buffers = O::Operator::INPUTS + O::Operator::OUTPUTS * (1 + usize::from(case.resumes)) + 1;
    let most = client.properties().hardware.max_bindings as usize;
    if buffers > most {
        unsupported(&format!(
            "{buffers} buffers in one kernel, where the device binds {most}"
        ));
        return;
    }
    let (got, got_positions) = if case.segmented {
        found::<Segmented<O::Operator>>(client, case, op, &inputs, &initial, &starts)
    } else {
        found::<O::Operator>(client, case, op, &inputs, &initial, &starts)
    };
    for (part, (got, expected)) in got.iter().zip(&outputs).enumerate() {
        let wrong = (0..elements).find(|&i| !O::is_close(got[i], expected[i]));
        if let Some(i) = wrong {
            let (got, expected) = (got[i], expected[i]);
            panic!("output {part} at {i} is {got} instead of {expected}: {case:?}");
        }
    }
    if O::Operator::POSITIONS {
        let wrong = (0..elements).find(|&i| got_positions[i] != positions[i]);
        if let Some(i) = wrong {
            let (got, expected) = (got_positions[i], positions[i]);
            panic!("position {i} is {got} instead of {expected}: {case:?}");
        }
    }
}

/// Launches of every routine. Each has a shape that leads to another of its kernels: rows shorter than a tile,
/// rows of one tile and of several, many parts of a row, columns whole and split, vectors and single elements.
fn forms() -> [(LaunchOptions, [usize; 3]); 8] {
    let with = |routine, vectors| LaunchOptions {
        vectors: Some(vectors),
        ..small_tile(routine)
    };
    use RoutineKind::*;
    [
        (with(SingleCube, 4), [3, 36, 1]),
        (with(SingleCube, 1), [3, 128, 1]),
        (with(SinglePass, 1), [2, 3004, 1]),
        (with(ReduceThenScan, 1), [2, 3004, 1]),
        (with(Columns, 4), [2, 97, 4]),
        (with(Columns, 1), [1, 1500, 3]),
        (with(ColumnTiles, 1), [2, 97, 12]),
        (
            LaunchOptions {
                units: Some(64),
                ..with(ColumnTiles, 1)
            },
            [1, 37, 68],
        ),
    ]
}

/// Every routine × option × with and without initial values: all in the long form of the tests. Otherwise each form of
/// a routine has one option with initial values and one without. The next form, and the operator of the next `number`,
/// have the next options.
fn every_form<O: Oracle>(segmented: bool, number: usize) {
    let client = client();
    for (form, (launch, shape)) in forms().into_iter().enumerate() {
        for (turn, options) in all_options().into_iter().enumerate() {
            for resumes in [false, true] {
                let at = form + turn + number + 2 * usize::from(resumes);
                if !at.is_multiple_of(4) && !cfg!(feature = "heavy") {
                    continue;
                }
                let case = Case {
                    shape,
                    options,
                    launch,
                    segmented,
                    resumes,
                };
                check_case::<O>(&client, case);
            }
        }
    }
}

/// A fallback must fold in the owner's order, must not put two values together, and must not count twice. The
/// row has so many tiles that a lookback keeps the totals of several blocks. Rows and columns stall in turn, and the
/// other way round for the operator of the next `number`.
fn stalled_tiles<O: Oracle>(segmented: bool, number: usize) {
    let client = client();
    let stalls = [
        (Stall::Every(1), Some(1)),
        (Stall::Every(3), Some(4)),
        (Stall::Every(67), Some(1)),
        (Stall::Random { seed: 3, one_in: 7 }, None),
    ];
    for (turn, (stall, spin_limit)) in stalls.into_iter().enumerate() {
        let launch = LaunchOptions {
            stall: Some(stall),
            spin_limit,
            ..small_tile(RoutineKind::SinglePass)
        };
        let columns = LaunchOptions {
            strategy: Strategy::Forced(RoutineKind::ColumnTiles),
            ..launch
        };
        let rows_and_columns = [
            ([1, 100 * 128 + 5, 1], launch),
            ([2, 40 * 8 + 5, 12], columns),
        ];
        for (nth, (shape, launch)) in rows_and_columns.into_iter().enumerate() {
            if (turn + number + nth) % 2 == 1 && !cfg!(feature = "heavy") {
                continue;
            }
            let case = Case {
                shape,
                options: ScanOptions::default(),
                launch,
                segmented,
                resumes: true,
            };
            within_20_seconds("stalled tiles", || check_case::<O>(&client, case));
        }
    }
}

/// Shapes at the routine and the tuning that the device chooses.
fn as_inferred<O: Oracle>(segmented: bool) {
    let client = client();
    for shape in [
        [3, 1000, 1],
        [1, 70_000, 1],
        [2, 30_001, 1],
        [2, 5000, 6],
        [9, 1, 5],
    ] {
        let case = Case {
            shape,
            options: ScanOptions::default(),
            launch: launch(),
            segmented,
            resumes: false,
        };
        check_case::<O>(&client, case);
    }
}

macro_rules! stamp {
    ($name:ident, $number:literal, $oracle:ty, $segmented:literal) => {
        mod $name {
            use super::*;

            #[test]
            fn every_routine_and_option() {
                every_form::<$oracle>($segmented, $number);
            }

            #[test]
            fn tiles_that_never_publish() {
                stalled_tiles::<$oracle>($segmented, $number);
            }

            #[test]
            fn as_inferred() {
                super::as_inferred::<$oracle>($segmented);
            }
        }
    };
}

stamp!(sums, 0, oracles::Sums, false);
stamp!(segmented_sums, 1, oracles::Sums, true);
stamp!(recurrences, 2, oracles::Recurrences, false);
stamp!(segmented_recurrences, 3, oracles::Recurrences, true);
stamp!(where_maxima_are, 4, oracles::Extrema<true>, false);
stamp!(
    where_minima_of_segments_are,
    5,
    oracles::Extrema<false>,
    true
);
stamp!(log_sums, 6, oracles::LogSums, false);
stamp!(products_of_rotations, 7, rotations::Products, false);
stamp!(recurrences_that_reset, 8, oracles::ResetRecurrences, false);

/// What rows resume from is the maximum of every row: a state without a position, which planes hand on.
#[test]
fn a_maximum_from_before_the_row_stays() {
    let client = client();
    for (launch, shape) in [
        (small_tile(RoutineKind::SingleCube), [12, 36, 1]),
        (small_tile(RoutineKind::SingleCube), [3, 128, 1]),
        (small_tile(RoutineKind::SinglePass), [2, 1004, 1]),
        (small_tile(RoutineKind::ReduceThenScan), [2, 1004, 1]),
        (small_tile(RoutineKind::Columns), [1, 300, 8]),
        (small_tile(RoutineKind::ColumnTiles), [1, 300, 8]),
    ] {
        let case = Case {
            shape,
            options: ScanOptions::default(),
            launch,
            segmented: false,
            resumes: true,
        };
        let elements = shape.iter().product();
        let initial = vec![vec![100.; shape[0] * shape[2]]];
        let inputs = vec![floats(elements, ScanOp::Max)];
        let op = oracles::Extrema::<true>::config();
        let (outputs, positions) = found::<ArgExtremum>(&client, case, op, &inputs, &initial, &[]);
        assert!(outputs[0].iter().all(|&value| value == 100.), "{case:?}");
        assert!(positions.iter().all(|&position| position == -1), "{case:?}");
    }
}
