//! Random problems: against the oracle, and against laws that need no oracle.
//!
//! proptest shrinks a failing case and prints it as a literal, which can be added to the cases in `scans`. The
//! facts that a kernel is compiled for come from small sets, because compilation takes longer than everything
//! else.

mod cases;
mod laws;
mod scans;
mod selections;

use proptest::test_runner::Config;

/// `cases` random problems, or the number of the long form of the tests.
fn config(cases: u32) -> Config {
    Config {
        cases: if cfg!(feature = "heavy") {
            20_000
        } else {
            cases
        },
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    }
}
