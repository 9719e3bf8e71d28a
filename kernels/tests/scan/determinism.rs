//! Float sums whose roundings depend on the order of additions: the bits must not depend on the schedule.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Values of very different size, so that another order of additions shows.
fn uneven(n: usize) -> Vec<f32> {
    (0..n)
        .map(|i| {
            let mixed = (i as u32).wrapping_mul(2_654_435_761) >> 8;
            (mixed as f32 / 16_777_216.0 - 0.5) * 10f32.powi((mixed % 7) as i32 - 3)
        })
        .collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn a_thousand_runs_under_load_have_one_bit_pattern() {
    let client = client();
    let view = View::contiguous(&[60 * 128 + 3]);
    let data = uneven(view.elements());
    let run = |launch| {
        bits(
            &device_scan(
                &client,
                &data,
                &view,
                0,
                ScanOp::Sum,
                all_options()[0],
                launch,
            )
            .unwrap(),
        )
    };
    let first = run(small_tile(RoutineKind::SinglePass));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::black_box((0..1000).sum::<u64>());
                }
            });
        }
        for turn in 0..1000 {
            // Impatience and mute tiles change who computes what, never the result.
            let launch = LaunchOptions {
                polls: [None, Some(1), Some(4)][turn % 3],
                ..small_tile(RoutineKind::SinglePass)
            };
            assert_eq!(run(launch), first, "run {turn}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn fallback_computes_the_bits_of_the_owner() {
    let client = client();
    let view = View::contiguous(&[70 * 128]);
    let data = uneven(view.elements());
    let run = |mute_every| {
        let launch = LaunchOptions {
            mute_every,
            polls: Some(1),
            ..small_tile(RoutineKind::SinglePass)
        };
        bits(
            &device_scan(
                &client,
                &data,
                &view,
                0,
                ScanOp::Sum,
                all_options()[0],
                launch,
            )
            .unwrap(),
        )
    };
    let undisturbed = run(None);
    for mute_every in [1, 2, 5, 33] {
        assert_eq!(
            run(Some(mute_every)),
            undisturbed,
            "every {mute_every}th tile mute"
        );
    }
}

#[test]
fn every_routine_repeats_itself() {
    let client = client();
    for (routine, shape, axis) in [
        (RoutineKind::SingleCube, vec![50, 100], 1),
        (RoutineKind::ReduceThenScan, vec![5000], 0),
        (RoutineKind::Columns, vec![500, 9], 0),
    ] {
        let view = View::contiguous(&shape);
        let data = uneven(view.elements());
        let launch = small_tile(routine);
        let run = || {
            bits(
                &device_scan(
                    &client,
                    &data,
                    &view,
                    axis,
                    ScanOp::Sum,
                    all_options()[0],
                    launch,
                )
                .unwrap(),
            )
        };
        let first = run();
        for _ in 0..50 {
            assert_eq!(run(), first, "{routine:?}");
        }
    }
}
