//! What may not hang ends the process instead.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Runs `run` on this thread while another one watches the clock. A panic passes through; after 20 seconds the process aborts, since a
/// thread that waits for a device cannot be stopped.
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
