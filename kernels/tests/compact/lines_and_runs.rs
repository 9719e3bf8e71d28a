//! Compaction of lines, and run-length encoding.

use crate::small_tile;
use cubecl_scan::scan::{LaunchOptions, Stall};
use scan_testing::kernels::*;

/// Rows shorter than a vector, than a cube and than a tile, of one tile and of several, with and without
/// stalled tiles. Columns.
#[test]
fn lines() {
    let client = client();
    let stall = LaunchOptions {
        stall: Some(Stall::Every(3)),
        spin_limit: Some(1),
        ..small_tile()
    };
    for shape in [
        [5, 1, 1],
        [9, 7, 1],
        [40, 33, 1],
        [6, 128, 1],
        [3, 1000, 1],
        [2, 9001, 1],
        [2, 300, 3],
        [1, 2000, 70],
    ] {
        let n = shape.iter().product();
        let values: Vec<i32> = (1..=n as i32).collect();
        for (name, mask) in masks(n) {
            for launch in [launch(), small_tile(), stall] {
                let found = device_compact_lines(&client, &values, &mask, shape, launch, 0);
                let expected = compacted_lines(&values, &mask, shape);
                assert!(found == expected, "{name}, {shape:?}, {launch:?}");
            }
        }
    }
}

/// Runs inside tiles and across them, with and without stalled tiles.
#[test]
fn runs() {
    let client = client();
    let stall = LaunchOptions {
        stall: Some(Stall::Every(3)),
        spin_limit: Some(1),
        ..small_tile()
    };
    for n in [1, 2, 127, 128, 129, 1000, 20_000, 20_001] {
        for length in [1, 3, 200, 100_000] {
            let mut run = 0;
            let values: Vec<i32> = (0..n)
                .map(|i| {
                    run += usize::from(mixed(i) as usize % length == 0);
                    run as i32 % 5
                })
                .collect();
            for launch in [launch(), small_tile(), stall] {
                let found = device_run_lengths(&client, &values, launch, 0);
                assert!(
                    found == encoded(&values),
                    "{n} in runs of {length}, {launch:?}"
                );
            }
        }
    }
}

/// A unit writes several vectors of lengths.
#[test]
fn more_runs_than_units() {
    let client = client();
    let values: Vec<i32> = (0..3 << 19).map(|i| i % 3).collect();
    let found = device_run_lengths(&client, &values, launch(), 0);
    assert!(found == encoded(&values));
}
