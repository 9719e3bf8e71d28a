//! Runs a model in every schedule. With a planted mistake, the run ends when the mistake is found.
//!
//! Models run one at a time. Loom maps and unmaps the stack of each thread of each schedule, and two models at once in
//! one process take half as long again as one after the other.

use loom::model::Builder;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Runs a model in every schedule, and returns how many there are.
pub fn explore(name: &str, model: impl Fn() + Send + Sync + 'static) -> usize {
    explore_bounded(name, None, model)
}

/// As [`explore`], with a bound on how often a thread is interrupted where it could go on.
pub fn explore_bounded(
    name: &str,
    preemptions: Option<usize>,
    model: impl Fn() + Send + Sync + 'static,
) -> usize {
    static ONE: Mutex<()> = Mutex::new(());
    // Models with mistakes panic.
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let began = Instant::now();
    let schedules = Arc::new(AtomicUsize::new(0));
    let counted = schedules.clone();
    let mut builder = Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let schedules = schedules.load(Ordering::Relaxed);
    if let Some(bound) = preemptions {
        // Not with `eprintln`, since the harness hides what a passing test prints.
        let said =
            format!("\nBounded: {name}, at most {bound} interruptions, {schedules} schedules\n");
        let _ = std::io::stderr().write_all(said.as_bytes());
    }
    println!("{name}: {schedules} schedules, {:.2?}", began.elapsed());
    schedules
}

/// Runs a model with a mistake. Some schedule must trip over it; the result is what that schedule says.
pub fn complaint(model: impl Fn() + Send + Sync + 'static) -> String {
    let found = catch_unwind(AssertUnwindSafe(|| explore("with a mistake", model)));
    let said = found.expect_err("the mistake is not found");
    let text = said.downcast_ref::<String>().cloned();
    let text = text.or_else(|| said.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_default()
}
