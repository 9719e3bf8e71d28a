//! Tiles that never publish: a lookback that meets one must compute its aggregate itself, and must not wait for
//! ever.

use super::*;
use cubecl_scan::scan::Stall;
use cubecl_scan::testing::prefix_half;
use scan_testing::{EPOCH, watch};
use std::rc::Rc;

/// 101 tiles of 128 elements a row, so that lookbacks reach beyond one window.
const ROW: usize = 100 * 128 + 5;

fn long_rows() -> View {
    View::contiguous(&[2, ROW])
}

/// Groups of columns of two strips, the second one not full, in 109 tiles of two rows: four strips in long blocks, or six
/// in short ones.
fn long_columns(groups: usize) -> (LaunchOptions, View) {
    let launch = LaunchOptions {
        units: Some(64),
        ..small_tile(RoutineKind::ColumnTiles)
    };
    (launch, View::contiguous(&[groups, 108 * 2 + 1, 35]))
}

/// Rows and columns scan inclusive or both exclusive and reverse, in turn.
fn check_stall(turn: usize, stall: Stall, spin_limit: Option<u32>) {
    let what = format!("a scan with {stall:?} and spin limit {spin_limit:?}");
    within_20_seconds(&what, || {
        let client = client();
        let shapes = [
            (small_tile(RoutineKind::SinglePass), long_rows()),
            long_columns(2 + turn % 2),
        ];
        for (nth, (launch, view)) in shapes.into_iter().enumerate() {
            let launch = LaunchOptions {
                stall: Some(stall),
                spin_limit,
                ..launch
            };
            let [plain, .., both] = all_options();
            if (turn + nth).is_multiple_of(2) {
                let data = values(view.elements(), ScanOp::Sum);
                check(&client, &data, &view, 1, ScanOp::Sum, plain, launch);
            } else {
                let data = floats(view.elements(), ScanOp::Sum);
                check(&client, &data, &view, 1, ScanOp::Sum, both, launch);
            }
        }
    });
}

#[test]
fn no_tile_publishes() {
    for turn in [0, 1] {
        check_stall(turn, Stall::Every(1), Some(1));
    }
}

#[test]
fn every_third_tile_is_stalled() {
    for (turn, spin_limit) in [Some(1), Some(4), None].into_iter().enumerate() {
        check_stall(turn, Stall::Every(3), spin_limit);
    }
}

#[test]
fn stalled_tiles_further_apart_than_a_window() {
    for turn in [0, 1] {
        check_stall(turn, Stall::Every(67), Some(1));
    }
}

/// The windows are 32 tiles wide. Stalled: the tile next to each end of a window, all tiles but one, and
/// neighbouring tiles.
#[test]
fn chosen_tiles_are_stalled() {
    let chosen = [1, 1 << 31, 1 | 1 << 31, !(1 << 7), 0x00ff_ff00];
    for (turn, bits) in chosen.into_iter().enumerate() {
        check_stall(turn, Stall::Chosen(bits), Some(1));
    }
}

/// Some tiles publish nothing, some only their aggregate.
#[test]
fn random_tiles_are_stalled() {
    let random = [
        (1, 2, Some(1)),
        (2, 2, Some(4)),
        (3, 7, Some(1)),
        (4, 31, None),
        (5, 1, Some(1)),
    ];
    for (turn, (seed, one_in, spin_limit)) in random.into_iter().enumerate() {
        check_stall(turn, Stall::Random { seed, one_in }, spin_limit);
    }
}

#[test]
fn a_low_spin_limit_without_stalled_tiles() {
    let (client, view) = (client(), View::contiguous(&[1 << 18]));
    for spin_limit in [Some(1), Some(4), None] {
        let launch = LaunchOptions {
            spin_limit,
            ..small_tile(RoutineKind::SinglePass)
        };
        within_20_seconds("an impatient scan", || {
            for _ in 0..5 {
                let data = values(view.elements(), ScanOp::Sum);
                let options = all_options()[0];
                check(&client, &data, &view, 0, ScanOp::Sum, options, launch);
            }
        });
    }
}

/// Scans with words that an earlier launch left, or that are half written. Their owners never complete them.
fn check_stale(stale: impl Fn(usize) -> u32 + Clone + 'static) {
    let client = client();
    for spin_limit in [Some(1), Some(4), None] {
        let launch = LaunchOptions {
            stall: Some(Stall::Every(1)),
            spin_limit,
            ..small_tile(RoutineKind::SinglePass)
        };
        within_20_seconds("a scan among stale words", || {
            let view = long_rows();
            let data = values(view.elements(), ScanOp::Sum);
            let options = ScanOptions::default();
            let words = watch(stale.clone(), || {
                check(&client, &data, &view, 1, ScanOp::Sum, options, launch);
            });
            assert_eq!(words.len(), 1, "the words of the tiles");
            words[0].read::<u32>(&client);
        });
    }
}

#[test]
fn words_of_an_earlier_launch_do_not_count() {
    check_stale(|_| (EPOCH - 1) << 16 | 0x1234);
    check_stale(|_| (EPOCH + 1) << 16 | 0x1234);
}

/// One word of each prefix carries the epoch, the other does not. Only prefixes are tested, because no tile
/// writes them here: while a fallback is written, a reader would find the old half beside a new one, which no
/// launch can leave.
#[test]
fn half_a_value_does_not_count() {
    for half in [0, 1] {
        let prefix_half = prefix_half(&client(), &small_tile(RoutineKind::SinglePass));
        let prefix_half = Rc::new(prefix_half);
        check_stale(move |word| {
            let is_current = prefix_half(word) == Some(half);
            (EPOCH - u32::from(!is_current)) << 16 | 0x1234
        });
    }
}
