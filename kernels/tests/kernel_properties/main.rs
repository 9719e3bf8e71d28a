//! Random problems: against the oracle, and against each other by laws that need no oracle.
//!
//! A failure is shrunk and printed as a literal, which can be added to those in `scans`. What a kernel is compiled for comes from
//! small sets, since compiling takes longer than everything else.

#[path = "../common/mod.rs"]
mod common;

mod cases;
mod laws;
mod scans;
mod selections;

use proptest::test_runner::Config;

/// So many random problems, or as many as the long form of the tests tries.
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
