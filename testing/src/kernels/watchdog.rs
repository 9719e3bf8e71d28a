//! A watchdog: what takes too long ends the process.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Calls `run` on this thread while another thread watches the clock. A panic passes through. After 20 seconds
/// the process aborts, because a thread that waits for a device cannot be stopped.
pub fn within_20_seconds<R>(what: &str, run: impl FnOnce() -> R) -> R {
    let (done, wait) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(Duration::from_secs(20)) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{what} did not end within 20 s");
                std::process::abort();
            }
        });
        let result = run();
        drop(done);
        result
    })
}
