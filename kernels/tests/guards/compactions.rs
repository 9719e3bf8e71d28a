//! Compaction of masks and of lines, expansion and run-length encoding.

use crate::{offsets, with_guarded_scratch};
use cubecl_scan::scan::LaunchOptions;
use scan_testing::kernels::*;
use scan_testing::watch;

#[test]
fn write_nothing_but_their_output() {
    let client = client();
    let launch = LaunchOptions {
        units: Some(32),
        vectors: Some(1),
        ..launch()
    };
    for offset in offsets(&client, size_of::<i32>()) {
        for n in [1, 31, 32, 33, 127, 128, 129, 132, 1000] {
            for (name, mask) in masks(n).into_iter().step_by(2) {
                for emit in EMITS {
                    let values: Vec<i32> = (1..=n as i32).collect();
                    let (found, _) = with_guarded_scratch(&client, || {
                        device_compact(&client, &values, &mask, emit, launch, offset)
                    });
                    let expected = selected(&values, &mask, emit);
                    assert!(
                        found[..expected.len()] == expected,
                        "{emit:?}, {name}, {n}, {offset} bytes in"
                    );
                }
                let packed: Vec<i32> = (1..=n.div_ceil(2) as i32).collect();
                let found = with_guarded_scratch(&client, || {
                    device_expand(&client, &packed, &mask, launch, offset)
                });
                assert!(found == expanded(&packed, &mask), "{name}, {n}");
            }
        }
    }
}

/// At the device's own tuning.
#[test]
fn of_large_masks_write_nothing_but_their_output() {
    let (client, launch) = (client(), LaunchOptions::default());
    for offset in offsets(&client, size_of::<i32>()) {
        for n in [20 * 1024, 20 * 1024 + 1, 24 * 1024 - 4] {
            let (name, mask) = masks(n).swap_remove(4);
            let values: Vec<i32> = (1..=n as i32).collect();
            for emit in EMITS {
                let mut found = Vec::new();
                let scratch = watch(
                    |_| 0,
                    || found = device_compact(&client, &values, &mask, emit, launch, offset).0,
                );
                // The words of tiles.
                assert_eq!(scratch.len(), 1, "{emit:?} of {n}");
                scratch[0].read::<u8>(&client);
                let expected = selected(&values, &mask, emit);
                assert!(
                    found[..expected.len()] == expected,
                    "{emit:?}, {name}, {n}, {offset} bytes in"
                );
            }
        }
    }
}

#[test]
fn lines_and_runs_write_nothing_but_their_output() {
    let client = client();
    let small = LaunchOptions {
        units: Some(32),
        vectors: Some(1),
        ..launch()
    };
    for offset in offsets(&client, size_of::<i32>()) {
        for (shape, launch) in [
            ([3, 257, 1], launch()),
            ([3, 257, 1], small),
            ([70, 9, 1], launch()),
            ([2, 200, 5], launch()),
        ] {
            let n = shape.iter().product();
            let (name, mask) = masks(n).swap_remove(4);
            let values: Vec<i32> = (0..n as i32).map(|i| i / 3 % 4 + 1).collect();
            let (lines, runs) = with_guarded_scratch(&client, || {
                let lines = device_compact_lines(&client, &values, &mask, shape, launch, offset);
                (lines, device_run_lengths(&client, &values, launch, offset))
            });
            let context = || format!("{name}, {shape:?}, {offset} bytes in");
            assert!(
                lines == compacted_lines(&values, &mask, shape),
                "{}",
                context()
            );
            assert!(runs == encoded(&values), "{}", context());
        }
    }
}
