//! Compaction by a mask, and expansion.

use crate::small_tile;
use cubecl::client::Client;
use cubecl_scan::scan::{LaunchOptions, Stall};
use scan_testing::kernels::*;

fn check_compact(client: &Client, name: &str, mask: &[u32], launch: LaunchOptions) {
    let n = mask.len();
    let values: Vec<i32> = (0..n as i32).map(|i| i * 3 + 1).collect();
    let kept = mask.iter().filter(|&&flag| flag != 0).count();
    for emit in EMITS {
        let (found, count) = device_compact(client, &values, mask, emit, launch, 0);
        let expected = selected(&values, mask, emit);
        assert_eq!(count as usize, kept, "{emit:?}, {name}, n = {n}");
        if let Some(at) = (0..expected.len()).find(|&at| found[at] != expected[at]) {
            panic!(
                "{emit:?}, {name}, n = {n}: {} instead of {} at {at}",
                found[at], expected[at]
            );
        }
    }
    // One value too few, and one too many.
    for len in [kept.saturating_sub(1), kept + 1] {
        let packed: Vec<i32> = (1..=len as i32).collect();
        let found = device_expand(client, &packed, mask, launch, 0);
        assert!(
            found == expanded(&packed, mask),
            "{len} values expanded by {name}, n = {n}"
        );
    }
}

#[test]
fn every_size_to_two_tiles() {
    let client = client();
    for n in 0..=2 * 128 + 1 {
        let (name, mask) = masks(n).swap_remove(4);
        check_compact(&client, name, &mask, small_tile());
    }
}

#[test]
fn every_density() {
    let client = client();
    for n in [1, 127, 1000, 20_001] {
        for (name, mask) in masks(n) {
            check_compact(&client, name, &mask, small_tile());
            check_compact(&client, name, &mask, launch());
        }
    }
}

#[test]
fn stalled_tiles() {
    let client = client();
    let schedules = [
        (Stall::Every(1), Some(1)),
        (Stall::Every(3), Some(4)),
        (Stall::Every(41), Some(1)),
        (Stall::Chosen(0xffff_fffe), Some(1)),
        (Stall::Random { seed: 1, one_in: 2 }, None),
    ];
    for (stall, spin_limit) in schedules {
        let launch = LaunchOptions {
            stall: Some(stall),
            spin_limit,
            ..small_tile()
        };
        within_20_seconds(&format!("compaction with {stall:?}"), || {
            for (name, mask) in masks(9000) {
                check_compact(&client, name, &mask, launch);
            }
        });
    }
}

/// Strided values and masks are read in place: transposed, broadcast along either dimension, rows with gaps,
/// every second element. Each layout of values meets three layouts of masks, all of them with `--heavy`. The device's own
/// tuning and a small tile have them in turn.
#[test]
fn strided_values_and_masks() {
    let client = client();
    let view = |strides: &[usize]| View {
        shape: vec![137, 152],
        strides: strides.to_vec(),
    };
    let buffer_len = 137 * 304;
    let values: Vec<i32> = (0..buffer_len as i32).map(|i| i * 3 + 1).collect();
    let strides = [
        [152, 1],
        [1, 137],
        [0, 1],
        [1, 0],
        [0, 0],
        [256, 1],
        [304, 2],
    ];
    for (row, values_strides) in strides.into_iter().enumerate() {
        for (column, mask_strides) in strides.into_iter().enumerate() {
            if (row + column) % strides.len() > 2 && !cfg!(feature = "heavy") {
                continue;
            }
            let (values_view, mask_view) = (view(&values_strides), view(&mask_strides));
            for (name, mask) in masks(buffer_len).drain(4..6) {
                let gathered = (values_view.gather(&values), mask_view.gather(&mask));
                for (nth, emit) in EMITS.into_iter().enumerate() {
                    let launch = match (row + column + nth) % 2 {
                        0 => small_tile(),
                        _ => launch(),
                    };
                    let found = device_compact_views(
                        &client,
                        (&values, &values_view),
                        (&mask, &mask_view),
                        emit,
                        launch,
                        0,
                    );
                    let expected = selected(&gathered.0, &gathered.1, emit);
                    let kept = gathered.1.iter().filter(|&&flag| flag != 0).count();
                    assert!(
                        found.1 as usize == kept && found.0[..expected.len()] == expected[..],
                        "{emit:?} with {launch:?} of {values_strides:?} by {name} {mask_strides:?}"
                    );
                }
            }
        }
    }
}

/// Any value but zero is true.
#[test]
fn any_non_zero_is_true() {
    let mask: Vec<u32> = (0..500)
        .map(|i| if i % 3 == 0 { 0 } else { i << 20 | 2 })
        .collect();
    check_compact(&client(), "large values", &mask, small_tile());
}
