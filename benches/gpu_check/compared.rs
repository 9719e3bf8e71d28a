//! The stages that compare ways to compute one thing: other cubes and routines than the device's own tuning has, and
//! scans with and without batch invariance.

use cubecl::client::Client;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, Strategy};

use crate::fast::Bench;
use crate::sorting;

/// One row with other cubes, columns by both routines, and long lines that are sorted in each way.
pub fn tuning(client: &Client) {
    let mut bench = Bench::new(client);
    let shapes = [
        [1 << 20, 8],
        [1 << 22, 4],
        [1 << 18, 64],
        [1 << 16, 128],
        [1 << 14, 1024],
        [4096, 4096],
    ];
    for shape in shapes {
        for routine in [RoutineKind::Columns, RoutineKind::ColumnTiles] {
            let launch = LaunchOptions {
                strategy: Strategy::Forced(routine),
                ..LaunchOptions::default()
            };
            let tuned = format!(", {routine:?}");
            bench.sum_with::<f32>(shape, 0, |value| value as f32, (&tuned, launch));
            if shape[1] == 64 {
                bench.recurrence(shape, 0, (&tuned, launch));
            }
        }
    }
    for (units, vectors) in [(512, 4), (512, 6), (512, 8)] {
        let launch = LaunchOptions {
            units: Some(units),
            vectors: Some(vectors),
            ..LaunchOptions::default()
        };
        let tuned = format!(", {units} units by {vectors}");
        for power in [22, 24, 26, 28] {
            bench.sum_with::<f32>([1, 1 << power], 1, |value| value as f32, (&tuned, launch));
        }
    }
    sorting::tuning(client);
}

/// The end of the name of a case with the option.
pub const INVARIANT: &str = ", batch-invariant";

/// What it costs that a line's bits depend on that line alone: each case as it is, and with the option.
pub fn invariance(client: &Client) {
    let mut bench = Bench::new(client);
    let invariant = LaunchOptions {
        batch_invariant: true,
        ..LaunchOptions::default()
    };
    let rows = [
        [1, 1 << 20],
        [1, 1 << 24],
        [64, 4096],
        [1024, 256],
        [16_384, 16],
        [32, 8191],
        [4096, 4096],
        [65_536, 256],
        [84, 50_257],
        [1 << 20, 16],
        [1 << 20, 3],
        [1 << 19, 33],
        [1 << 18, 100],
        [1 << 16, 1000],
        [8, 1 << 18],
    ];
    let columns = [[4096, 4096], [1 << 20, 8], [1 << 16, 128], [1 << 18, 64]];
    let rows = rows.map(|shape| (shape, 1));
    let columns = columns.map(|shape| (shape, 0));
    for form in [("", LaunchOptions::default()), (INVARIANT, invariant)] {
        for (shape, axis) in rows.into_iter().chain(columns) {
            bench.sum_with::<f32>(shape, axis, |value| value as f32, form);
        }
        for (shape, axis) in [([1, 1 << 24], 1), ([64, 1 << 18], 1), ([1 << 18, 64], 0)] {
            bench.recurrence(shape, axis, form);
        }
    }
}
