//! Scans: every form of each routine, stalled tiles, and rows at every element offset.

use crate::offsets;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, ScanOptions, Stall, Strategy, scan_with};
use scan_testing::kernels::*;
use scan_testing::reference;
use scan_testing::{Guarded, watch};

/// A tile of 32 units × 1 vector, or × 4.
fn launch_of(routine: RoutineKind, vectors: usize) -> LaunchOptions {
    LaunchOptions {
        strategy: Strategy::Forced(routine),
        units: Some(32),
        vectors: Some(vectors),
        ..launch()
    }
}

/// Scans between guards. Returns the number of scratch buffers.
fn check_scan(
    client: &Client,
    view: &View,
    axis: usize,
    options: ScanOptions,
    launch: LaunchOptions,
    offset: usize,
) -> usize {
    let used = (0..view.shape.len()).map(|dim| (view.shape[dim] - 1) * view.strides[dim]);
    let data = values(used.sum::<usize>() + 1, ScanOp::Sum);
    let input = Guarded::new(client, &data, offset);
    let output = Guarded::empty(client, view.elements() * size_of::<i32>(), offset);
    let scratch = watch(
        |_| 0,
        || {
            scan_with(
                client,
                tensor(input.handle(), view),
                tensor(output.handle(), &View::contiguous(&view.shape)),
                axis,
                i32::elem_type_native(),
                ScanOp::Sum,
                options,
                launch,
            )
            .expect("supported");
        },
    );
    let expected = reference::scan(&view.gather(&data), &view.shape, axis, ScanOp::Sum, options);
    assert_eq!(input.read::<i32>(client), data, "the input changed");
    assert!(
        output.read::<i32>(client) == expected,
        "{view:?} along {axis}, {options:?}, {launch:?}, {offset} bytes in"
    );
    for scratch in &scratch {
        scratch.read::<u8>(client);
    }
    scratch.len()
}

/// Every form of each routine, with its launch and the number of its scratch buffers. Lengths are around the
/// edges of tiles and vectors.
fn every_form(mut check: impl FnMut(&[usize], usize, LaunchOptions, usize)) {
    use RoutineKind::*;
    for len in [1, 2, 4, 31, 32, 36, 63] {
        check(&[7, len], 1, launch_of(SingleCube, 4), 0);
    }
    // Rows longer than half a tile: each takes a cube, as one chunk.
    for len in [65, 67, 125, 127] {
        check(&[3, len], 1, launch_of(SingleCube, 4), 1);
    }
    for len in [1, 31, 32, 33, 127, 128, 129, 132, 1000] {
        check(&[3, len], 1, launch_of(SinglePass, 1), 1);
        check(&[3, len], 1, launch_of(ReduceThenScan, 1), 1);
    }
    for (len, columns) in [(1, 5), (31, 5), (33, 8), (200, 3)] {
        check(&[2, len, columns], 1, launch_of(Columns, 1), 1);
        check(&[2, len, columns], 1, launch_of(Columns, 8), 1);
    }
    // Many parts: their totals, and the scan of the totals.
    for (len, columns) in [(1000, 3), (1000, 8)] {
        check(&[2, len, columns], 1, launch_of(Columns, 1), 1);
    }
    for (len, columns) in [(1, 5), (15, 160), (17, 132), (200, 3), (65, 8)] {
        check(&[2, len, columns], 1, launch_of(ColumnTiles, 1), 1);
        check(&[2, len, columns], 1, launch_of(ColumnTiles, 4), 1);
    }
}

#[test]
fn write_nothing_but_their_output() {
    let client = client();
    for offset in offsets(&client, size_of::<i32>()) {
        every_form(|shape, axis, launch, scratch| {
            for options in [all_options()[0], all_options()[3]] {
                let view = View::contiguous(shape);
                let found = check_scan(&client, &view, axis, options, launch, offset);
                assert_eq!(found, scratch, "{shape:?}, {launch:?}");
            }
        });
    }
}

/// Every tile falls back, and needs no more words than without fallbacks.
#[test]
fn fallbacks_write_nothing_but_their_words() {
    let client = client();
    // The last tile has the last words, and publishes with the second schedule.
    for stall in [
        Stall::Every(1),
        Stall::Every(2),
        Stall::Random { seed: 7, one_in: 2 },
    ] {
        let launch = LaunchOptions {
            stall: Some(stall),
            spin_limit: Some(1),
            ..launch_of(RoutineKind::SinglePass, 1)
        };
        let columns = LaunchOptions {
            strategy: Strategy::Forced(RoutineKind::ColumnTiles),
            ..launch
        };
        within_20_seconds("a scan between guards", || {
            for (shape, launch) in [([2, 40 * 32 + 1, 1], launch), ([2, 65, 36], columns)] {
                let view = View::contiguous(&shape);
                let scratch = check_scan(&client, &view, 1, all_options()[3], launch, 0);
                assert_eq!(scratch, 1);
            }
        });
    }
}

/// Rows that start at every element offset. The values between the rows would show in a result.
#[test]
fn rows_at_every_element_offset() {
    use RoutineKind::*;
    let client = client();
    for (routine, len) in [(SingleCube, 32), (SinglePass, 132), (ReduceThenScan, 132)] {
        for pitch in [len + 1, len + 2, len + 4] {
            let view = View {
                shape: vec![17, len],
                strides: vec![pitch, 1],
            };
            let launch = launch_of(routine, 4);
            check_scan(&client, &view, 1, all_options()[0], launch, 0);
            check_scan(&client, &view, 1, all_options()[3], launch, 0);
        }
    }
    for (columns, pitch) in [(8, 9), (8, 10), (8, 12), (7, 8)] {
        let view = View {
            shape: vec![17, columns],
            strides: vec![pitch, 1],
        };
        for routine in [Columns, ColumnTiles] {
            let launch = launch_of(routine, 1);
            check_scan(&client, &view, 0, all_options()[0], launch, 0);
            check_scan(&client, &view, 0, all_options()[3], launch, 0);
        }
    }
}
