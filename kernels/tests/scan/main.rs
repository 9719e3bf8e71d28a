//! Every routine × operator × direction × dtype × layout against the plain loops of `reference`, bit for bit.
//!
//! A tile of 32 units × 1 vector keeps the edges of tiles close together. The file `sizes.rs` has the sizes of
//! real use.

mod arguments;
mod determinism;
mod dtypes;
mod fallback;
mod golden;
mod layouts;
mod operators;
mod refusals;
mod sizes;

use cubecl_scan::ScanOp;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, ScanOptions, Strategy};
use scan_testing::kernels::*;

/// A tile as small as the window of a lookback allows, or of 128 elements where a whole row must fit.
fn small_tile(routine: RoutineKind) -> LaunchOptions {
    LaunchOptions {
        strategy: Strategy::Forced(routine),
        units: Some(32),
        vectors: Some(if routine == RoutineKind::SingleCube {
            4
        } else {
            1
        }),
        ..launch()
    }
}

/// The operators and options for every length: all of them in the long form of the tests.
fn per_length() -> Vec<(ScanOp, ScanOptions)> {
    let [plain, .., both] = all_options();
    if cfg!(feature = "heavy") {
        let pairs = ScanOp::ALL
            .into_iter()
            .flat_map(|op| all_options().map(|options| (op, options)));
        pairs.collect()
    } else {
        vec![(ScanOp::Sum, plain), (ScanOp::Sum, both)]
    }
}

/// Stamps the cases that every routine must pass. `$shape` gives the shape of a line of `len` elements, and the
/// axis. Every operator meets every option once, half of the pairs in vectors. The long form of the tests has them all
/// in both.
macro_rules! stamp {
    ($name:ident, $launch:expr, $longest:expr, $shape:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn every_operator_and_option() {
                let (client, launch) = (client(), $launch);
                // Lines that vectors straddle, and lines of whole vectors.
                let [(odd, axis), (even, _)] = [97, 100].map($shape);
                let [odd, even] = [odd, even].map(|shape| View::contiguous(&shape));
                for (nth, op) in ScanOp::ALL.into_iter().enumerate() {
                    for (turn, options) in all_options().into_iter().enumerate() {
                        let is_odd = (nth + turn) % 2 == 1;
                        if is_odd || cfg!(feature = "heavy") {
                            let data = values(odd.elements(), op);
                            check(&client, &data, &odd, axis, op, options, launch);
                        }
                        if !is_odd || cfg!(feature = "heavy") {
                            let data = floats(even.elements(), op);
                            check(&client, &data, &even, axis, op, options, launch);
                        }
                    }
                }
            }

            #[test]
            fn every_length_up_to_two_tiles() {
                let (client, launch) = (client(), $launch);
                for len in 0..=$longest {
                    let (shape, axis) = $shape(len);
                    let view = View::contiguous(&shape);
                    for (op, options) in per_length() {
                        let data = values(view.elements(), op);
                        check(&client, &data, &view, axis, op, options, launch);
                    }
                }
            }
        }
    };
}

fn rows_of(len: usize) -> (Vec<usize>, usize) {
    (vec![3, len], 1)
}

stamp!(
    single_cube,
    small_tile(RoutineKind::SingleCube),
    128,
    rows_of
);
stamp!(
    single_pass,
    small_tile(RoutineKind::SinglePass),
    2 * 128 + 1,
    rows_of
);
stamp!(
    reduce_then_scan,
    small_tile(RoutineKind::ReduceThenScan),
    2 * 128 + 1,
    rows_of
);
stamp!(
    columns,
    small_tile(RoutineKind::Columns),
    2 * 32 + 1,
    |len| (vec![2, len, 5], 1)
);
stamp!(
    columns_ahead,
    LaunchOptions {
        vectors: Some(8),
        ..small_tile(RoutineKind::Columns)
    },
    2 * 32 + 1,
    |len| (vec![2, len, 5], 1)
);
// Two strips for each group of columns, the second one not full, in tiles of two rows. Four strips have blocks of 32
// tiles, and six have blocks of eight.
stamp!(
    column_tiles,
    LaunchOptions {
        units: Some(64),
        ..small_tile(RoutineKind::ColumnTiles)
    },
    2 * 33 + 1,
    |len| (vec![2 + len % 2, len, 35], 1)
);
// A strip of two vectors, four rows a unit.
stamp!(
    tall_column_tiles,
    LaunchOptions {
        vectors: Some(4),
        ..small_tile(RoutineKind::ColumnTiles)
    },
    2 * 16 + 1,
    |len| (vec![2, len, 8], 1)
);
