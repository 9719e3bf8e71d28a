//! Tiles that never publish: every lookback that meets one must compute it itself, and nobody may wait.

use super::*;
use std::sync::mpsc;
use std::time::Duration;

/// Fails instead of hanging.
fn within_20_seconds(run: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        run();
        let _ = done.send(());
    });
    match wait.recv_timeout(Duration::from_secs(20)) {
        Ok(()) => worker.join().expect("finished"),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            panic!("a scan with mute tiles did not end within 20 s")
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(worker.join().expect_err("panicked"))
        }
    }
}

fn check_mute(mute_every: usize, polls: Option<u32>) {
    within_20_seconds(move || {
        let client = client();
        // 100 tiles of 128 elements a row, so that walks reach beyond one window.
        let view = View::contiguous(&[2, 100 * 128 + 5]);
        let launch = LaunchOptions {
            mute_every: Some(mute_every),
            polls,
            ..small_tile(RoutineKind::SinglePass)
        };
        for options in [all_options()[0], all_options()[3]] {
            let data = values(view.elements(), ScanOp::Sum);
            check(&client, &data, &view, 1, ScanOp::Sum, options, launch);
            let data: Vec<f32> = data.into_iter().map(|value| value as f32).collect();
            check(&client, &data, &view, 1, ScanOp::Sum, options, launch);
        }
    });
}

#[test]
fn no_tile_publishes() {
    check_mute(1, Some(1));
}

#[test]
fn every_third_tile_is_mute() {
    for polls in [Some(1), Some(4), None] {
        check_mute(3, polls);
    }
}

#[test]
fn mute_tiles_further_apart_than_a_window() {
    check_mute(67, Some(1));
}

#[test]
fn impatient_lookback_without_mute_tiles() {
    let client = client();
    let view = View::contiguous(&[1 << 18]);
    let launch = LaunchOptions {
        polls: Some(1),
        ..small_tile(RoutineKind::SinglePass)
    };
    for _ in 0..10 {
        let data = values(view.elements(), ScanOp::Sum);
        check(
            &client,
            &data,
            &view,
            0,
            ScanOp::Sum,
            all_options()[0],
            launch,
        );
    }
}
