//! Random calls on every device, against the oracles and against laws that tie calls to one another.
//!
//! proptest draws cases and shrinks a failing case to a smaller one that still fails. The failure prints it.
//! `PROPTEST_RNG_SEED` repeats a whole run.

#[macro_use]
extern crate scan_testing;

mod drawn;
mod groups;
mod ragged;
mod recurrences;
mod scans;
mod selections;
mod sort;

use std::fmt::Debug;

use burn::tensor::Device;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestError, TestRunner};
use scan_testing::tensors::devices::is_cube;

/// Cases of each property on each device. A Cube device compiles kernels for most of them, and the kernels' own tests
/// have these laws too, so it has less than a third as many, except in the long tier.
const CASES: u32 = if cfg!(feature = "heavy") { 20_000 } else { 100 };
const CASES_ON_CUBE: u32 = if cfg!(feature = "heavy") { CASES } else { 30 };

/// Checks as many cases as the device has, and panics with the smallest that fails.
#[track_caller]
fn for_all<S: Strategy>(device: &Device, cases: S, check: impl Fn(S::Value))
where
    S::Value: Debug,
{
    let mut runner = TestRunner::new(Config {
        cases: if is_cube(device) {
            CASES_ON_CUBE
        } else {
            CASES
        },
        failure_persistence: None,
        max_shrink_iters: 1000,
        ..Config::default()
    });
    let outcome = runner.run(&cases, |case| {
        check(case);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, case)) => panic!("{reason}\nthe smallest case: {case:?}"),
        Err(TestError::Abort(reason)) => panic!("no cases could be drawn: {reason}"),
    }
}
