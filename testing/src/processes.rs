//! Tests that run in their own processes: what one holds does not count for the others, and the parent sees how it
//! ends, even if it aborts.

use std::process::Command;

/// Tells the child its test.
const CASE: &str = "BURN_SCAN_CASE";

/// Stamps bodies as tests, each of which runs in a child process.
#[macro_export]
macro_rules! processes {
    ($($(#[$meta:meta])* fn $name:ident() $body:block)*) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            $crate::processes::alone(concat!(module_path!(), "::", stringify!($name)), || $body);
        }
    )*};
}

/// Runs `body`, the body of the test at `path`, in a child process, which must pass.
#[track_caller]
pub fn alone(path: &str, body: impl FnOnce()) {
    let (_, test) = path.split_once("::").expect("a path within this binary");
    if std::env::var(CASE).is_ok_and(|case| case == test) {
        return body();
    }
    let binary = std::env::current_exe().expect("this binary has a path");
    let ended = Command::new(binary)
        .args([test, "--exact", "--nocapture"])
        .env(CASE, test)
        .output()
        .expect("this binary starts again");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{test} ended with {}: {said}{}",
        ended.status,
        String::from_utf8_lossy(&ended.stderr)
    );
}
