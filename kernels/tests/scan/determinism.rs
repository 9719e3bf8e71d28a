//! Float sums that round by the order of additions: their bits must not depend on the schedule.

use super::*;
use cubecl::client::Client;
use cubecl_scan::scan::Stall;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The bits of an inclusive sum of `uneven` data.
fn sum_bits(client: &Client, view: &View, axis: usize, launch: LaunchOptions) -> Vec<u32> {
    let data = uneven(view.elements());
    let options = ScanOptions::default();
    bits(&device_scan(client, &data, view, axis, ScanOp::Sum, options, launch).expect("supported"))
}

/// Calls `run` next to threads whose work starts and stops several times per run: steady load would change the schedule
/// only once.
pub(crate) fn under_load<R>(run: impl FnOnce() -> R) -> R {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let stop = &stop;
            scope.spawn(move || {
                for burst in (thread..).step_by(2) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    std::hint::black_box((0..20_000).sum::<u64>());
                    let pause = u64::from(mixed(burst) % 2_000);
                    std::thread::sleep(Duration::from_micros(pause));
                }
            });
        }
        let found = catch_unwind(AssertUnwindSafe(run));
        stop.store(true, Ordering::Relaxed);
        found.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

#[test]
fn fallback_computes_the_bits_of_the_owner() {
    let client = client();
    let run = |stall| {
        [
            (RoutineKind::SinglePass, [70 * 512, 1], 32),
            (RoutineKind::ColumnTiles, [900, 28], 32),
            (RoutineKind::ColumnTiles, [900, 68], 64),
            (RoutineKind::ColumnTiles, [5000, 3], 256),
        ]
        .map(|(routine, shape, units)| {
            let launch = LaunchOptions {
                stall,
                spin_limit: Some(1),
                units: Some(units),
                vectors: Some(4),
                ..small_tile(routine)
            };
            let view = View::contiguous(&shape);
            within_20_seconds(&format!("{stall:?}"), || {
                sum_bits(&client, &view, 0, launch)
            })
        })
    };
    let undisturbed = run(None);
    for stall in [
        Stall::Every(1),
        Stall::Every(5),
        Stall::Every(33),
        Stall::Chosen(0xf0f0_0ff1),
        Stall::Random { seed: 1, one_in: 3 },
    ] {
        assert_eq!(run(Some(stall)), undisturbed, "{stall:?}");
    }
}

/// Shapes that lead to every routine and every form of it.
const EVERY_ROUTINE: [(RoutineKind, &[usize], usize); 8] = [
    (RoutineKind::SingleCube, &[50, 33], 1),
    (RoutineKind::SingleCube, &[50, 100], 1),
    (RoutineKind::SinglePass, &[3, 4000], 1),
    (RoutineKind::ReduceThenScan, &[5000], 0),
    (RoutineKind::Columns, &[30, 900], 0),
    (RoutineKind::Columns, &[500, 9], 0),
    (RoutineKind::Columns, &[5000, 9], 0),
    (RoutineKind::ColumnTiles, &[500, 36], 0),
];

#[test]
fn every_routine_repeats_itself() {
    let client = client();
    for (routine, shape, axis) in EVERY_ROUTINE {
        let view = View::contiguous(shape);
        let first = sum_bits(&client, &view, axis, small_tile(routine));
        for _ in 0..20 {
            let again = sum_bits(&client, &view, axis, small_tile(routine));
            assert_eq!(again, first, "{routine:?}");
        }
    }
}

/// Every thread has its own stream and words. The scratch cache remembers 64 streams; 65 threads are one too many. All
/// but eight of them run only what has words.
#[test]
fn bits_do_not_depend_on_the_number_of_host_threads() {
    let client = client();
    let run = |(routine, shape, axis): (_, &[usize], _)| {
        sum_bits(&client, &View::contiguous(shape), axis, small_tile(routine))
    };
    let alone = EVERY_ROUTINE.map(run);
    let has_words = |routine| matches!(routine, RoutineKind::SinglePass | RoutineKind::ColumnTiles);
    for threads in [2, 8, 65] {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (run, alone) = (&run, &alone);
                scope.spawn(move || {
                    for (scan, alone) in EVERY_ROUTINE.into_iter().zip(alone) {
                        if thread < 8 || has_words(scan.0) {
                            assert!(run(scan) == *alone, "{scan:?}, {thread} of {threads}");
                        }
                    }
                });
            }
        });
    }
}

/// An epoch has 16 bits, and the words are made anew before it comes round. 65,536 is not a multiple of 3, so a
/// word that survived the round would belong to other data.
#[test]
#[cfg_attr(not(feature = "heavy"), ignore = "70,000 launches; feature `heavy`")]
fn the_epoch_comes_round() {
    let client = client();
    let launch = LaunchOptions {
        stall: Some(Stall::Every(1)),
        spin_limit: Some(1),
        ..small_tile(RoutineKind::SinglePass)
    };
    let views = [1000, 1001, 1002].map(|len| View::contiguous(&[len]));
    let run = |turn: usize| sum_bits(&client, &views[turn % 3], 0, launch);
    let first = [run(0), run(1), run(2)];
    for turn in 0..70_000 {
        assert_eq!(run(turn), first[turn % 3], "run {turn}");
    }
}

/// Rows that share a cube, rows that take several cubes, and rows in many parts.
#[test]
fn a_reverse_scan_mirrors_a_forward_one() {
    let client = client();
    let [forward, _, reverse, _] = all_options();
    for (routine, shape) in [
        (RoutineKind::SingleCube, [50, 33]),
        (RoutineKind::SinglePass, [3, 2950]),
        (RoutineKind::ReduceThenScan, [3, 2950]),
    ] {
        let (view, launch) = (View::contiguous(&shape), small_tile(routine));
        let data = uneven(view.elements());
        let flipped: Vec<f32> = data.iter().rev().copied().collect();
        let scan = |data: &[f32], options| {
            let found = device_scan(&client, data, &view, 1, ScanOp::Sum, options, launch);
            found.expect("supported").into_iter().map(f32::to_bits)
        };
        let mirrored = scan(&flipped, forward).rev();
        assert!(scan(&data, reverse).eq(mirrored), "{routine:?}");
    }
}
